//! A host that starts one parasite after the other, all of which end at once, comes to no scheduling point, and pays for no count either: a start is
//! a call. But each start sees the ticks of the attention word ([`offer`](super::offer)). Where one host's starts have seen [`TICKS`] in a row, each of them, without a
//! scheduling point, the next parasite is put off: queued, or started as a host. Who joins it waits, and so the root and the other hosts run.
//!
//! Who computes between two starts for longer than a tick is not meant: its parasites start at once.
//!
//! # Invariants
//! A parasite that is put off is waited for by calls that may wait anyway. The start itself never gives way: its caller may hold a lock of `std`.
//!
//! # Checked by
//! `tests/coop.rs` (`parasites_alone`).

use super::thread::Thread;
use super::worker::Worker;
use std::cell::Cell;
use std::ptr;

/// A tick is a quarter of a time slice, so others wait for less than a slice.
const TICKS: u32 = 2;

/// What a worker has seen at the starts of parasites. The worker's alone.
#[derive(Debug)]
pub(super) struct Starts {
    /// The host, and how many scheduling points were left then until the root is due.
    host: Cell<(*const Thread, u32)>,
    /// The last tick, and how many have been seen in a row before it.
    tick: Cell<u32>,
    in_a_row: Cell<u32>,
}

impl Starts {
    pub(super) fn new() -> Self {
        Self { host: Cell::new((ptr::null(), 0)), tick: Cell::new(0), in_a_row: Cell::new(0) }
    }

    /// The root has run.
    pub(super) fn forget(&self) {
        self.host.set((ptr::null(), 0));
    }

    /// True if this start is the one too many.
    fn see(&self, host: (*const Thread, u32), tick: u32) -> bool {
        let passed = tick.wrapping_sub(self.tick.replace(tick));
        let in_a_row = match passed {
            _ if self.host.replace(host) != host => 0,
            0 | 1 => self.in_a_row.get() + passed,
            _ => 0,
        };
        self.in_a_row.set(in_a_row);
        in_a_row >= TICKS
    }
}

impl Worker {
    /// A parasite is to start, and the attention word has changed: true if it is to be put off.
    pub(super) fn puts_off(&self) -> bool {
        if !self.shared.options.offering || self.cannot_give_way() {
            return false;
        }
        let puts_off =
            self.starts.see((self.bottom(), self.budget.get()), self.seat.ticks() / super::attention::TICK);
        if puts_off {
            self.starts.forget();
            self.turn.set(0);
            self.budget.set(1);
        }
        puts_off
    }

    /// The host below all attached parasites: it starts parasites, at whatever depth. Only compared.
    fn bottom(&self) -> *const Thread {
        let mut bottom = self.running_ref();
        // SAFETY: it goes on when the one above it blocks or ends, so it is alive; both are this worker's.
        while let Some(below) = unsafe { bottom.below.get().as_ref() } {
            bottom = below;
        }
        bottom
    }
}
