//! The command of the running test program, for tests that end a process. The tests of `lamprey` use it, too.

use std::process::Command;

/// The command that runs this executable again, through cargo's runner (the emulator) if this process was
/// started by it.
pub fn this_program() -> Command {
    let exe = std::env::current_exe().unwrap();
    let runner = if cfg!(target_arch = "aarch64") {
        std::env::var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").unwrap_or_default()
    } else {
        String::new()
    };
    let mut words = runner.split_whitespace();
    match words.next() {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.args(words).arg(exe);
            command
        }
        None => Command::new(exe),
    }
}
