//! The oracle can fail: each fault in the interpreter, and each rule that the machine lacks, is found, and the program
//! that shows it is made as small as a person would write it.

use lamprey_model::check::{Counterexample, Plan, check};
use lamprey_model::machine::rule::{Rule, Tally};
use lamprey_model::run::Fault;
use std::sync::atomic::AtomicU64;

/// The program that is found in the first so many.
fn found(fault: Fault, machine: Tally) -> Counterexample {
    let plan = Plan { programs: 20_000, fault, ..Plan::default() };
    match check(&plan, machine, &AtomicU64::new(0)).expect("a runtime") {
        Ok(report) => panic!("nothing was found in {} programs", report.programs),
        Err(failed) => *failed,
    }
}

fn is_small(failed: &Counterexample, commands: usize) {
    let text = failed.to_string();
    assert!(
        failed.has_failed_again && failed.commands() <= commands,
        "{} commands: {text}",
        failed.commands()
    );
    assert!(text.contains("LAMPREY_SEED=") && text.contains("--bytes"), "{text}");
}

#[test]
fn a_value_that_is_sent_twice() {
    is_small(&found(Fault::SendTwice, Tally::default()), 9);
}

#[test]
fn a_send_that_sends_nothing() {
    is_small(&found(Fault::SendNothing, Tally::default()), 2);
}

#[test]
fn a_nack_that_is_lost() {
    is_small(&found(Fault::LoseNack, Tally::default()), 12);
}

#[test]
fn a_parasite_that_goes_on_twice() {
    is_small(&found(Fault::ResumeTwice, Tally::default()), 6);
}

#[test]
fn an_attach_that_does_nothing() {
    is_small(&found(Fault::ForgetAttach, Tally::default()), 5);
}

#[test]
fn asynchronous_sends_that_overtake() {
    is_small(&found(Fault::Overtake, Tally::default()), 9);
}

#[test]
fn a_machine_without_a_rule() {
    for rule in [Rule::Attach, Rule::Finish, Rule::Inflate] {
        is_small(&found(Fault::None, Tally::without(rule)), 6);
    }
}
