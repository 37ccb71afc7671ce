//! turmoil: tokio's tasks on one host. Its scheduler is tokio's, in whose order chance has no part.

use crate::futures::{Counted, pair, polls};
use std::time::Duration;

/// The steps are polls.
pub fn simulate(seed: u64, pairs: u64, rounds: u64) -> u64 {
    polls();
    let mut builder = ::turmoil::Builder::new();
    let mut sim = builder.rng_seed(seed).simulation_duration(Duration::MAX).build();
    sim.client(
        "main",
        Counted::new(async move {
            let mut tasks = Vec::new();
            for _ in 0..pairs {
                let (pinger, echo) = pair(rounds);
                tasks.extend([tokio::spawn(echo), tokio::spawn(pinger)]);
            }
            for task in tasks {
                task.await?;
            }
            Ok(())
        }),
    );
    sim.run().expect("the program ends");
    polls()
}
