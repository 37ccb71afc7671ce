//! Recursive fork and join: a parasite for each call of Fibonacci's function, awaited by its caller.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{smol, tokio_tasks};
use crate::work::parasite_fib::{FIB, N, samples};
use anyhow::Result;
use lamprey::{ParasiteHandle, Runtime};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "parasite_fib",
    about: "fib(27) with a parasite for each of the 635,621 calls, whose handle the caller awaits; ms for all",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 1, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", |w| runner(runtime(w)?)),
        Variant::rival("tokio", tokio_tasks::fib),
        Variant::rival("smol", smol::fib),
        Variant::go(),
    ],
};

/// The bench on this runtime.
pub fn runner(runtime: Runtime) -> Result<Runner> {
    Ok(Box::new(move |times| {
        let took = runtime.run(move || {
            let begun = Instant::now();
            for _ in 0..times {
                assert_eq!(parasite(N).join().expect("adding does not panic"), FIB);
            }
            begun.elapsed()
        });
        Ok(samples(took, times))
    }))
}

fn parasite(n: u64) -> ParasiteHandle<u64> {
    lamprey::parasite(fib(n))
}

async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (one, two) = (parasite(n - 1), parasite(n - 2));
    one.await.expect("adding does not panic") + two.await.expect("adding does not panic")
}
