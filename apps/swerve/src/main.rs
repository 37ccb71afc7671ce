//! Swerve on its own: `swerve DIR` is `lamprey serve DIR`.

use std::process::ExitCode;

fn main() -> ExitCode {
    swerve::command::main(std::env::args_os().skip(1))
}
