//! Cooperative yielding of calls that do not have to wait. A host whose channels are always ready, or that
//! only tries, never reaches a scheduling point, and there is no preemption. So such calls are counted; every
//! so often one looks at the clock, and yields to the other threads and the root if these have not run for a
//! while (compare tokio's `coop` budget).
//!
//! # Which calls yield
//! * A call that **may block** ([`call`], [`turn`]), before it does anything, if its thread has made such
//!   calls for [`LIMIT`] without a scheduling point. (Not the thread's first such call, however long it has
//!   computed before: a thread that spawns a host and yields may rely on the host having reached its first
//!   call that waits. A stackful parasite continues the count of the one that ended before it on the same
//!   context.) If the call is documented to unwind when its thread is cancelled, it also does so at this
//!   point; a lock that is free is taken.
//! * A call that **never waits** does not: its caller may hold a lock of `std`, which another host of the
//!   worker would wait for on the kernel thread, for ever. But a thread that fails in such calls again and
//!   again ([`tried`]), or only looks ([`look`]), [`TRIES`] times and then for [`TRY_LIMIT`], is waiting, and
//!   yields. A call that succeeds and changes something begins the count anew, and so does a scheduling point
//!   or the next poll of a task; one that looks does not, nor does a lock that was free, or a permit: what is
//!   behind it may be what the thread waits for.
//! * An **order** that may be given again without effect does not count: `cancel`, `close` and `shutdown` once more, a notification that
//!   nobody waits for, no permits, a setting, a read or write of no bytes that needs no call. It waits for nothing, and is too
//!   cheap, or holds too much, to be counted. Orders that are refused before any call (a path with a zero byte, no address) do.
//! * A look at the **clock** does not count: nobody waits for another thread that way, and libraries read it
//!   under their locks (hyper does, for each frame). Only in a simulation, whose time stands still until all
//!   wait, many of them do.
//! * A **parasite that ends at once** is like a function call: neither its start nor its join counts. In a
//!   host that does nothing else for milliseconds, one join does ([`starts`](super::parasite::starts)).
//!
//! * A **lock of a mutex** is such a call, but a thread that yields while it holds another lock makes all
//!   wait that want it, and those who want theirs. So a thread whose time is over takes the lock and goes
//!   on, and yields in its next call of `lock` after it has released that one ([`turn_of_lock`]). It may
//!   still hold one that it took before: the count of its locks is not known.
//!
//! No call yields where its thread must not switch: on the root, in a waker, a policy or a notifier, while it
//! unwinds. Futures are budgeted separately ([`attach`](super::parasite::attach)).
//!
//! # How often the clock is read
//! By the first call after a run of the root, then after two, four, up to [`CALLS`] calls: so a host that
//! computes for a millisecond before each call is detected at its second call, and one that sends a message
//! each 10 ns spends a fraction of a percent of its time on the clock.
//!
//! # Rejected
//! * Reading the word that the ticker changes: a load through the address of the worker-shared state instead
//!   of a count next to `running`.
//! * Counting each rendezvous: a ping-pong was 10 % slower. A rendezvous with a host of this worker needs no
//!   count: that host has blocked, so a scheduling point lies in between.
//! * Counting the locks that each thread holds: a nanosecond for each pair of lock and unlock, of 8.
//!   Without any such rule, 20 philosophers at a table, ten on each worker, needed 28 ns for a meal that
//!   takes 17 where no fork is shared: chains of ten waited for one that had yielded.
//! * Letting each call that never waits yield after 2 ms: `jobs.lock().unwrap().try_recv()`, with a mutex of
//!   `std`, then stopped the worker.
//! * Letting the start of a parasite yield: the same problem, and nested starts were separated (a quicksort
//!   was 5 to 17 % slower). Counting the joins of those that have ended at once: 0.6 ns of 4.7.
//!
//! # Checked by
//! `tests/sched/coop.rs`, `tests/tries` (each public call that tries or looks), `tests/sched/starts.rs`; `bench` (`stream_bounded`, `pingpong`, `mutex`).

#[cfg(not(loom))]
use super::parasite::task::Task;
#[cfg(not(loom))]
use super::worker::turns::{CALLS, CLOCK_LOOKS, LIMIT, LOCK_LIMIT, Locks, TRIES, TRY_LIMIT};
#[cfg(not(loom))]
use super::{must_not_block, unwind_cancelled, virtual_worker::caller_has_place, worker::Worker};
#[cfg(all(not(loom), debug_assertions))]
use crate::sync_shim::watched;
#[cfg(not(loom))]
use crate::time::clock;
#[cfg(not(loom))]
use crate::world::{self, World};
use std::task::Context;

