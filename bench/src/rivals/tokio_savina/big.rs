//! Many tasks that ping each other at random. `mpsc::Sender::send` loses nothing when another branch of
//! `select!` is first.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::big::{ACTORS, Others, WORK, each};
use ::tokio::select;
use ::tokio::sync::{mpsc, watch};
use ::tokio::task::JoinSet;
use anyhow::Result;
use std::sync::Arc;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, big)
}

/// The way to an actor.
struct Address {
    ping: mpsc::Sender<usize>,
    pong: mpsc::Sender<()>,
}

struct Actor {
    me: usize,
    all: Arc<[Address]>,
    pings: mpsc::Receiver<usize>,
    pongs: mpsc::Receiver<()>,
    /// The pings it has answered.
    answered: u64,
}

async fn big(pings: u64) -> u64 {
    let mut all = Vec::new();
    let mut receivers = Vec::new();
    for _ in 0..ACTORS {
        let ((ping, pings), (pong, pongs)) = (mpsc::channel(1), mpsc::channel(1));
        all.push(Address { ping, pong });
        receivers.push((pings, pongs));
    }
    let all: Arc<[Address]> = all.into();
    let (done, mut ended) = mpsc::channel(1);
    let (stop, stopped) = watch::channel(());
    let mut actors = JoinSet::new();
    for (me, (pings_, pongs)) in receivers.into_iter().enumerate() {
        let actor = Actor { me, all: all.clone(), pings: pings_, pongs, answered: 0 };
        actors.spawn(actor.play(each(pings), done.clone(), stopped.clone()));
    }
    for _ in 0..ACTORS {
        ended.recv().await.expect("every actor reports");
    }
    drop(stop);
    actors.join_all().await.into_iter().sum()
}

const CAN_PING: &str = "every actor can ping";

impl Actor {
    async fn play(mut self, pings: u64, done: mpsc::Sender<()>, mut stopped: watch::Receiver<()>) -> u64 {
        let mut others = Others::of(self.me);
        let mut ponged = 0;
        for _ in 0..pings {
            self.ping(others.draw()).await;
            ponged += 1;
        }
        done.send(()).await.expect("the bench waits for all");
        loop {
            select! {
                _closed = stopped.changed() => return ponged + self.answered,
                from = self.pings.recv() => self.answer(from.expect(CAN_PING)).await,
            }
        }
    }

    async fn ping(&mut self, other: usize) {
        let all = self.all.clone();
        loop {
            select! {
                sent = all[other].ping.send(self.me) => break sent.expect("no actor leaves yet"),
                from = self.pings.recv() => self.answer(from.expect(CAN_PING)).await,
            }
        }
        loop {
            select! {
                pong = self.pongs.recv() => break pong.expect("every actor can pong"),
                from = self.pings.recv() => self.answer(from.expect(CAN_PING)).await,
            }
        }
    }

    async fn answer(&mut self, from: usize) {
        self.all[from].pong.send(()).await.expect("the pinger waits");
        self.answered += 1;
    }
}
