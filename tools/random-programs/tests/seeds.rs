//! A few seconds of random programs in every run of the test suite; HACKING.md has the command for an hour of
//! them.

use std::process::{Command, Output};

fn random_programs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_random-programs")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_hundred_programs_end_well() {
    let output = random_programs(&["--seed", "1", "--count", "100", "--limit-ms", "100000"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("100 programs ran to their end"), "{}", text(&output));
}

/// Program 149778 kept the carriers of its worker busy for ever (`sched/parasite/carrier.rs`, `reap_if_due`).
#[test]
fn a_thousand_programs_end_well_in_the_simulator() {
    for (seed, count) in [("1", "1000"), ("149778", "1")] {
        let output =
            random_programs(&["--simulated", "--seed", seed, "--count", count, "--limit-ms", "100000"]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains(&format!("{count} programs ran to their end")), "{}", text(&output));
    }
}

#[test]
fn a_failure_in_the_simulator_names_both_seeds() {
    let output = random_programs(&[
        "--simulated",
        "--seed",
        "3",
        "--sim-seed",
        "7",
        "--repeat",
        "1000",
        "--limit-ms",
        "1",
    ]);
    // It may be too fast, where nothing else runs.
    if !output.status.success() {
        assert!(text(&output).contains("--seed 3 --simulated --sim-seed 7"), "{}", text(&output));
    }
}

#[test]
fn the_same_seed_is_the_same_program() {
    let shown = |seed| random_programs(&["--seed", seed, "--show"]).stdout;
    assert_eq!(shown("5"), shown("5"));
    assert_ne!(shown("5"), shown("6"));
}

#[test]
fn a_class_that_is_left_out_is_not_in_any_program() {
    for seed in 0..50 {
        let output = random_programs(&["--seed", &seed.to_string(), "--show", "--without", "generators"]);
        assert!(!text(&output).contains("Generator {"), "seed {seed}");
    }
}

/// A program that gets no time must hang; that is a failure, which must print its number.
#[test]
fn a_failure_says_how_to_see_it_again() {
    let output = random_programs(&["--seed", "3", "--limit-ms", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("--seed 3 --repeat 100 --limit-ms 1"), "{}", text(&output));
}

#[test]
fn bad_arguments_are_named() {
    for (arguments, expected) in [
        (&["--sed", "3"][..], "there is no argument '--sed'"),
        (&["--seed", "three"], "--seed wants a number, not 'three'"),
        (&["--seed"], "--seed wants a number"),
        (&["--jobs", "0"], "--jobs wants a number of at least 1"),
        (&["--with", "magic"], "there is no class 'magic'"),
        (&["--bytes", "0x"], "'0x' are not pairs of hexadecimal digits"),
        (&["--count", "1", "--seconds", "1"], "exclude each other"),
    ] {
        let output = random_programs(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output).contains(expected), "{arguments:?}: {}", text(&output));
    }
}