/// Weight of a call that takes as long as a message; between two looks at the clock there are at most
/// [`CALLS`] of these.
pub(crate) const MESSAGE: u32 = 1;
/// Weight of a system call.
#[cfg(not(loom))]
pub(crate) const SYSTEM: u32 = 4;
/// Weight of a system call that copies hundreds of kilobytes.
#[cfg(not(loom))]
pub(crate) const COPY: u32 = CALLS;

/// Called at the start of a call that may block, and that unwinds if its thread is cancelled.
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

/// Called at the start of a call that may block, but that completes if it need not block, even on a cancelled
/// thread.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn turn() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        worker.count_call();
    }
}

/// As [`turn`], for a call that takes a lock. True if the caller must call [`released`] when it has released
/// that.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn turn_of_lock() -> bool {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.has_spent(MESSAGE)
    {
        return worker.look_in_lock();
    }
    false
}

/// See [`turn_of_lock`]. Does not yield.
#[cold]
#[inline(never)]
pub(crate) fn released() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && matches!(worker.turns.locks.get(), Locks::HeldSince(_))
    {
        worker.turns.locks.set(Locks::Released);
    }
}

/// Called after a rendezvous that happened at once, and not with a host of this worker (which had to run to
/// get there). The caller holds the value, so it cannot be cancelled here. Looks the worker up again, out of
/// line: keeping it in a register until here costs each rendezvous 0.3 ns.
#[cfg(not(loom))]
#[inline(never)]
pub(crate) fn call_is_done() {
    turn();
}

/// As [`turn`], for calls too cheap to be counted: yields if the next counted call would look at the clock.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn turn_if_due() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.turns.calls.get() <= MESSAGE
    {
        worker.look_in_call();
    }
}

/// Called within a call that may block and has done a part of its work. False if its thread is cancelled: the
/// call then reports that part.
#[cfg(not(loom))]
pub(crate) fn call_in_the_middle(weight: u32) -> bool {
    let Some(worker) = Worker::current() else { return true };
    !worker.has_spent(weight) || worker.look_in_call()
}

/// Called after a call that never waits, perhaps failed. Returns its result.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn tried<T>(result: T, is_in_vain: impl FnOnce(&T) -> bool) -> T {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        if is_in_vain(&result) {
            worker.count_try();
        } else {
            worker.turns.tries.set(2 * TRIES);
        }
    }
    #[cfg(loom)]
    let _ = is_in_vain;
    result
}

/// [`tried`], after a call that changes nothing its caller could wait for: it looks, or makes something new. (If it succeeds, its caller
/// may be waiting for something else.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn looked<T>(result: T, is_in_vain: impl FnOnce(&T) -> bool) -> T {
    #[cfg(not(loom))]
    if is_in_vain(&result)
        && let Some(worker) = Worker::current()
    {
        worker.count_try();
    }
    #[cfg(loom)]
    let _ = is_in_vain;
    result
}

/// Called at the start of a call that never waits and changes nothing: it tells the state of an object that others
/// change, or takes a lock that is free.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn look() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        worker.count_try();
    }
}

/// Called at the start of a call that reads the clock.
pub(crate) fn look_at_clock() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current()
        && worker.shared.options.simulated
    {
        let left = worker.turns.clock_looks.get() - 1;
        worker.turns.clock_looks.set(if left == 0 { CLOCK_LOOKS } else { left });
        if left == 0 {
            worker.count_try();
        }
    }
}

/// [`look`] for the poll of a future: only a task that is no parasite may be polled again and again without a
/// scheduling point in between.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn look_by_poll(context: &Context<'_>) {
    #[cfg(not(loom))]
    if Task::of(context).is_none() {
        look();
    }
    #[cfg(loom)]
    let _ = context;
}

#[cfg(not(loom))]
impl Worker {
    /// Resets the counts: the root has run, and a host is next. Every run of the root ends here, so no look
    /// at the clock is remembered across it.
    pub(super) fn begin_turns(&self) {
        self.turns.calls.set(1);
        self.turns.window.set(1);
        self.turns.tries.set(2 * TRIES);
        self.forget_time_slice();
    }

    /// Forgets the last look, at a scheduling point that cannot be told from the one before by the budget
    /// left: the budget begins anew.
    pub(super) fn forget_time_slice(&self) {
        self.turns.looker.set((std::ptr::null(), 0));
        self.turns.trier.set((std::ptr::null(), 0, 0));
        self.parasites.starts.forget();
    }

