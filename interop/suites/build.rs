//! Copies the tests of the suites into `OUT_DIR`, changed so that they run on Lamprey, and writes a file for each suite that has
//! them as modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SUITES: &[(&str, &str, &[&str])] = include!("src/list.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/list.rs");
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let metadata = metadata();
    for (suite, package, files) in SUITES {
        let tests = source_of(&metadata, package).join("tests");
        let to = out.join(suite);
        if to.exists() {
            fs::remove_dir_all(&to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
        }
        copy_folder(&tests, &to);
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

/// Where Cargo has unpacked the packages of this workspace, as JSON.
fn metadata() -> String {
    let cargo = env::var_os("CARGO").expect("Cargo sets CARGO");
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("Cargo sets CARGO_MANIFEST_DIR");
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version=1", "--offline", "--manifest-path"]).arg(manifest + "/Cargo.toml");
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

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read").path();
        let to = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            write(&to, &text.lines().map(changed).map(|line| line + "\n").collect::<String>());
        }
    }
}

/// A line of a test as it runs on Lamprey.
fn changed(line: &str) -> String {
    let trimmed = line.trim();
    let is_test = trimmed == "#[test]" || trimmed == "#[maybe_tokio_test]" || trimmed.starts_with("#[tokio::test");
    if is_test {
        return "#[lamprey::test(crate = ::suites)]".to_owned();
    }
    line.replace("use std::thread", "use suites::thread").replace("std::thread::sleep", "suites::thread::sleep")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
