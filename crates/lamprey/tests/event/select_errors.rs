//! What the compiler says of arms of `select!` that are wrong: at which token, and which form is right.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Arms, with `§` in front of the wrong token, and a part of the error.
const CASES: &[(&str, &str)] = &[
    ("recv(rx) §if true -> m => drop(m)", "behind the pattern and a comma"),
    ("recv(rx), §if true -> m => drop(m)", "behind the pattern and a comma"),
    ("recv(rx) -> m §if true => drop(m)", "behind the pattern and a comma"),
    ("recv(rx) §=> m -> drop(m)", "the other way round"),
    ("recv(rx) -> m §-> drop(m), default => ()", "the code stands behind `=>`"),
    ("recv(rx) -> m => drop(m) §recv(ry) -> m => drop(m)", "a comma is missing"),
    ("recv(rx) -> m => drop(m) §default => ()", "a comma is missing"),
    ("recv(rx) -> m §{ drop(m) }", "`=>` is missing"),
    ("recv(rx) §{ }", "`=>` is missing"),
    ("§_ => ()", "`default => code`"),
    ("recv(rx) => (), §_ => ()", "`default => code`"),
    ("§else => ()", "`default => code`"),
    ("default §-> m => ()", "has no result"),
    ("default, §if true => ()", "has no condition"),
    ("§m = rx.recv_async() => drop(m)", "`future(future) -> pattern => code`"),
    ("§Some(m) = rx.recv() => drop(m)", "`recv(rx) -> pattern => code`"),
    ("§case m := <-rx: drop(m)", "`recv(rx) -> value => code`"),
    ("§rx -> m => drop(m)", "an arm begins with"),
    ("§take(rx) -> m => drop(m)", "an arm begins with"),
    ("recv§(rx, ry) -> m => drop(m)", "do not fit"),
    ("recv §rx -> m => drop(m)", "in parentheses"),
    ("recv(rx) §=> , default => ()", "no code behind"),
    ("recv(rx) => (), §, default => ()", "one comma"),
];

/// A right program, which a build that can be used compiles without a word.
const RIGHT: &str = "#![allow(unused)] pub fn f(rx: lamprey::Receiver<u8>) { lamprey::select! { recv(rx) -> m => () } \
                     lamprey::spawn(|| lamprey::block(|| ())); }";

/// The newest build of the crate beside this test that can be used. Another build may run: it replaces files, writes them
/// bit by bit, and leaves those behind whose parts are gone.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let mut said = String::new();
            for build in builds() {
                said = compiled_with(&build, RIGHT);
                if said.is_empty() {
                    return build;
                }
            }
            assert!(Instant::now() < end, "no build of the crate can be used: {said}");
            thread::sleep(Duration::from_millis(200));
        }
    })
}

/// The builds of the crate beside this test, the newest first.
fn builds() -> Vec<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let files = fs::read_dir(here.parent().unwrap()).unwrap().filter_map(|file| Some(file.ok()?.path()));
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("liblamprey-") && name.ends_with(".rlib")
    };
    let dated = |path: PathBuf| Some((path.metadata().ok()?.modified().ok()?, path));
    let mut builds: Vec<_> = files.filter(is_ours).filter_map(dated).collect();
    builds.sort();
    builds.into_iter().rev().map(|(_, path)| path).collect()
}

/// What the compiler says of `source`: a line for each error.
fn compiled(source: &str) -> String {
    compiled_with(library(), source)
}

/// As [`compiled`], with this build of the crate.
fn compiled_with(library: &Path, source: &str) -> String {
    static FILES: AtomicU32 = AtomicU32::new(0);
    // Relaxed: the numbers need only be different.
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("lamprey-select-{}-{number}.rs", std::process::id()));
    fs::write(&file, source).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=short", "-o"]);
    rustc.arg(file.with_extension("rmeta")).arg(&file).arg("-L").arg(library.parent().unwrap());
    rustc.arg("--extern").arg(format!("lamprey={}", library.display()));
    let output = rustc.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).output().unwrap();
    let _ = (fs::remove_file(&file), fs::remove_file(file.with_extension("rmeta")));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn wrong_arms_are_errors_at_the_wrong_token_that_say_what_is_right() {
    let mut source = "#![allow(unused)] use lamprey::{Receiver, select};\n".to_owned();
    for (arms, _) in CASES {
        source += &format!(
            "fn f{}(rx: Receiver<u8>, ry: Receiver<u8>) {{ select! {{ {} }} }}\n",
            source.lines().count(),
            arms.replace('§', "")
        );
    }
    let said = compiled(&source);
    for (at, (arms, text)) in CASES.iter().enumerate() {
        let line = source.lines().nth(at + 1).unwrap();
        let column = line.find(&arms.replace('§', "")).unwrap() + arms[..arms.find('§').unwrap()].len() + 1;
        let place = format!(".rs:{}:{column}: error: ", at + 2);
        let found = said.lines().find(|line| line.contains(&place));
        assert!(found.is_some_and(|found| found.contains(text)), "{arms}: {text}\n{said}");
    }
}

#[test]
fn what_is_no_closure_is_refused_with_the_form_that_is_right() {
    let calls = [
        "lamprey::spawn(async { 5 })",
        "lamprey::spawn(async move { vec![5] })",
        "lamprey::spawn(later())",
        "lamprey::spawn(5)",
        "lamprey::Builder::new().spawn(later())",
        "handle.spawn(async {})",
        "handle.spawn(later())",
        "lamprey::scope(|s| { s.spawn(async { 5 }); })",
        "lamprey::scope(|s| { s.parasite_fn(later()); })",
        "lamprey::parasite_fn(async { 5 })",
        "lamprey::parasite_fn_local(async { 5 })",
        "lamprey::run(async { 5 })",
        "lamprey::block(async { 5 })",
        "lamprey::compute(async { 5 })",
        "lamprey::shield(async { 5 })",
    ];
    let call = |(at, call): (usize, &&str)| format!("fn f{at}(handle: lamprey::Handle) {{ {call}; }}\n");
    let source: String = calls.iter().enumerate().map(call).collect();
    let said = compiled(&(source + "async fn later() {}\n"));
    for (at, call) in calls.iter().enumerate() {
        let place = format!(".rs:{}:", at + 1);
        let found = said
            .lines()
            .find(|line| line.contains(&place) && line.contains("not a closure without arguments"));
        assert!(found.is_some(), "{call}: {said}");
    }
}
