//! Turns for calls that do not have to wait: hosts whose channels are always ready, or that only try, never come to a scheduling point by
//! themselves. So calls are counted, and every so often one looks at the clock, and lets the others and the root go first
//! if these have not run for a while.
//!
//! # Who gives way
//! * A **blocking call** ([`call`]), before it does anything, after [`LIMIT`]. It is then a place to be cancelled, too.
//! * One that **never waits** ([`try_call`]: `try_recv`, the start of a parasite), after [`TRY_LIMIT`], because nobody expects it to; and not
//!   in a parasite that runs on top of a host: those that are nested would be taken apart (a quicksort was 5 to 17 % slower). It is not a place to
//!   be cancelled.
//!
//! Neither does where its thread must not switch: on the root, in a waker, a policy or a notifier, while it unwinds.
//! Futures have turns of their own ([`attach`](super::attach)).
//!
//! # Rejected
//! * To look at the word that the ticker changes: a load through the seat's address instead of a count next to `running`.
//! * To count each rendezvous: a ping-pong was 10 % slower. One that happens with a host of this worker needs no count: that host has
//!   blocked, so a scheduling point has been reached in between.
//!
//! # Checked by
//! `tests/coop.rs`; `bench` (`stream`, `pingpong`).

#[cfg(not(loom))]
use super::{clock, must_not_block, unwind_cancelled, worker::Worker};
#[cfg(not(loom))]
use std::time::Duration;

/// What a call weighs that takes as long as a message; between two looks at the clock there are [`CALLS`] of that weight.
pub(crate) const MESSAGE: u32 = 1;
/// Of a system call.
#[cfg(not(loom))]
pub(crate) const SYSTEM: u32 = 16;
/// Of a system call that copies hundreds of kilobytes.
#[cfg(not(loom))]
pub(crate) const COPY: u32 = 64;

#[cfg(not(loom))]
pub(super) const CALLS: u32 = 128;
/// How long after its last visit the root goes before a blocking call.
#[cfg(not(loom))]
const LIMIT: Duration = Duration::from_micros(200);
/// The same, of a call that never waits.
#[cfg(not(loom))]
const TRY_LIMIT: Duration = Duration::from_millis(2);

/// A call begins that may block.
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(loom, expect(unused_variables, reason = "hosts of the checker are not held up"))]
pub(crate) fn call(weight: u32) {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.has_spent(weight)
        && !worker.look_in_call()
    {
        unwind_cancelled();
    }
}

/// A call that may block has done a part of what it is to do. False if its thread is cancelled: it reports that part.
#[cfg(not(loom))]
pub(crate) fn call_in_the_middle(weight: u32) -> bool {
    let Some(worker) = Worker::current() else { return true };
    !worker.has_spent(weight) || worker.look_in_call()
}

/// A call begins that never waits.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn try_call() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.has_spent(MESSAGE)
    {
        worker.look_in_try_call();
    }
}

#[cfg(not(loom))]
impl Worker {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_spent(&self, weight: u32) -> bool {
        let left = self.calls.get();
        self.calls.set(left.wrapping_sub(weight));
        left <= weight
    }

    /// A rendezvous has happened at once, and not with a host of this worker (which had to run to get there). The value is in hand, so this is no
    /// place to be cancelled.
    #[inline(never)]
    pub(crate) fn call_is_done(&self) {
        if self.has_spent(MESSAGE) {
            self.look_in_call();
        }
    }

    /// False if the running thread is cancelled.
    #[cold]
    #[inline(never)]
    fn look_in_call(&self) -> bool {
        self.calls.set(CALLS);
        let is_waited_for = self.since_root() >= self.coop_limit || !self.seat.inbox.is_empty();
        !(is_waited_for && self.let_others_go_first() && super::is_cancelled())
    }

    /// Also at the start of a parasite, whenever the ticker has run.
    #[cold]
    #[inline(never)]
    pub(super) fn look_in_try_call(&self) {
        self.calls.set(CALLS);
        let limit = self.coop_limit * (TRY_LIMIT.as_micros() / LIMIT.as_micros()) as u64;
        let me = self.running_ref();
        let is_on_top = !me.below.get().is_null() || me.polled().is_some();
        if !is_on_top && self.since_root() >= limit {
            self.let_others_go_first();
        }
    }

    fn since_root(&self) -> u64 {
        clock::ticks().wrapping_sub(self.polled.get())
    }

    /// False, and nothing done, where the running thread must not switch.
    fn let_others_go_first(&self) -> bool {
        let me = self.running_ref();
        if me.is_barred() || me.is_open() || must_not_block() {
            return false;
        }
        if me.below.get().is_null() {
            self.give_way_to_root(me);
        } else if !me.is_cancelled() {
            self.yield_now(); // to the thread below
        }
        true
    }

    /// [`LIMIT`] in ticks.
    pub(super) fn coop_limit() -> u64 {
        clock::in_ticks(LIMIT)
    }
}
