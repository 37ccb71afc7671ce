//! What others tell a worker while it works: how much time has passed, and that somebody is hungry
//! ([`super::offer`] says what for).
//!
//! # Invariants
//! A worker that is hungry is fed by one at most, until it is hungry again: whoever takes the hunger away
//! gives it something, or nothing.
//!
//! # Orderings
//! All Relaxed: neither carries data. What is given travels through the inbox of the hungry one
//! (Release/Acquire).
//!
//! # Checked by
//! `model::offer` (loom, with a broken variant that it catches).

use crate::sync_shim::{AtomicBool, AtomicU32, Ordering, left_out};

pub(crate) const REQUEST: u32 = 2;
pub(crate) const TICK: u32 = 4;

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Attention {
    word: AtomicU32,
    hungry: AtomicBool,
}

impl Attention {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(0), hungry: AtomicBool::new(false) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn word(&self) -> u32 {
        // Relaxed: a hint (see Orderings).
        self.word.load(Ordering::Relaxed)
    }

    /// Time passes.
    pub(crate) fn tick(&self) {
        // Relaxed: see Orderings.
        self.word.fetch_add(TICK, Ordering::Relaxed);
    }

    /// Somebody is hungry.
    pub(crate) fn request(&self) {
        // Relaxed: see Orderings.
        self.word.fetch_or(REQUEST, Ordering::Relaxed);
    }

    /// The request has been heard.
    pub(crate) fn hear(&self) {
        // Relaxed: see Orderings.
        self.word.fetch_and(!REQUEST, Ordering::Relaxed);
    }

    /// Its own worker is hungry.
    pub(crate) fn starve(&self) {
        // Relaxed: see Orderings.
        self.hungry.store(true, Ordering::Relaxed);
    }

    /// Takes the worker's hunger away; true if it was hungry.
    pub(crate) fn feed(&self) -> bool {
        // Relaxed: the flag only says who answers.
        if !self.hungry.load(Ordering::Relaxed) {
            return false;
        }
        if left_out!(OfferTwice) {
            // Relaxed: as above.
            self.hungry.store(false, Ordering::Relaxed);
            return true;
        }
        // Relaxed: as above.
        self.hungry.swap(false, Ordering::Relaxed)
    }
}
