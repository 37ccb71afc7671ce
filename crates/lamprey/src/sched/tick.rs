//! The kernel thread of the [ticker](super::ticker).

use super::inspect::silent::Sights;
use super::shared::Shared;
use super::ticker::{CALLED, FAST, OVER, PATIENCE};
use crate::sync_shim::Ordering;
use std::sync::{Arc, Weak};

/// Starts the kernel thread. Without one to be had, nobody ticks: parasites are not inflated, and nobody
/// is reported.
pub(super) fn start(shared: &Arc<Shared>) {
    let weak = Arc::downgrade(shared);
    let thread = std::thread::Builder::new().name("lamprey-tick".to_owned());
    if thread.spawn(move || tick(&weak)).is_err() {
        // Relaxed: a hint; nobody is woken.
        shared.ticker.word.store(OVER, Ordering::Relaxed);
    }
}

/// The ticker's kernel thread. It keeps the runtime's shared part alive only while it waits.
fn tick(shared: &Weak<Shared>) {
    let (mut idle, mut since_look, mut since_tick) = (0, 0, 0);
    let mut sights = None;
    while let Some(shared) = shared.upgrade() {
        // Relaxed: a hint.
        let is_busy = shared.awake.load(Ordering::Relaxed) != 0;
        idle = if is_busy { 0 } else { idle + 1 };
        if idle >= PATIENCE {
            shared.ticker.rest(&shared.awake);
        }
        let word = shared.ticker.sleep();
        match word {
            OVER => return,
            CALLED => return super::inspect::overflowed::print(),
            _ => {}
        }
        since_tick += 1;
        if word == FAST && since_tick >= shared.ticker.pauses_in_slice() {
            since_tick = 0;
            shared.seats().iter().for_each(|seat| seat.attention.tick());
        }
        since_look += 1;
        if since_look >= shared.ticker.pauses_in_period(word) {
            since_look = 0;
            sights.get_or_insert_with(|| Sights::new(&shared)).look(&shared);
        }
    }
}
