//! Lamprey does what the machine can do.

use lamprey_model::check::{Plan, Report, check};
use lamprey_model::generate::Size;
use lamprey_model::machine::rule::Tally;
use std::sync::atomic::AtomicU64;

fn checked(plan: &Plan) -> Report {
    let result = check(plan, Tally::default(), &AtomicU64::new(0)).expect("a runtime");
    let report = result.unwrap_or_else(|failed| panic!("{failed}"));
    assert_eq!(report.programs, plan.programs);
    report
}

#[test]
fn small_programs_on_one_worker_and_every_rule_fires() {
    let report = checked(&Plan { programs: 4_000, ..Plan::default() });
    assert_eq!(report.unused(), []);
    assert!(report.complete > 400 && report.nondeterministic > 200 && report.safe > 100, "{report}");
}

#[test]
fn small_programs_on_two_workers() {
    checked(&Plan { seed: 1 << 32, programs: 1_500, workers: 2, ..Plan::default() });
}

#[test]
fn large_programs() {
    for workers in [1, 2] {
        checked(&Plan { seed: 2 << 32, programs: 200, workers, size: Size::Large, ..Plan::default() });
    }
}
