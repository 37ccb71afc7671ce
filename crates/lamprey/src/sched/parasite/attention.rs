//! The flags that other threads set for a worker while it works: how many ticks have passed, and that an idle
//! worker asks for work ([`super::offer`] says how they are used). Go's counterpart is the preemption request
//! of a P.
//!
//! # Invariants
//! At most one worker offers work for each request: the worker that clears `wants_work` offers one parasite,
//! or none.
//!
//! # Orderings
//! All Relaxed: neither word carries data. What is offered travels through the inbox of the worker that asked
//! (Release/Acquire).
//!
//! # Checked by
//! `model::offer` (loom, with a broken variant that it catches).

use crate::sync_shim::{AtomicBool, AtomicU32, Ordering, left_out};

pub(crate) const REQUEST: u32 = 2;
pub(crate) const TICK: u32 = 4;

/// The attention word of a worker, and whether the worker asks for work.
#[derive(Debug)]
pub(crate) struct Attention {
    word: AtomicU32,
    wants_work: AtomicBool,
}

impl Attention {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(0), wants_work: AtomicBool::new(false) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn word(&self) -> u32 {
        // Relaxed: a hint; no data travels with it.
        self.word.load(Ordering::Relaxed)
    }

    /// The ticker: adds a tick.
    pub(crate) fn tick(&self) {
        // Relaxed: no data travels with it.
        self.word.fetch_add(TICK, Ordering::Relaxed);
    }

    /// An idle worker: asks this worker for work.
    pub(crate) fn request(&self) {
        // Relaxed: no data travels with it.
        self.word.fetch_or(REQUEST, Ordering::Relaxed);
    }

    /// The worker has seen the request.
    pub(crate) fn hear(&self) {
        // Relaxed: no data travels with it.
        self.word.fetch_and(!REQUEST, Ordering::Relaxed);
    }

    /// The worker itself is idle, and asks for work.
    pub(crate) fn ask_for_work(&self) {
        // Relaxed: no data travels with it.
        self.wants_work.store(true, Ordering::Relaxed);
    }

    /// Clears `wants_work`; true if this call has cleared it, so that the caller offers work.
    pub(crate) fn take_request(&self) -> bool {
        // Relaxed: the flag only decides which thread answers.
        if !self.wants_work.load(Ordering::Relaxed) {
            return false;
        }
        if left_out!(OfferTwice) {
            // Relaxed: the flag only decides which thread answers.
            self.wants_work.store(false, Ordering::Relaxed);
            return true;
        }
        // Relaxed: the flag only decides which thread answers.
        self.wants_work.swap(false, Ordering::Relaxed)
    }
}
