//! A simulated disk answers odd paths as the kernel does: each call with each path, on both.

use lamprey::fs::{self, File};
use lamprey::{Runtime, run};
use std::io;
use std::path::{Path, PathBuf};

const PATHS: [&str; 30] = [
    "",
    "/",
    "/.",
    "/..",
    "/d",
    "/d/",
    "/d/.",
    "/d/..",
    "/d/e",
    "/d/e/.",
    "/d/e/..",
    "/d/e/../..",
    "/./d//e",
    "/f",
    "/f/",
    "/f/.",
    "/f/..",
    "/f/x",
    "/f/x/",
    "/d/../f",
    "/full",
    "/full/",
    "/full/.",
    "/full/..",
    "/full/f",
    "/none",
    "/none/",
    "/none/.",
    "/none/..",
    "/none/x",
];

/// The paths, and some that are too long.
fn paths() -> Vec<String> {
    let name = "n".repeat(256);
    let long = "/d/..".repeat(1000);
    let mut all: Vec<_> = PATHS.map(str::to_owned).into();
    all.extend(["", "/d", "/f", "/none"].map(|above| format!("{above}/{name}")));
    all.extend([
        format!("/{name}/.."),
        format!("/{name}/"),
        format!("/{}", "n".repeat(255)),
        format!("{long}/f"),
    ]);
    all
}

type Call = fn(&Path) -> io::Result<()>;

const CALLS: [(&str, Call); 9] = [
    ("open", |path| File::open(path).map(drop)),
    ("create", |path| File::create(path).map(drop)),
    ("create_new", |path| File::create_new(path).map(drop)),
    ("metadata", |path| fs::metadata(path).map(drop)),
    ("read_dir", |path| fs::read_dir(path).map(drop)),
    ("create_dir", |path| fs::create_dir(path)),
    ("remove_file", |path| fs::remove_file(path)),
    ("remove_dir", |path| fs::remove_dir(path)),
    ("canonicalize", |path| fs::canonicalize(path).map(drop)),
];

/// What is there before each call.
fn prepare(root: &Path) {
    if fs::exists(root).unwrap() {
        fs::remove_dir_all(root).unwrap();
    }
    fs::create_dir_all(root.join("d/e")).unwrap();
    fs::create_dir(root.join("full")).unwrap();
    fs::write(root.join("f"), "f").unwrap();
    fs::write(root.join("full/f"), "f").unwrap();
}

/// An empty path stays empty.
fn beneath(root: &Path, path: &str) -> PathBuf {
    if path.is_empty() { PathBuf::new() } else { format!("{}{path}", root.display()).into() }
}

fn code(result: io::Result<()>) -> Option<i32> {
    result.err().map(|error| error.raw_os_error().unwrap_or_else(|| panic!("no code of the system: {error}")))
}

/// What each call has answered. What has failed has changed nothing.
fn answers(root: &Path) -> Vec<(String, Option<i32>)> {
    let mut all = Vec::new();
    let mut ask = |what: String, call: &dyn Fn() -> io::Result<()>| {
        if all.last().is_none_or(|(_, code): &(_, Option<i32>)| code.is_none()) {
            prepare(root);
        }
        all.push((what, code(call())));
    };
    for path in paths() {
        for (name, call) in CALLS {
            // realpath(3) follows a path that is too long part by part.
            if name != "canonicalize" || path.len() < 4096 {
                ask(format!("{name} {path}"), &|| call(&beneath(root, &path)));
            }
        }
    }
    for (from, to) in PATHS.iter().flat_map(|from| PATHS.iter().map(move |to| (from, to))) {
        ask(format!("rename {from} to {to}"), &|| fs::rename(beneath(root, from), beneath(root, to)));
    }
    all
}

#[test]
fn odd_paths_have_the_errors_of_the_kernel() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("disk-paths-{}", std::process::id()));
    let root = folder.join("above/root");
    let of_kernel = run(move || answers(&root));
    std::fs::remove_dir_all(folder).unwrap();
    let of_simulation = Runtime::simulated(1).run(|| answers(Path::new("/above/root")));
    let differ = |((call, kernel), (_, simulated)): &((String, _), (String, _))| {
        (kernel != simulated).then(|| format!("{call}: {kernel:?}, simulated {simulated:?}"))
    };
    let differing: Vec<_> =
        of_kernel.into_iter().zip(of_simulation).filter_map(|pair| differ(&pair)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
