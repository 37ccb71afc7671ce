//! Builds the Go programs in `go/`, once.

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
    let go = find("go")?;
    let source = bench_folder().join("go");
    let program = std::env::current_exe()?.with_file_name("lamprey-bench-go");
    let output = Command::new(go).arg("build").arg("-o").arg(&program).arg(".").current_dir(source).output();
    let output = output.context("cannot run go")?;
    ensure!(output.status.success(), "go build failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(program)
}
