//! Turns for calls that do not have to wait: hosts whose channels are always ready, or that only try, never
//! come to a scheduling point by themselves. So calls are counted, and every so often one looks at the clock,
//! and lets the others and the root go first if these have not run for a while.
//!
//! # Who gives way
//! * A call that **may block** ([`call`], [`turn`]), before it does anything, if its thread has made such
//!   calls for [`LIMIT`] without a scheduling point. (Not its first one, however long it has computed before:
//!   who spawns a host and yields may trust that it has come to its first call that waits. A stackful
//!   parasite counts on from the one that ended before it on the same context.) Where the documentation says
//!   that it unwinds when its thread is cancelled, it does that then, too; a lock that is free is taken.
//! * A call that **never waits** does not: its caller may hold a lock of `std`, which another host of the
//!   worker would wait for on the kernel thread, for ever. But who tries in vain ([`tried`]) time and again,
//!   [`TRIES`] times and for [`TRY_LIMIT`], waits, and gives way.
//! * A **parasite that ends at once** is a call of the program's own: neither its start nor its join counts.
//!   Of a host that does nothing else for milliseconds, one join does ([`starts`](super::parasite::starts)).
//!
//! Nobody does where its thread must not switch: on the root, in a waker, a policy or a notifier, while it
//! unwinds. Futures have turns of their own ([`attach`](super::parasite::attach)).
//!
//! # How often the clock is looked at
//! By the first call after a visit of the root, then after two, four, up to [`CALLS`]: so a host that
//! computes for a millisecond before each call is found out by its second, and one that sends a message each
//! 10 ns looks at the clock for a fraction of a percent of its time.
//!
//! # Rejected
//! * To look at the word that the ticker changes: a load through the seat's address instead of a count next
//!   to `running`.
//! * To count each rendezvous: a ping-pong was 10 % slower. One that happens with a host of this worker needs
//!   no count: that host has blocked, so a scheduling point has been reached in between.
//! * To let each call that never waits give way after 2 ms: `jobs.lock().unwrap().try_recv()`, with a mutex
//!   of `std`, then stopped the worker.
//! * To let the start of a parasite give way: the same, and those that are nested were taken apart (a
//!   quicksort was 5 to 17 % slower). To count the joins of those that have ended at once: 0.6 ns of 4.7.
//!
//! # Checked by
//! `tests/sched/coop.rs`, `tests/sched/starts.rs`; `bench` (`stream_bounded`, `pingpong`, `mutex`).

#[cfg(not(loom))]
use super::worker::turns::{CALLS, LIMIT, TRIES, TRY_LIMIT};
#[cfg(not(loom))]
use super::{must_not_block, unwind_cancelled, worker::Worker};
#[cfg(not(loom))]
use crate::time::clock;

/// What a call weighs that takes as long as a message; between two looks at the clock there are at most
/// [`CALLS`] of that weight.
pub(crate) const MESSAGE: u32 = 1;
/// Of a system call.
#[cfg(not(loom))]
pub(crate) const SYSTEM: u32 = 4;
/// Of a system call that copies hundreds of kilobytes.
#[cfg(not(loom))]
pub(crate) const COPY: u32 = CALLS;

/// A call begins that may block, and is to unwind if its thread is cancelled.
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

/// A call begins that may block, but is done if it need not, also by a thread that is cancelled.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn turn() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        worker.count_call();
    }
}

/// A rendezvous has happened at once, and not with a host of this worker (which had to run to get there). The
/// value is in hand, so this is no place to be cancelled. It looks the worker up again, out of line: a
/// register that holds it until here costs each rendezvous 0.3 ns.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn call_is_done() {
    turn();
}

/// As [`turn`], for calls that cost too little to be counted: those that are due give way.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn turn_if_due() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.turns.calls.get() <= MESSAGE
    {
        worker.look_in_call();
    }
}

