//! A program that fails, made smaller.

use super::{Counterexample, Plan, one};
use crate::generate::program;
use crate::machine::rule::Tally;
use random_programs::minimise::minimise;
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// How long it is made smaller at most, and how long a run hangs meanwhile.
const LIMIT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_millis(300);

/// The smallest program found that fails; the one given if it does not fail again.
pub fn shrink(plan: &Plan, seed: u64, bytes: Vec<u8>, why: String, machine: &Tally) -> Counterexample {
    // The same program may take another path each time, where workers run beside each other.
    let tries = if plan.workers > 1 { 20 } else { 2 };
    let fails = |bytes: &[u8]| {
        let e = program(bytes, plan.size);
        let run = |_| one(&e, seed, plan, plan.patience(PATIENCE), &mut machine.clone()).err();
        let failed = (0..tries).find_map(run);
        Ok::<_, Infallible>(failed.is_some())
    };
    let found = match minimise(bytes.clone(), Instant::now() + LIMIT, fails) {
        Ok(found) => found,
        Err(never) => match never {},
    };
    let has_failed_again = found.is_some();
    let bytes = found.unwrap_or(bytes);
    let e = program(&bytes, plan.size);
    // What is wrong with the smallest one, not with the last that was tried.
    let why = (0..tries).find_map(|_| one(&e, seed, plan, plan.patience(PATIENCE), &mut machine.clone()).err()).unwrap_or(why);
    Counterexample { plan: plan.clone(), seed, bytes, program: e, why, has_failed_again }
}
