//! The signals that have come and that nobody has taken yet, and the eventfd that says so.
//!
//! # States
//! A bit for each signal: set by the handler, cleared by the thread that takes it. The eventfd is readable, or not.
//!
//! # Invariants
//! While a bit is set, the eventfd is readable, or a thread is about to write to it: a handler between the bit and the
//! write, or a thread that takes a signal, between its read of the eventfd and its look at the bits, or at the others.
//! So a thread that finds no bit may sleep until the eventfd is readable.
//!
//! # Who may touch what
//! [`set`](Pending::set) runs in a signal handler: one read-modify-write and one `write(2)`, no lock and no memory.
//! [`take`](Pending::take) may be called by any thread at any time.
//!
//! # Orderings
//! The bit is set with Release and cleared with Acquire, so whoever takes a signal sees what its sender did before. Bit
//! and eventfd are ordered by the kernel's lock of the eventfd: a thread whose read has reset the counter sees the bits
//! of all handlers that have written before that.
//!
//! # Rejected
//! * Reading the eventfd before the first look at the bits: a system call for each signal that is there already.
//! * Never reading it, which is enough for an epoll that reports edges: threads in `poll(2)` would not sleep.
//! * A count for each signal: the kernel itself merges signals that come before the handler has run.
//!
//! # Checked by
//! `model::signal` (loom, with broken variants that it catches), `tests/signal.rs`.

use crate::sync_shim::{AtomicU64, Ordering, left_out};

/// The counter of an eventfd. A trait, because the checker has no eventfd.
pub(crate) trait Counter {
    /// Adds one: it is readable from now on. Runs in signal handlers.
    fn add(&self);
    /// Sets it to 0: it is not readable until the next `add`.
    fn reset(&self);
}

/// Signals 1 to 64 as bits 0 to 63, and the counter that tells of them.
#[derive(Debug)]
pub(crate) struct Pending<C> {
    bits: AtomicU64,
    pub(crate) counter: C,
}

impl<C: Counter> Pending<C> {
    pub(crate) fn new(counter: C) -> Self {
        Self { bits: AtomicU64::new(0), counter }
    }

    /// A signal has come. Async-signal-safe if `add` is.
    pub(crate) fn set(&self, bit: u32) {
        // Release pairs with the Acquire in `first`.
        self.bits.fetch_or(1 << bit, Ordering::Release);
        self.counter.add();
    }

    /// Takes the signal with the lowest number. After `None` the counter is readable as soon as there is one.
    pub(crate) fn take(&self) -> Option<u32> {
        if let Some((bit, _)) = self.first() {
            return Some(bit);
        }
        self.counter.reset();
        if left_out!(SignalLook) {
            return None;
        }
        let (bit, others) = self.first()?;
        if others != 0 && !left_out!(SignalOthers) {
            // Another thread may wait for the write that has just been read.
            self.counter.add();
        }
        Some(bit)
    }

    /// Clears the lowest bit; also returns the others.
    fn first(&self) -> Option<(u32, u64)> {
        // Relaxed: the exchange decides.
        let mut bits = self.bits.load(Ordering::Relaxed);
        while bits != 0 {
            let others = bits & (bits - 1);
            // Acquire pairs with the Release in `set`; Relaxed: a failure publishes nothing.
            match self.bits.compare_exchange(bits, others, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some((bits.trailing_zeros(), others)),
                Err(now) => bits = now,
            }
        }
        None
    }
}
