//! The kernel thread of the [ticker](super::ticker): its start, and its loop.

use super::affinity;
#[cfg(debug_assertions)]
use super::inspect::cycles;
use super::inspect::silent::StuckWatch;
use super::inspect::standstill;
use super::shared::Shared;
use super::ticker::{CALLED, FAST, OVER, PATIENCE, PERIOD, RESTING};
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
    let (mut stuck, mut deadlocks) = (None, None);
    #[cfg(debug_assertions)]
    let mut cycles = cycles::Watch::new();
    while let Some(shared) = shared.upgrade() {
        let stuck = stuck.get_or_insert_with(|| StuckWatch::new(&shared));
        let deadlocks = deadlocks.get_or_insert_with(|| standstill::Watch::new(&shared));
        let given_up = stuck.given_up();
        // Relaxed: a hint.
        if shared.awake.load(Ordering::Relaxed) > given_up {
            idle = 0;
            shared.ticker.rewind();
        } else {
            idle += 1;
        }
        if idle >= PATIENCE {
            shared.ticker.rest(&shared.awake, given_up);
        }
        let rest = deadlocks.rest();
        let start = Instant::now();
        let word = shared.ticker.sleep(rest.into_iter().chain((given_up != 0).then_some(PERIOD)).min());
        match word {
            OVER => return,
            CALLED => return super::inspect::overflowed::print(),
            RESTING => {
                if rest.is_some_and(|rest| start.elapsed() >= rest) {
                    deadlocks.look();
                    #[cfg(debug_assertions)]
                    cycles.look(&shared);
                }
                if given_up != 0 {
                    stuck.look(&shared);
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
            stuck.look(&shared);
            #[cfg(debug_assertions)]
            cycles.look(&shared);
        }
    }
}
