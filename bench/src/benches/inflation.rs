//! Long computations (*Lightweight Asynchrony Using Parasitic Threads*, 2011, Figure 9): parasites that inflate to
//! hosts, against hosts.

use crate::harness::{Bench, Runner, Sample, Size, Variant};
use anyhow::Result;
use lamprey::{Builder, ParasiteHandle, Runtime};
use std::hint::black_box;
use std::time::Instant;

/// Steps of a computation: about 20 ms, two time slices.
const STEPS: u64 = 18_000_000;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "inflation",
    about: "64 computations (quick: 16) of about 20 ms each, all spawned, then all joined: as hosts, as parasites, as parasites of \
            a runtime that inflates but does not offer, the reverse, or neither; ms for all",
    workers: &[1, 2],
    size: Size::Exactly { full: 64, quick: 16, tiny: 2 },
    runs: 5,
    variants: &[
        Variant::ours("hosts", hosts),
        Variant::ours("parasites", |w| parasites(w, true, true)),
        Variant::ours("inflating", |w| parasites(w, true, false)),
        Variant::ours("offering", |w| parasites(w, false, true)),
        Variant::ours("neither", |w| parasites(w, false, false)),
    ],
};

/// A chain of steps that the compiler cannot shorten.
fn compute(seed: u64) -> u64 {
    (0..STEPS).fold(seed, |x, i| black_box(x).wrapping_mul(6_364_136_223_846_793_005) ^ i)
}

fn hosts(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    run(
        runtime,
        |i| Builder::new().spawn(move || compute(i)).expect("there is memory for 64 hosts"),
        |host| host.join().expect("computing does not panic"),
    )
}

fn parasites(workers: usize, inflation: bool, offering: bool) -> Result<Runner> {
    let runtime = Runtime::builder().workers(workers).inflation(inflation).offering(offering).build()?;
    let join = |parasite: ParasiteHandle<u64>| parasite.join().expect("computing does not panic");
    run(runtime, |i| lamprey::parasite(async move { compute(i) }), join)
}

fn run<H: 'static>(runtime: Runtime, spawn: fn(u64) -> H, join: fn(H) -> u64) -> Result<Runner> {
    Ok(Box::new(move |n| {
        let took = runtime.run(move || {
            let begun = Instant::now();
            let threads: Vec<H> = (0..n).map(spawn).collect();
            for thread in threads {
                black_box(join(thread));
            }
            begun.elapsed()
        });
        Ok(vec![Sample::new("time", "ms", took.as_secs_f64() * 1e3)])
    }))
}
