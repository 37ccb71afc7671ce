//! Skynet: a tree of threads, a million of them leaves.

use super::ours;
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::skynet::{FAN_OUT, samples};
use anyhow::Result;
use lamprey::Sender;
use std::time::Instant;

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "savina_skynet",
    about: "a thread starts ten threads, each of which does the same, down to 1,000,000 leaves (quick: 100,000); a leaf sends its \
            number to its parent, a parent the sum of its children's; `time` of all, `peak` of resident pages and page tables in a \
            fresh process. tokio: mpsc::channel(1)",
    workers: &[1, 2],
    size: Size::Exactly { full: 1_000_000, quick: 100_000, tiny: 1000 },
    runs: 5,
    variants: &[
        Variant::ours("hosts", |w| runner(w, hosts)),
        Variant::ours("parasites", |w| runner(w, parasites)),
        Variant::ours("stackful", |w| runner(w, stackful)),
        Variant::rival("tokio", tokio_savina::skynet::tokio),
        Variant::go(),
    ],
};

const LIVES: &str = "the parent receives from all its children";

/// A node: its parent, its first leaf, its number of leaves.
type Node = fn(Sender<u64>, u64, u64);

fn runner(workers: usize, root: Node) -> Result<Runner> {
    let runtime = ours::runtime(workers)?;
    Ok(Box::new(move |n| {
        let outcome = runtime.run(move || {
            let begun = Instant::now();
            let (tx, rx) = lamprey::channel();
            root(tx, 0, n);
            let sum = rx.recv().expect("the root sends");
            (begun.elapsed(), sum)
        });
        samples(n, outcome)
    }))
}

fn hosts(parent: Sender<u64>, first: u64, leaves: u64) {
    lamprey::spawn(move || parent.send(sum(hosts, first, leaves)).expect(LIVES));
}

fn stackful(parent: Sender<u64>, first: u64, leaves: u64) {
    lamprey::parasite_fn(move || parent.send(sum(stackful, first, leaves)).expect(LIVES)).detach();
}

/// The sum of a node, whose children are started by `node`.
fn sum(node: Node, first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let (tx, rx) = lamprey::channel();
    let each = leaves / FAN_OUT;
    (0..FAN_OUT).for_each(|child| node(tx.clone(), first + child * each, each));
    drop(tx);
    rx.iter().sum()
}

fn parasites(parent: Sender<u64>, first: u64, leaves: u64) {
    let node = async move {
        let sum = if leaves == 1 { first } else { sum_async(first, leaves).await };
        parent.send_async(sum).await.expect(LIVES);
    };
    lamprey::parasite(node).detach();
}

async fn sum_async(first: u64, leaves: u64) -> u64 {
    let (tx, rx) = lamprey::channel();
    let each = leaves / FAN_OUT;
    (0..FAN_OUT).for_each(|child| parasites(tx.clone(), first + child * each, each));
    drop(tx);
    let mut sum = 0;
    while let Ok(part) = rx.recv_async().await {
        sum += part;
    }
    sum
}
