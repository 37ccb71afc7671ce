//! A library outside of the workspace, on Lamprey: what a command of Cargo says of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs Cargo with `args` on a package of one file; what it prints, if it fails. All packages share what is built of Lamprey.
pub fn cargo(args: &[&str], place: &str, library: &str) -> Result<(), String> {
    let root = root();
    let folder = env::temp_dir().join(format!("lamprey-{place}-{}", std::process::id()));
    fs::create_dir_all(folder.join("src")).unwrap();
    let (lamprey, swapstack) = (root.join("crates/lamprey"), root.join("crates/swapstack"));
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nlamprey = {{ path = {lamprey:?} }}\nswapstack = {{ path = {swapstack:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    fs::write(folder.join("src/lib.rs"), library).unwrap();
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(&folder).env("CARGO_TARGET_DIR", root.join("target/names"));
    let output = command.output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(text) }
}
