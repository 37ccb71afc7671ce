//! "A cancelled operation has happened or has not, never half": the law of every blocking call, over random
//! histories.
//!
//! Two ways to look at it:
//! * **attempts** (`series`, `locks`, `streams`): one end of something is used again and again, and nearly
//!   every use is cancelled somehow ([`attempt::Means`]). What has happened counts, what has not is tried
//!   again; nothing may be missing or come twice.
//! * **ledgers** (`ledger`): several threads of all kinds run scripts and are cancelled as a whole at random
//!   moments. Each value has an entry, and all entries must agree in the end.
//!
//! Each case runs on one worker and on two. The seed is printed; `LAMPREY_SEED=<number>` repeats a run.

mod attempt;
mod ledger;
mod locks;
mod series;
mod streams;

use lamprey::{Handle, JoinError, Runtime};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::mpsc::{RecvTimeoutError, channel};

/// Holds `law` to so many random cases, half of them on one worker and half on two. A case that hangs ends
/// the process.
pub fn holds<S: Strategy>(count: u32, cases: &S, law: fn(S::Value))
where
    S::Value: Clone + Send + 'static,
{
    let given = std::env::var("LAMPREY_SEED").ok();
    let seed: u64 =
        given.map_or_else(|| fastrand::u64(..), |seed| seed.parse().expect("LAMPREY_SEED is a number"));
    println!("LAMPREY_SEED={seed}");
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let config =
            Config { cases: count / 2, failure_persistence: None, max_shrink_iters: 30, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let run = |case: S::Value| {
            let text = format!("LAMPREY_SEED={seed}, {workers} workers: {case:?}");
            run_case(&runtime.handle(), &text, move || law(case));
            Ok(())
        };
        if let Err(failure) = runner.run(cases, run) {
            panic!("LAMPREY_SEED={seed}, {workers} workers: {failure}");
        }
    }
}

/// Runs one case on a host of its own.
fn run_case(handle: &Handle, text: &str, law: impl FnOnce() + Send + 'static) {
    let (done, outcome) = channel();
    let host = handle.spawn(move || {
        let _done = done;
        law();
    });
    if outcome.recv_timeout(crate::common::FOREVER) == Err::<(), _>(RecvTimeoutError::Timeout) {
        eprintln!("hung: {text}");
        std::process::abort();
    }
    match host.join() {
        Ok(()) => {}
        Err(JoinError::Panicked(panic)) => panic.resume(),
        Err(error) => panic!("{error}"),
    }
}
