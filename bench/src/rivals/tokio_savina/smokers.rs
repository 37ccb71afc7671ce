//! The cigarette smokers.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::Draw;
use crate::work::savina::smokers::{SMOKERS, WORK};
use ::tokio::sync::mpsc;
use ::tokio::task::JoinSet;
use anyhow::Result;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, arbiter)
}

async fn arbiter(rounds: u64) -> u64 {
    let (lit, mut smokes) = mpsc::channel(1);
    let mut table = Vec::new();
    let mut smokers = JoinSet::new();
    for _ in 0..SMOKERS {
        let (give, mut cigarettes) = mpsc::channel::<u64>(1);
        let lit = lit.clone();
        table.push(give);
        smokers.spawn(async move {
            let mut smoked = 0;
            while let Some(cigarette) = cigarettes.recv().await {
                lit.send(()).await.expect("the arbiter waits");
                smoked += cigarette;
            }
            smoked
        });
    }
    let mut draw = Draw::new(1);
    for round in 0..rounds {
        table[draw.below(SMOKERS)].send(round).await.expect("a smoker waits");
        smokes.recv().await.expect("it lights the cigarette");
    }
    drop(table);
    smokers.join_all().await.into_iter().sum()
}
