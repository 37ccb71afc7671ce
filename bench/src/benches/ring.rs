//! The thread ring of the papers: one token and 503 threads.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{may, tokio};
use crate::work::ring::{HOSTS, samples};
use anyhow::Result;
use lamprey::{Receiver, Sender};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "ring",
    about: "503 threads in a ring hand on a token, less one each time, until it is 0; ns for each hop",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 10 * HOSTS, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("lamprey", lamprey),
        Variant::rival("tokio", tokio::ring),
        Variant::rival("may", may::ring),
        Variant::go(),
    ],
};

fn lamprey(workers: usize) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |hops| {
        let took = runtime.run(move || {
            let (first, mut rx) = lamprey::channel::<u64>();
            let (done, finished) = lamprey::channel::<()>();
            for _ in 1..HOSTS {
                let (tx, next) = lamprey::channel();
                let (rx, done) = (std::mem::replace(&mut rx, next), done.clone());
                lamprey::spawn(move || pass(&rx, &tx, &done));
            }
            let tx = first.clone();
            lamprey::spawn(move || pass(&rx, &tx, &done));
            let begun = Instant::now();
            first.send(hops).expect("the ring lives");
            finished.recv().expect("the ring reports");
            begun.elapsed()
        });
        Ok(samples(took, hops))
    }))
}

/// Passes the token on. The thread that finds it used up reports and ends; its neighbours end when their
/// channels close.
fn pass(rx: &Receiver<u64>, tx: &Sender<u64>, done: &Sender<()>) {
    while let Ok(left) = rx.recv() {
        if left == 0 {
            done.send(()).expect("the bench waits");
            return;
        }
        if tx.send(left - 1).is_err() {
            return;
        }
    }
}
