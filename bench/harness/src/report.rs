//! Runs benches, and writes what comes out: JSON lines, and tables for people.

use super::machine::Machine;
use super::record::Record;
use super::targets::Target;
use super::{Bench, Effort, drive, table};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Makes every bench as small as possible: its numbers mean nothing, but it runs.
pub const TINY: &str = "LAMPREY_BENCH_TINY";

/// Whether each bench is to be as small as possible.
pub fn is_tiny() -> bool {
    std::env::var_os(TINY).is_some()
}

/// The runs to do.
pub struct Order {
    /// The benches, in this order.
    pub benches: Vec<&'static Bench>,
    /// Whether rivals run too.
    pub rivals: bool,
    /// The file for the JSON; `None` is the standard output.
    pub json: Option<PathBuf>,
    /// The amount of work.
    pub effort: Effort,
}

/// Returns whether none of Lamprey's own variants failed. Failures of rivals, and what needs a program that is not here, are only reported.
///
/// # Errors
/// If the JSON cannot be written.
pub fn run(order: &Order, machine: Machine, targets: &[Target]) -> Result<bool> {
    let mut lines: Box<dyn Write> = match &order.json {
        Some(file) => {
            Box::new(File::create(file).with_context(|| format!("cannot create {}", file.display()))?)
        }
        None => Box::new(io::stdout()),
    };
    let mut write = |record: Record| writeln!(lines, "{}", record.line()).context("cannot write the JSON");
    if let Some(noise) = machine.noise() {
        eprintln!("bench: {noise}");
    }
    if order.effort == Effort::Tiny {
        eprintln!("bench: {} is set: the numbers mean nothing", TINY);
    }
    write(Record::Machine(machine))?;
    let mut all_ran = true;
    for bench in &order.benches {
        eprintln!("bench: running {}", bench.name);
        let outcome = drive::measure(bench, order.effort, order.rivals);
        eprint!("{}", table::render(bench.name, bench.about, &outcome.measured, &outcome.missing, targets));
        let ours = |name: &str| bench.variants.iter().any(|v| v.name == name && !v.rival);
        all_ran &= !outcome.missing.iter().any(|m| !m.skipped && ours(&m.variant));
        outcome.measured.into_iter().map(Record::Measured).try_for_each(&mut write)?;
        outcome.missing.into_iter().map(Record::Missing).try_for_each(&mut write)?;
    }
    Ok(all_ran)
}
