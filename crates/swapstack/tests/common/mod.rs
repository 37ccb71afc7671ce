//! Helpers of several test files.

#![allow(dead_code, reason = "not each of them needs everything")]

pub mod program;

use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::rc::Rc;

/// The command that runs only the test `name` of this executable, in a process of its own.
pub fn this_test(name: &str) -> Command {
    let mut command = program::this_program();
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs `case` of the test `child`, which must abort; returns its standard error.
pub fn abort_of(case: &str) -> String {
    let output = this_test("child").env("CASE", case).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    text
}

/// The number of drops of a [`Counted`].
pub type Drops = Rc<Cell<u32>>;

/// Counts its drops.
pub struct Counted(pub Drops);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// The text of a panic.
pub fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    formatted.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("?")
}
