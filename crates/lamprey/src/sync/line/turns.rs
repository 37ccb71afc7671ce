//! How long a kernel thread waits between two looks at a lock that others hold for moments, again and again.
//!
//! Each change of the worker that uses a lock costs some cache misses. So a thread that has to wait soon after
//! it had to wait before begins with a longer wait, and waits four times as long after each look. The other
//! worker uses the lock meanwhile at the price of an uncontended one: they take turns of a microsecond instead
//! of turns of one operation (as with a cohort lock, without a word for it in the lock). A thread that seldom
//! has to wait looks again after 100 ns, which is about as long as the shortest sections take.
//!
//! # Who may touch what
//! Each kernel thread has its own state, for all locks.
//!
//! # Rejected
//! * To begin with 100 ns always: whether the first look finds the lock free between two sections of the
//!   other worker depends on where code and data lie. `mutex` with two workers took 14 ns in one build, and 50
//!   in the next one.
//! * A number of the CPU's pause instructions: one takes 15 ns on one kind of CPU and 50 ns on another.
//! * A wait that is soon if it comes within some times the length of the last one: long waits then bring about
//!   longer ones.
//! * The same for [`EDIT`](super): its sections follow each other too closely, and hosts that meet at
//!   semaphores took three times as long.
//!
//! # Checked by
//! `bench` (`mutex`). The checker's threads do not spin.

use crate::sync_shim::back_off;
use crate::time::clock;
use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Duration;

/// The looks of one thread that waits.
pub(super) struct Turns {
    rounds: u32,
}

/// The most rounds that a wait begins with: those of the longest wait ([`back_off`]).
const LONGEST: u32 = 4;
/// A wait that begins so soon after the last one begins with a longer pause.
static SOON: LazyLock<u64> = LazyLock::new(|| clock::in_ticks(Duration::from_micros(1)));

thread_local! {
    /// The rounds that the last wait began with, and when it ended; 0 if it was in vain.
    static LAST: Cell<(u32, u64)> = const { Cell::new((1, 0)) };
}

impl Turns {
    /// To be made by a thread that has to wait.
    pub(super) fn new() -> Self {
        let (rounds, ended) = LAST.get();
        let is_soon = ended != 0 && clock::ticks().wrapping_sub(ended) < *SOON;
        let rounds = if is_soon { (rounds + 1).min(LONGEST) } else { (rounds - 1).max(1) };
        LAST.set((rounds, 0));
        Self { rounds }
    }

    /// Waits; the caller looks again afterwards.
    pub(super) fn wait(&mut self) {
        back_off(&mut self.rounds);
    }

    /// The caller has what it has waited for.
    pub(super) fn end(self) {
        LAST.set((LAST.get().0, clock::ticks()));
    }
}
