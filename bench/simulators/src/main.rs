//! The rivals of Lamprey's simulator, with the programs of `benches/sim.rs`: `lamprey-bench-simulators BENCH VARIANT WORKERS`. It
//! speaks the protocol of `harness::worker`.

#[cfg(not(madsim))]
compile_error!("madsim simulates only with RUSTFLAGS=\"--cfg madsim\"; .cargo/config.toml says so");

mod futures;
mod madsim;
mod shuttle;
mod turmoil;

use std::io::{BufRead, Write};
use std::time::Duration;

/// The runs of one order have these seeds: 0 and up. The same as Lamprey's, `work/sim.rs`, as are the next two.
const SEEDS: u64 = 8;
/// Pairs of the program that is measured for long.
const PAIRS: u64 = 10;
/// Pairs, and rounds, of a small run.
const SMALL: (u64, u64) = (2, 10);

/// Simulates pairs of threads that send a number to and fro so many times; returns the steps, as the rival counts them.
type Simulate = fn(seed: u64, pairs: u64, rounds: u64) -> u64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (bench, variant) = match &arguments[..] {
        [bench, variant, _workers] => (&**bench, &**variant),
        _ => panic!("the arguments are a bench, a variant and a number of workers"),
    };
    let simulate: Simulate = match variant {
        "madsim" => madsim::simulate,
        "turmoil" => turmoil::simulate,
        "shuttle" => shuttle::threads,
        "shuttle-futures" => shuttle::futures,
        _ => panic!("no variant {variant}"),
    };
    let run: fn(Simulate, u64) -> Vec<String> = match bench {
        "sim" => long,
        "sim_runs" => short,
        _ => panic!("no bench {bench}"),
    };
    for order in std::io::stdin().lock().lines() {
        let order = order.expect("orders are lines");
        let n = order.strip_prefix("run ").and_then(|n| n.parse().ok()).expect("an order is `run N`");
        let samples = run(simulate, n).concat();
        println!("{samples}done");
        std::io::stdout().flush().expect("the parent reads");
    }
}

/// About `n` messages, by all seeds together.
fn long(simulate: Simulate, n: u64) -> Vec<String> {
    let rounds = (n / (SEEDS * PAIRS * 2)).max(1);
    let begun = processor_time();
    let steps: u64 = (0..SEEDS).map(|seed| simulate(seed, PAIRS, rounds)).sum();
    let took = processor_time() - begun;
    vec![ns_each("step", took, steps), ns_each("message", took, SEEDS * PAIRS * rounds * 2)]
}

/// `n` small runs, and `n` empty ones.
fn short(simulate: Simulate, n: u64) -> Vec<String> {
    let many = |pairs, rounds| {
        let begun = processor_time();
        (0..n).for_each(|seed| _ = simulate(seed, pairs, rounds));
        processor_time() - begun
    };
    vec![us_each("small", many(SMALL.0, SMALL.1), n), us_each("empty", many(0, 0), n)]
}

/// What this process has used of the processors.
fn processor_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    let told = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    assert_eq!(told, 0, "Linux has this clock");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn ns_each(metric: &str, took: Duration, operations: u64) -> String {
    format!("sample {metric} ns {}\n", took.as_nanos() as f64 / operations as f64)
}

fn us_each(metric: &str, took: Duration, operations: u64) -> String {
    format!("sample {metric} us {}\n", took.as_nanos() as f64 / operations as f64 / 1000.0)
}
