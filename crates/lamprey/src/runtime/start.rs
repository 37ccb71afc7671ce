//! What `#[lamprey::main]` expands to.

use super::builder::RuntimeBuilder;
use std::process::{ExitCode, Termination};

/// Runs the body of `main` as the first host, and says how the process ends. An error is printed on the host, so it need not
/// be `Send`.
#[track_caller]
pub fn main<T: Termination>(builder: RuntimeBuilder, body: impl FnOnce() -> T + Send) -> ExitCode {
    match super::run_with(builder, move || body().report()) {
        Ok(code) => code,
        Err(error) => {
            crate::bug::say!("the program cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}
