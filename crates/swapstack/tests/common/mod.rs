//! What several test files need.

use std::process::Command;

/// The command that runs the test `name` of this executable, alone, in a process of its own: through
/// cargo's runner (the emulator) where that is how this process was started.
pub fn this_test(name: &str) -> Command {
    let exe = std::env::current_exe().unwrap();
    let runner = if cfg!(target_arch = "aarch64") {
        std::env::var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").unwrap_or_default()
    } else {
        String::new()
    };
    let mut words = runner.split_whitespace();
    let mut command = match words.next() {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.args(words).arg(exe);
            command
        }
        None => Command::new(exe),
    };
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command
}
