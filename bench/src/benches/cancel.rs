//! The time to end a blocked thread by cancellation.

use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::tokio_structure;
use crate::work::cancel::{BATCH, Witness, samples};
use anyhow::Result;
use lamprey::{Builder, JoinError, ParasiteHandle, Receiver};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "cancel",
    about: "100 threads wait to receive, each from a channel of its own, with a value on the stack that has a destructor; one after \
            the other is cancelled and joined; ns for each, from before the one until after the other. hosts wait on the other \
            worker, if there are two, parasites on the canceller's. `tokio`: `abort` and `.await`; `go`: each has a context to cancel and selects on its `Done` \
            (Go has no other way), and what is deferred closes the channel that it is joined by. `unwind`: nobody is cancelled, a host unwinds by \
            itself past such a value and catches that",
    workers: &[1, 2],
    size: Size::UntilTakes { first: BATCH, goal: Duration::from_millis(50) },
    runs: 21,
    variants: &[
        Variant::ours("hosts", |w| runner(w, hosts)),
        Variant::ours("stackful", |w| runner(w, stackful)),
        Variant::ours("stackless", |w| runner(w, stackless)),
        Variant::ours("unwind", |w| runner(w, unwind)),
        Variant::rival("tokio", tokio_structure::cancel),
        Variant::go(),
    ],
};

/// Runs `each` for every batch and sums the times.
fn runner(workers: usize, each: fn(usize) -> Duration) -> Result<Runner> {
    let runtime = super::ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let batches = n.div_ceil(BATCH);
        Ok(samples(runtime.run(move || (0..batches).map(|_| each(workers)).sum()), batches))
    }))
}

/// Blocked hosts; with more than one worker, not on the canceller's worker.
fn hosts(workers: usize) -> Duration {
    let here = lamprey::current().worker().expect("this is a host");
    let ended = Arc::new(AtomicU64::new(0));
    let blocked = Arc::new(AtomicU64::new(0));
    let spawn = |_| {
        let (tx, rx) = lamprey::channel::<u64>();
        let (blocked, witness) = (blocked.clone(), Witness(ended.clone()));
        let body = move || {
            let _witness = witness;
            // Relaxed: only a count.
            blocked.fetch_add(1, Relaxed);
            rx.recv()
        };
        (Builder::new().worker((here + 1) % workers).spawn(body).expect("there is such a worker"), tx)
    };
    let hosts: Vec<_> = (0..BATCH).map(spawn).collect();
    // Relaxed: only a count.
    super::locking::until(|| blocked.load(Relaxed) == BATCH, lamprey::yield_now);
    let begun = Instant::now();
    for (host, _tx) in hosts {
        host.cancel();
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    }
    let took = begun.elapsed();
    // Relaxed: the hosts were joined.
    assert_eq!(ended.load(Relaxed), BATCH);
    took
}

fn stackless(_: usize) -> Duration {
    parasites(|rx, witness| {
        lamprey::parasite(async move {
            let _witness = witness;
            rx.recv_async().await
        })
    })
}

fn stackful(_: usize) -> Duration {
    parasites(|rx, witness| {
        lamprey::parasite_fn(move || {
            let _witness = witness;
            rx.recv()
        })
    })
}

/// The part of the stackful threads' time that is the compiler's and the language's unwinding.
fn unwind(_: usize) -> Duration {
    let ended = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    for _ in 0..BATCH {
        assert!(catch_unwind(AssertUnwindSafe(|| leaves(Witness(ended.clone())))).is_err());
    }
    let took = begun.elapsed();
    // Relaxed: this thread has counted.
    assert_eq!(ended.load(Relaxed), BATCH);
    took
}

#[inline(never)]
fn leaves(_witness: Witness) {
    resume_unwind(Box::new(()));
}

type Received = Result<u64, lamprey::RecvError>;

/// Blocked parasites: they block when they start.
fn parasites(start: fn(Receiver<u64>, Witness) -> ParasiteHandle<Received>) -> Duration {
    let ended = Arc::new(AtomicU64::new(0));
    let one = |_| {
        let (tx, rx) = lamprey::channel();
        (start(rx, Witness(ended.clone())), tx)
    };
    let parasites: Vec<_> = (0..BATCH).map(one).collect();
    let begun = Instant::now();
    for (parasite, _tx) in parasites {
        assert!(matches!(parasite.cancel_and_join(), Err(JoinError::Cancelled(_))));
    }
    let took = begun.elapsed();
    // Relaxed: `cancel` has waited for them.
    assert_eq!(ended.load(Relaxed), BATCH);
    took
}
