//! Builds the package in `simulators/`: the rivals of Lamprey's simulator.
//!
//! It is a package of its own because madsim simulates only if every crate is compiled with its flag. Cargo takes minutes for
//! it, once; what it makes is shared by all profiles of this program.

use super::{bench_folder, find};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// What would change how cargo builds: the package's own configuration has the flags.
const VARIABLES: [&str; 5] =
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"];

/// The built program. Its arguments are the names of a bench and a variant, and a number of workers; it speaks the protocol
/// of `harness::worker`.
pub fn program() -> Result<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build().map_err(|e| format!("{e:#}")));
    built.clone().map_err(anyhow::Error::msg)
}

/// The program, if it has been built from the sources as they are.
pub fn built() -> Result<PathBuf> {
    let program = place()?.join("release/lamprey-bench-simulators");
    let mut newest = SystemTime::UNIX_EPOCH;
    for file in fs::read_dir(source().join("src"))? {
        newest = newest.max(file?.metadata()?.modified()?);
    }
    match fs::metadata(&program).and_then(|program| program.modified()) {
        Ok(linked) if linked >= newest => Ok(program),
        _ => bail!("not built yet, which takes minutes: `lamprey-bench run sim --rivals` does it"),
    }
}

fn source() -> PathBuf {
    bench_folder().join("simulators")
}

/// Beside the folders of the profiles.
fn place() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).context("this program is in the folder of a profile")?;
    Ok(target.join("simulators"))
}

fn build() -> Result<PathBuf> {
    let mut command = Command::new(find("cargo")?);
    command.args(["build", "--release", "--quiet", "--locked", "--target-dir"]).arg(place()?);
    VARIABLES.iter().for_each(|variable| _ = command.env_remove(variable));
    let output = command.current_dir(source()).output().context("cannot run cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.contains("error"));
        bail!("cannot be built: {}", error.unwrap_or("cargo failed").trim());
    }
    Ok(place()?.join("release/lamprey-bench-simulators"))
}
