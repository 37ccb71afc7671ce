//! Runs random programs on Lamprey, and asks the papers' machine whether they may do what they do.
#![forbid(unsafe_code)]

mod args;

use args::Command;
use indicatif::{ProgressBar, ProgressStyle};
use lamprey_model::check::{Counterexample, Plan, Report, check, one};
use lamprey_model::explore::all;
use lamprey_model::generate::program;
use lamprey_model::machine::rule::Tally;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A program without an end for so long is a hang of the runtime itself: this only ends it, and says which.
const STUCK: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    match args::parse(std::env::args(), std::env::var("LAMPREY_SEED").ok()) {
        Ok(Command::Help) => {
            print!("{}", args::USAGE);
            ExitCode::SUCCESS
        }
        Ok(Command::Check(plan, _, Some(bytes))) => again(&plan, &bytes),
        Ok(Command::Check(plan, all_rules, None)) => match many(&plan) {
            Ok(Ok(report)) => judge(&report, all_rules),
            Ok(Err(failed)) => {
                eprintln!("lamprey-model: {failed}");
                ExitCode::FAILURE
            }
            Err(error) => cannot_start(&error),
        },
        Ok(Command::Show(plan, bytes)) => show(&plan, bytes),
        Err(text) => {
            eprintln!("lamprey-model: {text}\n\n{}", args::USAGE);
            ExitCode::from(2)
        }
    }
}

fn cannot_start(error: &std::io::Error) -> ExitCode {
    eprintln!("lamprey-model: the runtime cannot be started: {error}");
    ExitCode::FAILURE
}

fn judge(report: &Report, all_rules: bool) -> ExitCode {
    println!("{report}");
    let unused = report.unused();
    if all_rules && !unused.is_empty() {
        eprintln!("lamprey-model: rules that have not fired: {unused:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Checks the plan's programs, under a progress bar.
fn many(plan: &Plan) -> std::io::Result<Result<Report, Box<Counterexample>>> {
    println!("{} {:?} programs from {} on, {} worker(s)", plan.programs, plan.size, plan.seed, plan.workers);
    let (at, bar) = (Arc::new(AtomicU64::new(0)), ProgressBar::new(plan.programs));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} programs, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let (seen, drawn, seed) = (at.clone(), bar.clone(), plan.seed);
    std::thread::spawn(move || watch(&seen, &drawn, seed));
    let result = check(plan, Tally::default(), &at);
    bar.finish_and_clear();
    result
}

/// Draws the bar, until the process ends.
fn watch(at: &AtomicU64, bar: &ProgressBar, seed: u64) {
    let (mut last, mut still) = (0, Duration::ZERO);
    let tick = Duration::from_millis(100);
    loop {
        std::thread::sleep(tick);
        let now = at.load(Ordering::Relaxed); // Relaxed: a figure to show
        bar.set_position(now);
        still = if now == last { still + tick } else { Duration::ZERO };
        last = now;
        if still > STUCK && !bar.is_finished() {
            eprintln!("lamprey-model: program {} has not ended in {STUCK:?}", seed.wrapping_add(now));
            std::process::exit(1);
        }
    }
}

/// Runs one program many times.
fn again(plan: &Plan, bytes: &[u8]) -> ExitCode {
    let runtime = match lamprey::Runtime::builder().workers(plan.workers).build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    let e = program(bytes, plan.size);
    println!("{e}\n");
    let patience = (plan.workers > 1).then_some(Duration::from_secs(2));
    let failed = runtime
        .run(|| (0..1000).find_map(|_| one(&e, plan.seed, plan, patience, &mut Tally::default()).err()));
    match failed {
        Some(why) => {
            eprintln!("lamprey-model: {why}");
            ExitCode::FAILURE
        }
        None => {
            println!("1000 runs: the machine has all of them");
            ExitCode::SUCCESS
        }
    }
}

fn show(plan: &Plan, bytes: Option<Vec<u8>>) -> ExitCode {
    let e = program(&bytes.unwrap_or_else(|| plan.size.bytes(plan.seed)), plan.size);
    let explored = all(&e, 100_000, &mut Tally::default());
    println!("{e}\n");
    explored.outcomes.iter().for_each(|outcome| println!("{outcome}"));
    let rest = if explored.is_complete { "" } else { ", and more that were not looked at" };
    println!("\n{} outcomes, {} states{rest}", explored.outcomes.len(), explored.states);
    ExitCode::SUCCESS
}
