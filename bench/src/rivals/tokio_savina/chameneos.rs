//! Chameneos.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::chameneos::{CREATURES, Colour, WORK};
use ::tokio::sync::mpsc;
use ::tokio::task::JoinSet;
use anyhow::Result;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, mall)
}

async fn mall(meetings: u64) -> u64 {
    let (come, mut comers) = mpsc::channel::<(usize, Colour)>(1);
    let mut tell = Vec::new();
    let mut creatures = JoinSet::new();
    for me in 0..CREATURES {
        let (teller, mut told) = mpsc::channel(1);
        let come = come.clone();
        tell.push(teller);
        creatures.spawn(async move {
            let (mut colour, mut met) = (Colour::of(me), 0);
            while come.send((me, colour)).await.is_ok() {
                let Some(other) = told.recv().await else { break };
                colour = colour.after(other);
                met += 1;
            }
            met
        });
    }
    let mall = ::tokio::spawn(async move {
        for _ in 0..meetings {
            let one = comers.recv().await.expect("creatures come");
            let two = comers.recv().await.expect("creatures come");
            tell[one.0].send(two.1).await.expect("it waits");
            tell[two.0].send(one.1).await.expect("it waits");
        }
    });
    mall.await.expect("the mall does not panic");
    creatures.join_all().await.into_iter().sum()
}
