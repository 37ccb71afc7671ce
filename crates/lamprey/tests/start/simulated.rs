//! `#[lamprey::test]` in the simulator.

use crate::common::{again, count, outcome, rerun, role};
use lamprey::{sim, sleep_async, spawn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(24 * 3600);

#[lamprey::test(seed = 3)]
async fn a_day_passes_by_one_seed() {
    let begin = sim::now();
    sleep_async(LONG).await;
    assert!(sim::now() - begin >= LONG);
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[lamprey::test(simulated, runs = 20, workers = 1)]
fn counts_its_runs() -> Result<(), std::fmt::Error> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    assert_eq!(lamprey::Handle::current().unwrap().workers(), 1);
    lamprey::yield_now();
    Ok(())
}

#[test]
fn there_are_as_many_runs_as_it_says() {
    let before = count(&RUNS);
    counts_its_runs();
    assert!(count(&RUNS) - before >= 20);
}

static FITTING: AtomicUsize = AtomicUsize::new(0);

#[lamprey::test(simulated)]
fn makes_as_many_runs_as_fit() {
    FITTING.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn without_a_number_there_are_some_runs() {
    let before = count(&FITTING);
    makes_as_many_runs_as_fit();
    assert!(count(&FITTING) - before >= 20);
}

#[lamprey::test(simulated)]
#[should_panic(expected = "in the simulation")]
fn a_panic_fails_it() {
    spawn(|| panic!("in the simulation"));
    lamprey::yield_now();
}

#[lamprey::test(simulated, runs = 3)]
fn its_first_host_comes_from_here() {
    assert!(lamprey::current().spawn_site().unwrap().to_string().contains("simulated.rs"));
}

#[lamprey::test(simulated = true, runs = 3)]
fn fails_by_an_error() -> Result<(), &'static str> {
    if role().is_some() { Err("no bread") } else { Ok(()) }
}

#[test]
fn an_error_fails_it_with_the_seed() {
    let (output, text) = rerun("fails_by_an_error", "fail");
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("Error: \"no bread\"") && text.contains("LAMPREY_SEED=0"), "{text}");
}

#[lamprey::test(simulated)]
fn computes_for_ever() {
    while role().is_some() {
        std::hint::spin_loop();
    }
}

#[test]
fn one_that_takes_no_step_is_over_its_limit() {
    let mut command = again("computes_for_ever", "hang");
    command.env("LAMPREY_TEST_TIMEOUT", "300ms");
    let (output, text) = outcome(command);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("is not over after 300ms of real time"), "{text}");
}
