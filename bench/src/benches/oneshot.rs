//! The oneshot channel, from its creation to its end.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{threads, tokio_events};
use crate::work::oneshot::samples;
use anyhow::Result;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "oneshot",
    about: "a thread makes a oneshot channel, sends a number into it and receives it; ns for all of that. `crossbeam` and `go` have \
            a channel with one place",
    workers: &[1],
    size: Size::UntilTakes { first: 1000, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio_events::oneshot),
        Variant::rival("crossbeam", threads::oneshot),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let took = runtime.run(move || {
            let begun = Instant::now();
            for i in 0..n {
                let (tx, rx) = lamprey::oneshot();
                tx.send(black_box(i)).expect("the receiver is here");
                assert_eq!(rx.recv(), Ok(i));
            }
            begun.elapsed()
        });
        Ok(samples(took, n))
    }))
}
