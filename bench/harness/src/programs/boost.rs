//! Builds the program in `boost/`, once.

use super::{bench_folder, find};
use anyhow::{Context, Result, bail};
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
    let compiler = find("g++")?;
    let source = bench_folder().join("boost/main.cpp");
    let program = std::env::current_exe()?.with_file_name("lamprey-bench-boost");
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O2", "-DNDEBUG", "-pthread", "-o"]).arg(&program).arg(source);
    let output = command.args(["-lboost_fiber", "-lboost_context"]).output().context("cannot run g++")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| line.contains("error") || line.contains("cannot find"));
        bail!("no Boost.Fiber (libboost-fiber-dev): {}", error.unwrap_or("g++ failed").trim());
    }
    Ok(program)
}