/// A call that may block has done a part of what it is to do. False if its thread is cancelled: it reports
/// that part.
#[cfg(not(loom))]
pub(crate) fn call_in_the_middle(weight: u32) -> bool {
    let Some(worker) = Worker::current() else { return true };
    !worker.has_spent(weight) || worker.look_in_call()
}

/// A call that never waits has been made, perhaps in vain. What it gives is returned.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn tried<T>(result: T, is_in_vain: impl FnOnce(&T) -> bool) -> T {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        if is_in_vain(&result) {
            worker.try_in_vain();
        } else {
            worker.turns.tries.set(TRIES);
        }
    }
    #[cfg(loom)]
    let _ = is_in_vain;
    result
}

#[cfg(not(loom))]
impl Worker {
    /// The root has run, and a host is next: whatever way led to the root, it ends here, so nobody's look
    /// outlives its visit.
    pub(super) fn begin_turns(&self) {
        self.turns.calls.set(1);
        self.turns.window.set(1);
        self.turns.tries.set(TRIES);
        self.forget_spell();
    }

    /// A scheduling point that the count of those that are left does not tell from the one before: the budget
    /// begins anew.
    pub(super) fn forget_spell(&self) {
        self.turns.looker.set((std::ptr::null(), 0));
        self.parasites.starts.forget();
    }

    /// As [`turn`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_call(&self) {
        if self.has_spent(MESSAGE) {
            self.look_in_call();
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_spent(&self, weight: u32) -> bool {
        let left = self.turns.calls.get();
        self.turns.calls.set(left.wrapping_sub(weight));
        left <= weight
    }

    /// The running thread's next call gives way, if it is one that may block.
    pub(super) fn give_way_at_next_call(&self, now: u64) {
        self.turns.calls.set(1);
        self.turns.looker.set((self.running().as_ptr(), self.budget.get()));
        self.turns.looked.set(now.wrapping_sub(self.turns.limit));
    }

    /// False if the running thread is cancelled.
    #[cold]
    #[inline(never)]
    fn look_in_call(&self) -> bool {
        let turns = &self.turns;
        let window = (turns.window.get() * 2).min(CALLS);
        turns.window.set(window);
        self.turns.calls.set(window);
        let now = clock::ticks();
        if !self.has_looked(now) {
            if self.since_root(now) >= turns.limit {
                self.turns.calls.set(1);
            }
            return true;
        }
        let is_waited_for =
            now.wrapping_sub(turns.looked.get()) >= turns.limit || !self.seat.inbox.is_empty();
        !(is_waited_for && self.let_others_go_first() && super::is_cancelled())
    }

    /// True if the running thread has looked before, and has come to no scheduling point since; if not, this
    /// is its first look.
    fn has_looked(&self, now: u64) -> bool {
        let turns = &self.turns;
        let looker = (self.running().as_ptr().cast_const(), self.budget.get());
        if turns.looker.replace(looker) == looker {
            return true;
        }
        turns.looked.set(now);
        false
    }

    #[cold]
    fn try_in_vain(&self) {
        let left = self.turns.tries.get() - 1;
        self.turns.tries.set(if left == 0 { TRIES } else { left });
        let limit = self.turns.limit * (TRY_LIMIT.as_micros() / LIMIT.as_micros()) as u64;
        if left == 0 && self.since_root(clock::ticks()) >= limit {
            self.let_others_go_first();
        }
    }

    pub(super) fn cannot_give_way(&self) -> bool {
        let me = self.running_ref();
        me.is_barred() || me.is_open() || must_not_block()
    }

    fn since_root(&self, now: u64) -> u64 {
        now.wrapping_sub(self.rounds.polled.get())
    }

    /// False, and nothing done, where the running thread must not switch.
    fn let_others_go_first(&self) -> bool {
        if self.cannot_give_way() {
            return false;
        }
        let me = self.running_ref();
        if me.below.get().is_null() {
            self.give_way_to_root(me);
        } else if !me.is_cancelled() {
            self.yield_now(); // to the thread below
        }
        true
    }
}
