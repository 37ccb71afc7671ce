//! A million channels, each with a waiting thread: the memory of a channel.

use super::ours::runtime;
use crate::harness::{Bench, Runner, Size, Variant, warm};
use crate::rivals::tokio_events;
use crate::work::channels::samples;
use crate::work::memory::Crowd;
use anyhow::Result;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "channels",
    about: "1,000,000 parasites (quick: 100,000), each blocked in recv on a channel of its own, in a fresh process; bytes (resident pages \
            and page tables): `memory` for parasite, channel and the handle of its other end; `channel` without that handle (a word) and \
            the parasite, which is weighed before in a crowd that waits on one channel (tokio: on one Notify); `create` in ns",
    workers: &[1],
    size: Size::Exactly { full: 1_000_000, quick: 100_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("channel", |w| {
            runner(w, || {
                let (tx, rx) = lamprey::channel::<u64>();
                (tx, async move { rx.recv_async().await.is_ok() })
            })
        }),
        Variant::ours("bounded", |w| {
            runner(w, || {
                let (tx, rx) = lamprey::bounded::<u64>(1);
                (tx, async move { rx.recv_async().await.is_ok() })
            })
        }),
        Variant::ours("mailbox", |w| {
            runner(w, || {
                let (tx, mut rx) = lamprey::mailbox::<u64>();
                (tx, async move { rx.recv_async().await.is_ok() })
            })
        }),
        Variant::ours("oneshot", |w| {
            runner(w, || {
                let (tx, rx) = lamprey::oneshot::<u64>();
                (tx, async move { rx.await.is_ok() })
            })
        }),
        Variant::rival("tokio", tokio_events::channels),
        Variant::go(),
    ],
};

fn runner<S: Send + 'static, F: Future<Output = bool> + Send + 'static>(
    workers: usize,
    make: impl Fn() -> (S, F) + Copy + Send + 'static,
) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        runtime.run(move || {
            warm::memory(n * 512)?;
            let (_open, closed) = lamprey::channel::<u64>();
            let closed: &'static lamprey::Receiver<u64> = Box::leak(Box::new(closed));
            let crowd = Crowd::begin(n)?;
            for _ in 0..n {
                lamprey::parasite(async move { closed.recv_async().await.is_ok() }).detach();
            }
            let shared = crowd.blocked()?;
            let mut senders = Vec::with_capacity(n as usize);
            let crowd = Crowd::begin(n)?;
            for _ in 0..n {
                let (tx, received) = make();
                lamprey::parasite(received).detach();
                senders.push(tx);
            }
            Ok(samples(&shared, crowd.blocked()?))
        })
    }))
}
