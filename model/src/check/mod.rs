//! Many programs, each on the machine and on Lamprey.

mod one;
mod report;
mod shrink;
mod smaller;

pub use one::{Checked, one};
pub use report::{Counterexample, Report};
pub use shrink::shrink;

use crate::generate::{Size, program};
use crate::machine::hash_of;
use crate::machine::rule::Tally;
use crate::run::Fault;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of the first program.
    pub seed: u64,
    /// How many.
    pub programs: u64,
    /// How large they are.
    pub size: Size,
    /// The workers of the runtime.
    pub workers: usize,
    /// What is wrong with the interpreter.
    pub fault: Fault,
    /// All outcomes of a program are looked for if the machine has at most so many states.
    pub states: usize,
}

impl Default for Plan {
    fn default() -> Self {
        let (size, fault) = (Size::Small, Fault::None);
        Self { seed: 0, programs: 1, size, workers: 1, fault, states: 1_000 }
    }
}

/// How long nothing changes in a run of several workers until it counts as a hang. Only runs that fail take so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks the programs. `at` has the number of programs that are done.
///
/// # Errors
/// If the runtime cannot be started.
pub fn check(plan: &Plan, machine: Tally, at: &AtomicU64) -> io::Result<Result<Report, Box<Counterexample>>> {
    let runtime = lamprey::Runtime::builder().workers(plan.workers).build()?;
    Ok(runtime.run(|| programs(plan, machine, at)))
}

/// The body of [`check`], in a host of any runtime.
///
/// # Errors
/// The first program that does what the machine does not, made smaller.
pub fn programs(plan: &Plan, mut machine: Tally, at: &AtomicU64) -> Result<Report, Box<Counterexample>> {
    let begun = Instant::now();
    let (mut report, mut distinct) = (Report::default(), HashSet::new());
    for n in 0..plan.programs {
        let seed = plan.seed.wrapping_add(n);
        let bytes = plan.size.bytes(seed);
        let e = program(&bytes, plan.size);
        distinct.insert(hash_of(&e.to_string().as_bytes()));
        match one(&e, seed, plan, plan.patience(PATIENCE), &mut machine) {
            Ok(checked) => report.add(&checked),
            Err(why) => return Err(Box::new(shrink(plan, seed, bytes, why, &machine))),
        }
        at.store(n + 1, Ordering::Relaxed); // Relaxed: for a progress bar
    }
    report.distinct = distinct.len() as u64;
    report.tally = machine;
    report.elapsed = begun.elapsed();
    Ok(report)
}

impl Plan {
    /// On one worker nothing has to be waited for.
    fn patience(&self, patience: Duration) -> Option<Duration> {
        (self.workers > 1).then_some(patience)
    }
}
