//! Builds the Haskell program in `ghc/`, once.

use super::{bench_folder, find};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The built program. Its arguments are the name of a bench and a number of workers; it speaks the protocol
/// of `harness::worker`.
pub fn program() -> Result<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build().map_err(|e| format!("{e:#}")));
    built.clone().map_err(anyhow::Error::msg)
}

fn build() -> Result<PathBuf> {
    let ghc = find("ghc")?;
    let source = bench_folder().join("ghc/Main.hs");
    let program = std::env::current_exe()?.with_file_name("lamprey-bench-ghc");
    // Of its own, so that nothing is written beside the source.
    let objects = program.with_extension("objects");
    let mut command = Command::new(ghc);
    command.args(["-O2", "-threaded", "-rtsopts", "-v0", "-outputdir"]).arg(&objects).arg("-o").arg(&program);
    let output = command.arg(source).output().context("cannot run ghc")?;
    ensure!(output.status.success(), "ghc failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(program)
}
