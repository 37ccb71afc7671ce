//! The two sysbench workloads with which the paper measures threads and mutexes (*Compiler Support for Lightweight
//! Context Switching*, 2013, 7.4 and Fig. 7), rewritten from sysbench's manual.

use super::hosts::Hosts;
use super::locking::crowd;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::os_locks;
use crate::work::locking::Threads;
use anyhow::Result;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Numbers of threads.
const CROWDS: [(&str, usize); 4] = [("of_1", 1), ("of_16", 16), ("of_128", 128), ("of_1024", 1024)];
/// Mutexes of `threads`, as in sysbench.
const FEW: usize = 8;
/// The number of times that a thread takes the same mutex in a row. sysbench: 1000.
const IN_A_ROW: u64 = 100;
/// Mutexes of `mutex`, as in sysbench.
const MANY: usize = 4096;
/// Steps of the computation, some 100 ns. sysbench: 10,000 rounds of an empty loop, next to which a lock does
/// not show.
const STEPS: u64 = 100;

/// Enough at first that each of 1024 threads does more work than its start costs.
const SIZE: Size = Size::UntilTakes { first: 1 << 17, goal: Duration::from_millis(200) };

/// See `about`.
pub const THREADS: Bench = Bench {
    name: "sysbench_threads",
    about: "1, 16, 128 or 1024 threads, each: lock one of 8 mutexes, yield, unlock, in a loop, with the next mutex after 100 times \
            (paper: Fig. 7, threads; no numbers in the text); ns for each time, over all of them",
    workers: &[1, 2],
    size: SIZE,
    runs: 7,
    variants: &[
        Variant::ours("lamprey", threads::<Hosts>),
        Variant::rival("pthread", threads::<os_locks::Pthread>),
        Variant::go(),
        Variant::boost(),
    ],
};

/// See `about`.
pub const MUTEX: Bench = Bench {
    name: "sysbench_mutex",
    about: "1, 16, 128 or 1024 threads, each: compute for some 100 ns, lock one of 4096 mutexes (by chance), add 1, unlock, in a loop \
            (paper: Fig. 7, mutex; no numbers in the text); ns for each time, over all of them, with the computation",
    workers: &[1, 2],
    size: SIZE,
    runs: 7,
    variants: &[
        Variant::ours("lamprey", mutex::<Hosts>),
        Variant::rival("pthread", mutex::<os_locks::Pthread>),
        Variant::go(),
        Variant::boost(),
    ],
};

fn threads<T: Threads>(workers: usize) -> Result<Runner> {
    runner::<T, FEW>(workers, |locks, thread, each| {
        for i in 0..each {
            let guard = T::lock(&locks[(thread + (i / IN_A_ROW) as usize) % FEW]);
            T::yield_now();
            drop(guard);
        }
    })
}

fn mutex<T: Threads>(workers: usize) -> Result<Runner> {
    runner::<T, MANY>(workers, |locks, thread, each| {
        let mut x = thread as u64;
        for _ in 0..each {
            x = compute(x);
            *T::lock(&locks[(x >> 33) as usize % MANY]) += 1;
        }
    })
}

/// A chain of steps that the compiler cannot shorten.
fn compute(seed: u64) -> u64 {
    (0..STEPS).fold(seed, |x, _| black_box(x).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
}

/// Each thread of each crowd runs `body(locks, thread, times)`.
fn runner<T: Threads, const N: usize>(
    workers: usize,
    body: fn(&[T::Mutex<u64>], usize, u64),
) -> Result<Runner> {
    let stage = T::stage(workers)?;
    Ok(Box::new(move |n| {
        let run = move |(name, threads)| {
            let each = n.div_ceil(threads as u64);
            let locks: Arc<Vec<_>> = Arc::new((0..N).map(|_| T::mutex(0)).collect());
            let took = crowd::<T>(threads, workers, move |i| body(&locks, i, each));
            Sample::ns_each(name, took, each * threads as u64)
        };
        Ok(T::on(&stage, move || CROWDS.map(run).into()))
    }))
}
