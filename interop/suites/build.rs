//! Copies the tests of the suites into `OUT_DIR`, changed so that they run on Lamprey, and writes a file for each suite that has
//! them as modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SUITES: &[(&str, &str, &[&str])] = include!("src/list.rs");
const LEFT_OUT: &[(&str, &str, &str)] = include!("src/left_out.rs");
const OF_TOKIO: &str = "";
const BUDGET: &str = "";

/// What the tests ask the standard library for, and what they get.
const INSTEAD: &[(&str, &str)] = &[
    ("use std::thread", "use suites::thread"),
    ("std::thread::sleep", "suites::thread::sleep"),
    ("use std::sync::mpsc", "use suites::mpsc"),
    ("use std::sync::{Arc, Barrier}", "use {std::sync::Arc, suites::Barrier}"),
    (
        "use std::{sync::mpsc, thread::sleep, time::Duration}",
        "use {std::time::Duration, suites::mpsc, suites::thread::sleep}",
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let metadata = metadata();
    for (suite, package, files) in SUITES {
        let tests = source_of(&metadata, package).join("tests");
        let to = out.join(suite);
        if to.exists() {
            fs::remove_dir_all(&to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
        }
        copy_folder(suite, &tests, &to);
        let modules: String = files
            .iter()
            .map(|file| {
                let path = to.join(format!("{file}.rs"));
                assert!(path.is_file(), "{package} has no tests/{file}.rs any more: change src/list.rs");
                format!("#[path = {path:?}]\nmod {file};\n")
            })
            .collect();
        write(&out.join(format!("{suite}.rs")), &modules);
    }
}

/// Where Cargo has unpacked the packages of this workspace, as JSON. Only those that this machine needs: the build has no reason to
/// download others, and Cargo fails if it is to name one that it does not have.
fn metadata() -> String {
    let cargo = env::var_os("CARGO").expect("Cargo sets CARGO");
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("Cargo sets CARGO_MANIFEST_DIR");
    let host = env::var("HOST").expect("Cargo sets HOST");
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", &host, "--manifest-path"])
        .arg(manifest + "/Cargo.toml");
    let output = command.output().unwrap_or_else(|error| panic!("cargo metadata: {error}"));
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("JSON is UTF-8")
}

/// The folder of a package. Only the entry of a package has its version behind its name, and its manifest later on.
fn source_of(metadata: &str, package: &str) -> PathBuf {
    let entry = format!("{{\"name\":{package:?},\"version\":");
    let at = metadata.find(&entry).unwrap_or_else(|| panic!("cargo metadata names no package {package}"));
    let key = "\"manifest_path\":\"";
    let (_, path) = metadata[at..].split_once(key).expect("a package has a manifest");
    let (path, _) = path.split_once('"').expect("a string has an end");
    Path::new(path).parent().expect("a manifest lies in a folder").to_owned()
}

fn copy_folder(suite: &str, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read").path();
        let to = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_folder(suite, &path, &to);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let file = path.file_stem().expect("a file has a name").to_string_lossy();
            write(&to, &changed(suite, &file, &text));
        }
    }
}

/// The text of tests as they run on Lamprey.
fn changed(suite: &str, file: &str, text: &str) -> String {
    let is_test =
        |line: &str| line == "#[test]" || line == "#[maybe_tokio_test]" || line.starts_with("#[tokio::test");
    let left_out = |name: &str| {
        let path = format!("{file}::{name}");
        LEFT_OUT.iter().any(|(of, left, _)| *of == suite && *left == path)
    };
    let mut lines = text.lines();
    let mut changed = String::new();
    while let Some(line) = lines.next() {
        if is_test(line.trim()) {
            let name = lines.clone().find_map(name_of).unwrap_or_default();
            changed += if left_out(name) { "#[cfg(any())]" } else { "#[lamprey::test(crate = ::suites)]" };
        } else {
            let instead = |line: String, (std, ours): &(&str, &str)| line.replace(std, ours);
            changed += &INSTEAD.iter().fold(line.to_owned(), instead);
        }
        changed.push('\n');
    }
    changed
}

/// The name of the function that a line begins.
fn name_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("fn ")?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
