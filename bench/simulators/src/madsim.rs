//! madsim: tasks of its executor on one node, which takes any that is ready.

use crate::futures::{Counted, pair, polls};
use madsim::runtime::Runtime;

/// The steps are polls.
pub fn simulate(seed: u64, pairs: u64, rounds: u64) -> u64 {
    polls();
    Runtime::with_seed_and_config(seed, madsim::Config::default()).block_on(Counted::new(async move {
        let mut tasks = Vec::new();
        for _ in 0..pairs {
            let (pinger, echo) = pair(rounds);
            tasks.extend([madsim::task::spawn(echo), madsim::task::spawn(pinger)]);
        }
        for task in tasks {
            task.await.expect("no task panics");
        }
    }));
    polls()
}
