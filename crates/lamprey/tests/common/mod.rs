//! What the tests of hosts, channels, time and the scheduler share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

#[path = "../../../swapstack/tests/common/program.rs"]
mod program;

mod at_rest;
pub mod awaiting;
pub mod beside;

#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub use at_rest::*;

use std::panic::Location;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a loaded machine; a test that needs it has hung.
pub const FOREVER: Duration = Duration::from_secs(100);

/// Runs `main` in a runtime with `workers` workers; a hang fails the test instead of stopping the suite.
#[track_caller]
pub fn run<T: Send + 'static>(workers: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    within(FOREVER, move || runtime(workers).run(main))
}

/// As [`run`], where every parasite starts at once, and none becomes a host by itself.
#[track_caller]
pub fn run_at_once<T: Send + 'static>(workers: usize, main: impl FnOnce() -> T + Send + 'static) -> T {
    let builder = quiet().workers(workers).offering(false).inflation(false);
    within(FOREVER, move || builder.build().unwrap().run(main))
}

/// A runtime with `workers` workers.
pub fn runtime(workers: usize) -> lamprey::Runtime {
    quiet().workers(workers).build().unwrap()
}

/// Without reports of workers that are held up: tests do that on purpose, others on a loaded machine, and what the reports need
/// of the debug information takes a hundred megabytes.
pub fn quiet() -> lamprey::RuntimeBuilder {
    lamprey::Runtime::builder().stuck_after(Duration::MAX)
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
pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + FOREVER;
    while !is() {
        assert!(Instant::now() < deadline, "never came: {what}");
        lamprey::sleep(Duration::from_millis(1));
    }
}

/// Yields until `is` holds. On a runtime with one worker, what a host did just before it blocks is seen only
/// after it has blocked: so this waits for hosts to be blocked.
#[track_caller]
pub fn yield_until(what: &str, is: impl Fn() -> bool) {
    let deadline = Instant::now() + FOREVER;
    while !is() {
        assert!(Instant::now() < deadline, "never came: {what}");
        lamprey::yield_now();
    }
}

/// Attempts something with ever longer computations until it does what is wanted. A time slice is over when
/// the ticker's thread has run three times, and on a loaded machine that may take longer than any fixed time.
#[track_caller]
pub fn with_ever_longer(what: &str, mut attempt: impl FnMut(Duration) -> bool) {
    let mut long = Duration::from_millis(5);
    while !attempt(long) {
        long *= 2;
        assert!(long < FOREVER, "not in computations of {:?}: {what}", long / 2);
    }
}

/// This test binary again in a process of its own, running only `test` of the caller's file, which finds
/// `role` in [`role`].
#[track_caller]
pub fn again(test: &str, role: &str) -> Command {
    let mut command = program::this_program();
    let file = Path::new(Location::caller().file());
    // `tests/room/file.rs` is the module `file` of the program `room`; `tests/file.rs` is a program.
    let is_module = file.parent().is_some_and(|folder| !folder.ends_with("tests"));
    let module = file.file_stem().filter(|_| is_module).map(|name| format!("{}::", name.display()));
    let test = module.unwrap_or_default() + test;
    command
        .args(["--exact", &test, "--nocapture", "--test-threads=1", "--include-ignored"])
        .env("LAMPREY_TEST_ROLE", role)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null());
    command
}

/// The role that [`again`] gave to this process.
pub fn role() -> Option<String> {
    std::env::var("LAMPREY_TEST_ROLE").ok()
}

/// Runs `test` again as `role` to its end, and returns what came of it with its standard error as text.
#[track_caller]
pub fn rerun(test: &str, role: &str) -> (Output, String) {
    outcome(again(test, role))
}

/// Runs a command to its end; standard error also as text.
#[track_caller]
pub fn outcome(mut command: Command) -> (Output, String) {
    let output = within(FOREVER, move || command.output().unwrap());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

/// Runs `test` again in a process of its own, and passes on what that says of "bytes each".
#[track_caller]
pub fn alone(test: &str) {
    let (output, text) = rerun(test, "alone");
    assert!(output.status.success(), "{:?} {text}", output.status);
    text.lines().filter(|line| line.contains("bytes each")).for_each(|line| eprintln!("{line}"));
}

/// Bytes of memory that this process has.
pub fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Counts its drops.
#[derive(Debug)]
pub struct Counted(pub Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A counter for [`Counted`] and other things.
pub fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

/// What it says now.
pub fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// Adds one.
pub fn tick(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::SeqCst);
}

/// Bytes that differ from place to place.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// First come, first served.
#[derive(Default)]
pub struct Fifo(std::collections::VecDeque<lamprey::Ready>);

impl lamprey::Policy for Fifo {
    fn ready(&mut self, thread: lamprey::Ready, _: lamprey::Why) {
        self.0.push_back(thread);
    }
    fn next(&mut self, unstarted: &mut lamprey::Unstarted<'_>) -> Option<lamprey::Ready> {
        self.0.extend(unstarted.pop());
        self.0.pop_front()
    }
}