    /// The worker's part of [`turn`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_call(&self) {
        if self.has_spent(MESSAGE) {
            self.look_in_call();
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_spent(&self, weight: u32) -> bool {
        #[cfg(debug_assertions)]
        self.must_have_no_mutex();
        let left = self.turns.calls.get();
        self.turns.calls.set(left.wrapping_sub(weight));
        left <= weight
    }

    /// Makes the running thread's next call yield, if it is one that may block.
    pub(super) fn give_way_at_next_call(&self, now: u64) {
        self.turns.calls.set(1);
        self.turns.looker.set((self.running().as_ptr(), self.budget.get()));
        self.turns.looked.set(now.wrapping_sub(self.turns.limit));
    }

    /// Looks at the clock, and yields if that is due. False if the running thread is cancelled.
    #[cold]
    #[inline(never)]
    fn look_in_call(&self) -> bool {
        if self.shared.options.simulated {
            return !(self.is_switched_away() && super::is_cancelled());
        }
        !(self.is_to_yield(clock::ticks()) && self.let_others_go_first() && super::is_cancelled())
    }

    /// As [`look_in_call`](Self::look_in_call), in a call that takes a lock: see [`turn_of_lock`].
    #[cold]
    #[inline(never)]
    fn look_in_lock(&self) -> bool {
        if self.shared.options.simulated {
            self.is_switched_away();
            return false;
        }
        let (turns, now) = (&self.turns, clock::ticks());
        if !self.is_to_yield(now) {
            return false;
        }
        let patience = turns.limit * (LOCK_LIMIT.as_micros() / LIMIT.as_micros()) as u64;
        match turns.locks.get() {
            Locks::HeldSince(then) if now.wrapping_sub(then) < patience => {
                turns.calls.set(1);
                false
            }
            Locks::Unknown => {
                turns.calls.set(1);
                turns.locks.set(Locks::HeldSince(now));
                true
            }
            Locks::HeldSince(_) | Locks::Released => {
                self.let_others_go_first();
                false
            }
        }
    }

    /// In a simulation each call that may block is a scheduling point, if chance says so. True if others have run.
    fn is_switched_away(&self) -> bool {
        self.turns.calls.set(1);
        let switches = |world: &World| world.switches(caller_has_place);
        !self.cannot_give_way() && world::with(switches) == Some(true) && self.let_others_go_first()
    }

    /// Sets when to look again. True if others wait for the running thread to yield.
    fn is_to_yield(&self, now: u64) -> bool {
        let turns = &self.turns;
        let window = (turns.window.get() * 2).min(CALLS);
        turns.window.set(window);
        turns.calls.set(window);
        if !self.has_looked(now) {
            if self.since_root(now) >= turns.limit {
                turns.calls.set(1);
            }
            return false;
        }
        now.wrapping_sub(turns.looked.get()) >= turns.limit || !self.remote.inbox.is_empty()
    }

    /// True if the running thread has looked before and has reached no scheduling point since; otherwise this
    /// is its first look, and is noted.
    fn has_looked(&self, now: u64) -> bool {
        let turns = &self.turns;
        let looker = (self.running().as_ptr().cast_const(), self.budget.get());
        if turns.looker.replace(looker) == looker {
            return true;
        }
        turns.looked.set(now);
        turns.locks.set(Locks::Unknown);
        false
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn count_try(&self) {
        #[cfg(debug_assertions)]
        self.must_have_no_mutex();
        let left = self.turns.tries.get() - 1;
        self.turns.tries.set(left);
        if left.is_multiple_of(TRIES) {
            self.after_many_tries(left == 0);
        }
    }

    /// Notes who tries, and when; if it is the one `noted` before, which has done nothing else since, yields once
    /// it has been long enough.
    #[cold]
    #[inline(never)]
    fn after_many_tries(&self, noted: bool) {
        let (turns, now) = (&self.turns, clock::ticks());
        turns.tries.set(TRIES);
        let polls = self.remote.counters.attached.get();
        let trier = (self.running().as_ptr().cast_const(), self.budget.get(), polls);
        if !noted || turns.trier.get() != trier {
            turns.trier.set(trier);
            turns.tried.set(now);
            return;
        }
        let limit = turns.limit * (TRY_LIMIT.as_micros() / LIMIT.as_micros()) as u64;
        if self.shared.options.simulated || now.wrapping_sub(turns.tried.get()) >= limit {
            self.let_others_go_first();
        }
    }

    /// Ends the process if the running thread has a mutex of the runtime's own, and may give way: another thread of this
    /// worker could wait for that mutex in the kernel, for ever.
    #[cfg(debug_assertions)]
    pub(super) fn must_have_no_mutex(&self) {
        if self.running_ref().is_lamprey() && !self.cannot_give_way() {
            watched::must_have_none();
        }
    }

    pub(super) fn cannot_give_way(&self) -> bool {
        let me = self.running_ref();
        me.is_barred() || me.is_open() || must_not_block()
    }

    fn since_root(&self, now: u64) -> u64 {
        now.wrapping_sub(self.rounds.polled.get())
    }

    /// Yields; if the running thread must not switch, returns false and does nothing.
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
