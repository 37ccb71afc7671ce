//! A program that fails, made smaller: its bytes first, and then what they stand for.

use super::smaller::{is_closed, smaller};
use super::{Counterexample, Plan, one};
use crate::explore::all;
use crate::generate::program;
use crate::machine::rule::Tally;
use crate::outcome::Outcome;
use crate::syntax::Exp;
use random_programs::minimise::minimise;
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// How long it is made smaller at most, and how long a run hangs meanwhile.
const LIMIT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_millis(300);

/// The smallest program found that fails; the one given if it does not fail again.
pub fn shrink(plan: &Plan, seed: u64, bytes: Vec<u8>, why: String, machine: &Tally) -> Counterexample {
    // The same program may take another path each time: a choice takes any branch that is ready, and workers run beside
    // each other.
    let tries = if plan.workers > 1 { 40 } else { 20 };
    let failure = |e: &Exp| {
        let patience = plan.patience(PATIENCE);
        (0..tries).find_map(|_| one(e, seed, plan, patience, &mut machine.clone()).err())
    };
    let end = Instant::now() + LIMIT;
    let fails = |bytes: &[u8]| Ok::<_, Infallible>(failure(&program(bytes, plan.size)).is_some());
    let found = match minimise(bytes.clone(), end, fails) {
        Ok(found) => found,
        Err(never) => match never {},
    };
    let has_failed_again = found.is_some();
    let bytes = found.unwrap_or(bytes);
    let e = program(&bytes, plan.size);
    let (e, why) = match failure(&e) {
        Some(why) if has_failed_again => shrink_expression(e, why, end, failure),
        _ => (e, why),
    };
    Counterexample { plan: plan.clone(), seed, bytes, program: e, why, has_failed_again }
}

/// Leaves out what can be left out, one part after the other.
fn shrink_expression(
    mut e: Exp,
    mut why: String,
    end: Instant,
    failure: impl Fn(&Exp) -> Option<String>,
) -> (Exp, String) {
    loop {
        let next = smaller(&e)
            .into_iter()
            .take_while(|_| Instant::now() < end)
            .filter(|small| is_closed(small, &mut Vec::new()) && !is_wrong(small))
            .find_map(|small| failure(&small).map(|why| (small, why)));
        match next {
            Some(found) => (e, why) = found,
            None => return (e, why),
        }
    }
}

/// True if a computation of it is stuck: what has been left out was needed.
fn is_wrong(e: &Exp) -> bool {
    all(e, 1_000, &mut Tally::default()).outcomes.iter().any(Outcome::is_wrong)
}
