//! `jitter MILLISECONDS COMMAND [ARGUMENT...]` runs a command and stops single threads of it at random for up
//! to so many milliseconds. Threads on a loaded machine run like that: one does not run for a while, and the
//! others do. A test that fails only here depends on a length of time.
//!
//! Its main thread is never stopped, and neither are the processes that it starts. A system call that a stop
//! interrupts may end early (`EINTR`), which does not happen on a loaded machine. Exits with the command's
//! code, or with 2 if it cannot be run.

mod stall;

use stall::Stalls;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [longest, command, rest @ ..] = arguments.as_slice() else {
        return refuse("usage: jitter MILLISECONDS COMMAND [ARGUMENT...]");
    };
    let Some(longest) = longest.parse().ok().filter(|&ms| (1..=10_000).contains(&ms)) else {
        return refuse(&format!("`{longest}` is not a number of milliseconds from 1 to 10000"));
    };
    match Command::new(command).args(rest).spawn() {
        Ok(child) => ExitCode::from(disturb(child, Duration::from_millis(longest))),
        Err(error) => refuse(&format!("`{command}`: {error}")),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("jitter: {why}");
    ExitCode::from(2)
}

/// Stops threads of `child` until it ends; returns its exit code, or 128 plus the number of the signal that
/// ended it.
fn disturb(mut child: std::process::Child, longest: Duration) -> u8 {
    let mut stalls = Stalls::new(child.id(), longest);
    loop {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => {
                eprintln!("jitter: {} stalls", stalls.count());
                let code = status.code().or(status.signal().map(|signal| 128 + signal));
                return code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
            }
            Err(error) => {
                eprintln!("jitter: waiting for the command: {error}");
                return 1;
            }
        }
        std::thread::sleep(stalls.step());
    }
}
