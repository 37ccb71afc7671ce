//! Ten million stackless parasites: the memory of each, and the time to make one, to wake it and to let it
//! finish.

use super::ours::{for_ever, runtime};
use crate::harness::{Bench, Runner, Sample, Size, Variant, warm};
use crate::rivals::{smol, tokio_tasks};
use crate::work::memory::Crowd;
use crate::work::parasite_crowd::{BATCH, Common};
use anyhow::Result;
use lamprey::{Receiver, Sender};
use std::time::Instant;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "parasite_crowd",
    about: "10,000,000 parasites (quick: 1,000,000), in a fresh process, that hold one word and are blocked in recv on one \
            channel, then each is sent a message and ends (the sender yields after each 500); and as many that yield in a loop; bytes (resident pages and page \
            tables) and ns for each",
    workers: &[1],
    size: Size::Exactly { full: 10_000_000, quick: 1_000_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("recv", |w| blocked(w, lamprey::channel)),
        Variant::ours("recv-inline", |w| blocked(w, lamprey::channel_attach_inline)),
        Variant::ours("yield", yielding),
        Variant::rival("tokio-recv", tokio_tasks::crowd_blocked),
        Variant::rival("tokio-yield", tokio_tasks::crowd_yielding),
        Variant::rival("smol-recv", smol::crowd_blocked),
        Variant::rival("smol-yield", smol::crowd_yielding),
    ],
};

/// The data of a blocked parasite, whose one word is a reference to this.
struct Blocked {
    ends: &'static (Sender<u64>, Receiver<u64>),
    common: &'static Common,
}

fn blocked(workers: usize, channel: fn() -> (Sender<u64>, Receiver<u64>)) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let common = Common::new();
            let shared: &Blocked = Box::leak(Box::new(Blocked { ends: for_ever(channel()), common }));
            warm::memory(n * 128)?;
            let crowd = Crowd::begin(n)?;
            for _ in 0..n {
                lamprey::parasite(async move {
                    shared.ends.1.recv_async().await.expect("the channel is for ever");
                    shared.common.count();
                })
                .detach();
            }
            let mut samples = crowd.blocked()?;
            let begun = Instant::now();
            for i in 0..n {
                shared.ends.0.send(i).expect("the channel is for ever");
                if i % BATCH == 0 {
                    lamprey::yield_now();
                }
            }
            while common.counted() < n {
                lamprey::yield_now();
            }
            samples.push(Sample::ns_each("wake", begun.elapsed(), n));
            Ok(samples)
        })
    }))
}

fn yielding(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            let common = Common::new();
            warm::memory(n * 64)?;
            let crowd = Crowd::begin(n)?;
            for _ in 0..n {
                lamprey::parasite(async move {
                    while !common.is_over() {
                        common.count();
                        lamprey::yield_now_async().await;
                    }
                })
                .detach();
            }
            let mut samples = crowd.blocked()?;
            let (begun, before) = (Instant::now(), common.counted());
            while common.counted() < before + n {
                lamprey::yield_now();
            }
            samples.push(Sample::ns_each("yield", begun.elapsed(), common.counted() - before));
            common.end();
            Ok(samples)
        })
    }))
}
