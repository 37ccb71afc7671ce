//! The cigarette smokers.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::Draw;
use crate::work::savina::smokers::{SMOKERS, WORK};
use lamprey::channel;

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_smokers",
    "an arbiter gives a cigarette to one of 200 smokers, at random, and waits to be told that it has been lit, again and again; ns for \
     each. tokio: mpsc::channel(1)",
    2000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::rival("tokio", tokio_savina::smokers::tokio),
        Variant::go(),
    ],
);

fn hosts(rounds: u64) -> u64 {
    let (lit, smokes) = channel();
    let smoker = |_| {
        let (give, cigarettes) = channel::<u64>();
        let lit = lit.clone();
        let smoker = lamprey::spawn(move || {
            let mut smoked = 0;
            for cigarette in cigarettes {
                lit.send(()).expect("the arbiter waits");
                smoked += cigarette;
            }
            smoked
        });
        (give, smoker)
    };
    let (table, smokers): (Vec<_>, Vec<_>) = (0..SMOKERS).map(smoker).unzip();
    let mut draw = Draw::new(1);
    for round in 0..rounds {
        table[draw.below(SMOKERS)].send(round).expect("a smoker waits");
        smokes.recv().expect("it lights the cigarette");
    }
    drop(table);
    smokers.into_iter().map(|smoker| smoker.join().expect("smoking does not panic")).sum()
}

/// The arbiter is a parasite, too.
fn parasites(rounds: u64) -> u64 {
    let (lit, smokes) = channel();
    let smoker = |_| {
        let (give, cigarettes) = channel::<u64>();
        let lit = lit.clone();
        let smoker = lamprey::parasite(async move {
            let mut smoked = 0;
            while let Ok(cigarette) = cigarettes.recv_async().await {
                lit.send_async(()).await.expect("the arbiter waits");
                smoked += cigarette;
            }
            smoked
        });
        (give, smoker)
    };
    let (table, smokers): (Vec<_>, Vec<_>) = (0..SMOKERS).map(smoker).unzip();
    let arbiter = lamprey::parasite(async move {
        let mut draw = Draw::new(1);
        for round in 0..rounds {
            table[draw.below(SMOKERS)].send_async(round).await.expect("a smoker waits");
            smokes.recv_async().await.expect("it lights the cigarette");
        }
    });
    arbiter.join().expect("the arbiter does not panic");
    smokers.into_iter().map(|smoker| smoker.join().expect("smoking does not panic")).sum()
}
