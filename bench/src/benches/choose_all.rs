//! `choose_all` over many producers (*Lightweight Asynchrony Using Parasitic Threads*, 2011, 5.4 and Figure 10).

use super::ours::runtime;
use crate::harness::{Bench, Runner, Sample, Size, Variant};
use crate::rivals::tokio_events;
use anyhow::Result;
use lamprey::event::{Event, choose_all};
use lamprey::parasite::reify;
use lamprey::{Receiver, parasite};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "choose_all",
    about: "2, 8 or 64 hosts send numbers, each on a channel of its own; one host receives one from each at a time: with choose_all, \
            with a parasite for each (the paper's form), with a host for each (tokio: with join_all); ns for each number",
    workers: &[1, 2],
    size: Size::UntilTakes { first: 640, goal: Duration::from_millis(30) },
    runs: 21,
    variants: &[
        Variant::ours("choose_all", |w| runner(w, events)),
        Variant::ours("parasites", |w| runner(w, parasites)),
        Variant::ours("hosts", |w| runner(w, hosts)),
        Variant::rival("tokio", tokio_events::join_all),
    ],
};

const LIVES: &str = "the producers live";

fn runner(workers: usize, gather: fn(&[Receiver<u64>]) -> u64) -> Result<Runner> {
    let runtime = runtime(workers)?;
    Ok(Box::new(move |n| {
        let n = n.next_multiple_of(64);
        let of = |name, producers| {
            Sample::ns_each(name, runtime.run(move || run(n / producers, producers, gather)), n)
        };
        Ok(vec![of("of_2", 2), of("of_8", 8), of("of_64", 64)])
    }))
}

fn run(rounds: u64, producers: u64, gather: fn(&[Receiver<u64>]) -> u64) -> Duration {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..producers).map(|_| lamprey::channel()).unzip();
    let begun = Instant::now();
    for tx in senders {
        lamprey::spawn(move || (0..rounds).for_each(|i| tx.send(i).expect("the consumer lives")));
    }
    let sum: u64 = (0..rounds).map(|_| gather(&receivers)).sum();
    let took = begun.elapsed();
    assert_eq!(sum, producers * (0..rounds).sum::<u64>());
    took
}

fn events(receivers: &[Receiver<u64>]) -> u64 {
    let all = choose_all(receivers.iter().map(Receiver::recv_evt).collect::<Vec<_>>());
    all.sync().into_iter().map(|got| got.expect(LIVES)).sum()
}

/// The state that the parasites of a round share.
struct Round {
    missing: AtomicUsize,
    results: Mutex<Vec<u64>>,
    caller: Mutex<Option<parasite::Parasite<u64>>>,
}

impl Round {
    /// Counts a parasite's end; the last one resumes the caller.
    fn finish(&self) {
        // AcqRel pairs with itself: the last one sees the results of all others.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let sum = self.results.lock().expect("nobody panics").iter().sum();
            let caller = self.caller.lock().expect("nobody panics").take();
            caller.expect("it waits").prepare(sum).attach();
        }
    }
}

/// Figure 5 of the paper, as in `crates/lamprey/examples/choose_all.rs`.
fn parasites(receivers: &[Receiver<u64>]) -> u64 {
    let mut handles = Vec::with_capacity(receivers.len());
    reify(|caller| {
        let round = Arc::new(Round {
            missing: AtomicUsize::new(receivers.len() + 1),
            results: Mutex::new(vec![0; receivers.len()]),
            caller: Mutex::new(Some(caller)),
        });
        for (place, rx) in receivers.iter().enumerate() {
            let (round, rx) = (round.clone(), rx.clone());
            handles.push(lamprey::parasite(async move {
                let got = rx.recv_async().await.expect(LIVES);
                round.results.lock().expect("nobody panics")[place] = got;
                round.finish();
            }));
        }
        round.finish();
    })
    .sync()
}

fn hosts(receivers: &[Receiver<u64>]) -> u64 {
    let receive = |rx: &Receiver<u64>| {
        let rx = rx.clone();
        lamprey::spawn(move || rx.recv().expect(LIVES))
    };
    let hosts: Vec<_> = receivers.iter().map(receive).collect();
    hosts.into_iter().map(|host| host.join().expect("receiving does not panic")).sum()
}
