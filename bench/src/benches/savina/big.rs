//! Many actors that ping each other at random.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::big::{ACTORS, Others, WORK, each};
use lamprey::event::{Event, choose};
use lamprey::{Receiver, Sender, channel};
use std::sync::Arc;

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_big",
    "120 actors each ping a random other one and wait for its pong, again and again; while an actor waits, to send or to receive, it \
     answers the pings of others; ns for each ping with its pong. tokio: mpsc::channel(1)",
    12_000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, lamprey)),
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

fn lamprey(pings: u64) -> u64 {
    let mut all = Vec::new();
    let mut receivers = Vec::new();
    for _ in 0..ACTORS {
        let ((ping, pings), (pong, pongs)) = (channel(), channel());
        all.push(Address { ping, pong });
        receivers.push((pings, pongs));
    }
    let all: Arc<[Address]> = all.into();
    let ((done, ended), (stop, stopped)) = (channel(), channel::<()>());
    let start = |(me, (pings_, pongs))| {
        let mut actor = Actor { me, all: all.clone(), pings: pings_, pongs, answered: 0 };
        let (done, stopped) = (done.clone(), stopped.clone());
        lamprey::spawn(move || {
            let got = (0..each(pings)).scan(Others::of(me), |others, _| Some(others.draw()));
            let got = got.map(|other| actor.ping(other)).count() as u64;
            done.send(()).expect("the bench waits for all");
            while let Got::Ping(from) = actor.or_ping(stopped.recv_evt()) {
                actor.answer(from);
            }
            got + actor.answered
        })
    };
    let actors: Vec<_> = receivers.into_iter().enumerate().map(start).collect();
    (0..ACTORS).for_each(|_| ended.recv().expect("every actor reports"));
    drop(stop);
    actors.into_iter().map(|actor| actor.join().expect("no actor panics")).sum()
}

impl Actor {
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

    /// Waits for `event` or for a ping, whichever is first.
    fn or_ping<E: Event>(&self, event: E) -> Got<E::Output> {
        let ping = self.pings.recv_evt().wrap(|from| Got::Ping(from.expect("every actor can ping")));
        choose((event.wrap(Got::Wanted), ping)).sync()
    }

    /// The pinger receives it, or will: it waits for nothing else than pings meanwhile, and answers each.
    fn answer(&mut self, from: usize) {
        self.all[from].pong.send(()).expect("the pinger waits");
        self.answered += 1;
    }
}
