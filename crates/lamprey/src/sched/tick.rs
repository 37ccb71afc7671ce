//! The kernel thread of the [ticker](super::ticker): its start, and its loop.

use super::affinity;
use super::inspect::silent::StuckWatch;
use super::inspect::standstill;
use super::shared::Shared;
use super::ticker::{CALLED, FAST, OVER, PATIENCE, RESTING};
use crate::sync_shim::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Starts the kernel thread. If it cannot be started, there are no ticks: parasites are not inflated for
/// their time slice, and held-up workers are not reported.
pub(super) fn start(shared: &Arc<Shared>) {
    let weak = Arc::downgrade(shared);
    let thread = std::thread::Builder::new().name("lamprey-tick".to_owned());
    if thread.spawn(affinity::unpinned(move || tick(&weak))).is_err() {
        // Relaxed: a hint; no thread sleeps on the word.
        shared.ticker.word.store(OVER, Ordering::Relaxed);
    }
}

/// The loop. It holds a count of the runtime's shared part only within an iteration, sleep included, so the
/// runtime is freed at the latest one iteration after its end.
fn tick(shared: &Weak<Shared>) {
    let (mut idle, mut since_look, mut since_tick) = (0, 0, 0);
    let (mut sights, mut deadlocks) = (None, None);
    while let Some(shared) = shared.upgrade() {
        let deadlocks = deadlocks.get_or_insert_with(|| standstill::Watch::new(&shared));
        // Relaxed: a hint.
        let is_busy = shared.awake.load(Ordering::Relaxed) != 0;
        idle = if is_busy { 0 } else { idle + 1 };
        if idle >= PATIENCE {
            shared.ticker.rest(&shared.awake);
        }
        let rest = deadlocks.rest();
        let start = Instant::now();
        let word = shared.ticker.sleep(rest);
        match word {
            OVER => return,
            CALLED => return super::inspect::overflowed::print(),
            RESTING => {
                if rest.is_some_and(|rest| start.elapsed() >= rest) {
                    deadlocks.look();
                }
                continue;
            }
            _ => deadlocks.begin_anew(),
        }
        since_tick += 1;
        if word == FAST && since_tick >= shared.ticker.pauses_in_slice() {
            since_tick = 0;
            shared.remotes().iter().for_each(|remote| remote.attention.tick());
        }
        since_look += 1;
        if since_look >= shared.ticker.pauses_in_period(word) {
            since_look = 0;
            sights.get_or_insert_with(|| StuckWatch::new(&shared)).look(&shared);
        }
    }
}
