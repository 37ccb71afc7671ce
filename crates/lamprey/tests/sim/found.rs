//! What the tests of this folder share: their numbers of runs, and programs that must fail.

use lamprey::sim::{Explore, SimBuilder, explore};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs of a correct program, which must pass.
pub const RUNS: u64 = 400;

/// Runs a correct program by many seeds.
pub fn holds(program: impl Fn() + Sync) {
    explore(RUNS, |sim| sim.run(&program));
}

/// Checks that some run of a program with a bug fails in this way: a test that cannot fail tests nothing.
pub fn finds(expected: &str, program: impl Fn() + Sync) {
    finds_with(expected, |sim| sim.run(&program));
}

/// As [`finds`], for a program with settings of its own.
pub fn finds_with(expected: &str, program: impl Fn(SimBuilder) + Sync) {
    let run = || _ = Explore::new(5_000).shrinking(Duration::from_secs(1)).run(program);
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("no run has failed");
    let text = payload.downcast_ref::<String>().expect("a failed exploration panics with a text");
    assert!(text.contains(expected), "{text}");
}
