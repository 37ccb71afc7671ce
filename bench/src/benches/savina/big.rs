//! Many actors that ping each other at random.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::big::{ACTORS, Others, WORK, each};
use lamprey::event::{Event, choose};
use lamprey::{Receiver, RecvError, Sender, channel};
use std::sync::Arc;

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_big",
    "120 actors each ping a random other one and wait for its pong, again and again; while an actor waits, to send or to receive, it \
     answers the pings of others; ns for each ping with its pong. tokio: mpsc::channel(1)",
    12_000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::rival("tokio", tokio_savina::big::tokio),
        Variant::go(),
    ],
);

/// The way to an actor.
struct Address {
    ping: Sender<usize>,
    pong: Sender<()>,
}

struct Actor {
    me: usize,
    all: Arc<[Address]>,
    pings: Receiver<usize>,
    pongs: Receiver<()>,
    /// The pings it has answered.
    answered: u64,
}

/// What an actor has waited for, or a ping from this actor.
enum Got<T> {
    Wanted(T),
    Ping(usize),
}

fn hosts(pings: u64) -> u64 {
    play(|actor, done, stopped| {
        let handle = lamprey::spawn(move || actor.play(pings, &done, &stopped));
        move || handle.join().expect("no actor panics")
    })
}

fn parasites(pings: u64) -> u64 {
    play(|actor, done, stopped| {
        let handle = lamprey::parasite(actor.play_async(pings, done, stopped));
        move || handle.join().expect("no actor panics")
    })
}

/// Starts all actors with `start`, which returns what joins one.
fn play<J: FnOnce() -> u64>(start: impl Fn(Actor, Sender<()>, Receiver<()>) -> J) -> u64 {
    let (all, receivers): (Vec<_>, Vec<_>) = (0..ACTORS).map(|_| address()).unzip();
    let all: Arc<[Address]> = all.into();
    let ((done, ended), (stop, stopped)) = (channel(), channel());
    let start = |(me, (pings, pongs))| {
        let actor = Actor { me, all: all.clone(), pings, pongs, answered: 0 };
        start(actor, done.clone(), stopped.clone())
    };
    let actors: Vec<_> = receivers.into_iter().enumerate().map(start).collect();
    (0..ACTORS).for_each(|_| ended.recv().expect("every actor reports"));
    drop(stop);
    actors.into_iter().map(|join| join()).sum()
}

fn address() -> (Address, (Receiver<usize>, Receiver<()>)) {
    let ((ping, pings), (pong, pongs)) = (channel(), channel());
    (Address { ping, pong }, (pings, pongs))
}

const WAITS: &str = "the pinger waits";

impl Actor {
    fn play(mut self, pings: u64, done: &Sender<()>, stopped: &Receiver<()>) -> u64 {
        let mut others = Others::of(self.me);
        let mut ponged = 0;
        for _ in 0..each(pings) {
            self.ping(others.draw());
            ponged += 1;
        }
        done.send(()).expect("the bench waits for all");
        while let Got::Ping(from) = self.or_ping(stopped.recv_evt()) {
            self.answer(from);
        }
        ponged + self.answered
    }

    /// Pings `other` and waits for the pong.
    fn ping(&mut self, other: usize) {
        let all = self.all.clone();
        while let Got::Ping(from) = self.or_ping(all[other].ping.send_evt(self.me)) {
            self.answer(from);
        }
        while let Got::Ping(from) = self.or_ping(self.pongs.recv_evt()) {
            self.answer(from);
        }
    }

    /// The pinger receives it, or will: it waits for nothing else than pings meanwhile, and answers each.
    fn answer(&mut self, from: usize) {
        self.all[from].pong.send(()).expect(WAITS);
        self.answered += 1;
    }

    async fn play_async(mut self, pings: u64, done: Sender<()>, stopped: Receiver<()>) -> u64 {
        let mut others = Others::of(self.me);
        let mut ponged = 0;
        for _ in 0..each(pings) {
            self.ping_async(others.draw()).await;
            ponged += 1;
        }
        done.send_async(()).await.expect("the bench waits for all");
        while let Got::Ping(from) = self.or_ping_async(stopped.recv_evt()).await {
            self.answer_async(from).await;
        }
        ponged + self.answered
    }

    async fn ping_async(&mut self, other: usize) {
        let all = self.all.clone();
        while let Got::Ping(from) = self.or_ping_async(all[other].ping.send_evt(self.me)).await {
            self.answer_async(from).await;
        }
        while let Got::Ping(from) = self.or_ping_async(self.pongs.recv_evt()).await {
            self.answer_async(from).await;
        }
    }

    async fn answer_async(&mut self, from: usize) {
        self.all[from].pong.send_async(()).await.expect(WAITS);
        self.answered += 1;
    }

    /// Waits for `event` or for a ping, whichever is first.
    fn or_ping<E: Event>(&self, event: E) -> Got<E::Output> {
        choose((event.wrap(Got::Wanted), self.pings.recv_evt().wrap(pinged))).sync()
    }

    async fn or_ping_async<E: Event>(&self, event: E) -> Got<E::Output> {
        choose((event.wrap(Got::Wanted), self.pings.recv_evt().wrap(pinged))).await
    }
}

fn pinged<T>(from: Result<usize, RecvError>) -> Got<T> {
    Got::Ping(from.expect("every actor can ping"))
}
