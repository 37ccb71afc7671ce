//! What the socket, file and pool tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a loaded machine; a test that needs it has hung.
pub const FOREVER: Duration = Duration::from_secs(60);

/// Long enough that a host that has been spawned is blocked by then, almost always. No test fails when it is not.
pub const SETTLE: Duration = Duration::from_millis(30);

/// Runs `main` in a runtime with `workers` workers; a hang fails the test instead of stopping the suite.
pub fn run<T: Send + 'static>(workers: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    within(FOREVER, move || runtime(workers).run(main))
}

/// A runtime with `workers` workers.
pub fn runtime(workers: usize) -> lamprey::Runtime {
    lamprey::Runtime::builder().workers(workers).build().unwrap()
}

/// Runs `f` on an OS thread, and panics if it takes longer than `limit`.
#[track_caller]
pub fn within<T: Send + 'static>(limit: Duration, f: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    let thread = thread::spawn(move || {
        let _ = done.send(f());
    });
    match result.recv_timeout(limit) {
        Ok(value) => {
            thread.join().unwrap();
            value
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(payload) => std::panic::resume_unwind(payload),
            Ok(()) => unreachable!("it ended without a value and without a panic"),
        },
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hung: not done within {limit:?}"),
    }
}

/// Waits, as a host or an OS thread, until `is` holds.
#[track_caller]
pub fn eventually(what: &str, is: impl Fn() -> bool) {
    let deadline = Instant::now() + FOREVER;
    while !is() {
        assert!(Instant::now() < deadline, "never came: {what}");
        lamprey::sleep(Duration::from_millis(2));
    }
}

/// This test binary again, running only `test`, which finds `role` in the variable `LAMPREY_TEST_ROLE`.
pub fn again(test: &str, role: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env("LAMPREY_TEST_ROLE", role);
    command
}

/// The role that [`again`] gave to this process.
pub fn role() -> Option<String> {
    std::env::var("LAMPREY_TEST_ROLE").ok()
}

/// Bytes that differ from place to place.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}
