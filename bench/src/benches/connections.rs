//! The memory of connections on which nothing comes, with a thread for each.

use super::ours::{runtime, until};
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::tokio_connections;
use crate::work::connections::{BUFFER, received, samples};
use crate::work::waiting::Waiting;
use anyhow::Result;
use lamprey::net::UnixStream;
use std::io::Read;
use std::sync::Arc;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "idle_connections",
    about: "100,000 connections (both ends of each in this process) on which nothing comes, a thread waits to read from each, in a fresh \
            process; user: bytes of resident pages beyond what the sockets alone take; kernel: bytes of the kernel's objects, both \
            ends and page tables; create: ns, all for each; connections: how \
            many there were descriptors for",
    workers: &[1],
    size: Size::Exactly { full: 100_000, quick: 100_000, tiny: 500 },
    runs: 5,
    variants: &[
        Variant::ours("hosts", hosts).io("epoll"),
        Variant::ours("hosts_uring", hosts).io("uring"),
        Variant::ours("parasites", parasites).io("epoll"),
        Variant::ours("parasites_uring", parasites).io("uring"),
        Variant::rival("tokio", tokio_connections::connections),
        Variant::go(),
    ],
};

fn hosts(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let start = |waiting: Arc<Waiting>, streams: Vec<_>| {
            runtime.run(|| {
                for (at, stream) in streams.into_iter().enumerate() {
                    let waiting = waiting.clone();
                    let mut stream = UnixStream::from_std(stream)?;
                    lamprey::spawn(move || {
                        waiting.begins();
                        let mut bytes = [0; BUFFER];
                        let count = stream.read(&mut bytes).expect("the peer is open");
                        received(at, &bytes[..count]);
                        waiting.ends();
                    });
                }
                Ok(())
            })
        };
        samples(n, start, |over| until(&runtime, over))
    }))
}

fn parasites(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let start = |waiting: Arc<Waiting>, streams: Vec<_>| {
            runtime.run(|| {
                for (at, stream) in streams.into_iter().enumerate() {
                    let waiting = waiting.clone();
                    let stream = UnixStream::from_std(stream)?;
                    lamprey::parasite(async move {
                        waiting.begins();
                        let mut bytes = [0; BUFFER];
                        let count = stream.read_async(&mut bytes).await.expect("the peer is open");
                        received(at, &bytes[..count]);
                        waiting.ends();
                    })
                    .detach();
                }
                Ok(())
            })
        };
        samples(n, start, |over| until(&runtime, over))
    }))
}
