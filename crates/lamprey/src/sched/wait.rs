//! The one way to wait: every blocking call of the crate is a call of [`wait`], or of a variant below it.
//!
//! # States (of a thread, seen from its wait)
//! ```text
//! closed --enter: nothing to wait for----------------------------------> closed   Done
//!        --enter: a node is queued--> queued --the wake-----------------> closed   Woken
//!                                       \--time-out, cancellation--> open
//! open --leave: our node was still there--------------------------------> closed   Left
//!      --leave: somebody has taken it--> owed --the wake has come-------> closed   Late
//! closed --enter: somebody has taken it already--> owed --the wake------> closed   Woken
//! ```
//! *Open* is a bit of [`Thread::eager`](super::thread::Thread), which every block looks at anyway. It is set
//! by whoever ends the block early, so it costs nothing where the wake comes.
//!
//! # Invariants
//! 1. A thread has one wait at a time. Between `enter` and the end of the wait it runs no code of the
//!    program: no destructor, no waker, no panic. So nothing that blocks in there can take the wake that is
//!    owed to the wait.
//! 2. Another wait, or a yield, in the open state ends the process: `lamprey: bug`, also in release builds.
//! 3. A wake is for the one wait: it finds its thread blocked (or, while the wait is open, on its way to
//!    await it). A wake that finds neither, and a second one, end the process.
//! 4. What a wait returns is final: no wake comes any more. Now the caller cleans up (drops values, passes on
//!    what it was granted, wakes others) and, if it was cancelled, unwinds.
//! 5. Whoever takes nodes out of a queue ends all of them, and wakes all threads, before it runs code of the
//!    program (foreign wakers, destructors): that code may wait for one of those threads.
//!
//! # Who may touch what
//! The bits: the thread's home worker, or the OS thread itself. The node: see the room whose queue it is in.
//!
//! # Orderings
//! None here; see [`block`](super::block), [`os`](super::os).
//!
//! # Rejected
//! * Each blocking call for itself: one of them dropped a value, another woke others, while its own wake was
//!   owed. The destructor, or the waker, called `join` and took that wake for its own: it returned an outcome
//!   that had never been written.
//! * A number in each wait that the wake brings back: a word more in each waiter, and a compare for each
//!   wake, for what invariants 1 to 3 say already.
//! * A mark on the thread from `enter` on: two stores more for each block.
//! * A trait for what is waited for, with `enter` and `leave` as methods: a type for each of sixteen places;
//!   two closures say it in line.
//!
//! # Checked by
//! `model::host_waits` (loom, with broken variants), `tests/cancel/owed.rs`, and every model that blocks.

use super::block::{await_wake, block, block_until_woken, current, must_not_block, waiter};
use super::reason::Wait;
use super::thread::Kind;
use super::thread::Woke;
#[cfg(not(loom))]
use super::timers;
#[cfg(not(loom))]
use super::worker::Worker;
use super::{Waiter, unwind_cancelled};
use super::{block::os_waiter, os};
use crate::sync_shim::left_out;
use std::time::Instant;

/// What `enter` has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Nothing is queued: there is nothing to wait for.
    Done,
    /// A node is queued; whoever takes it out owes the wake.
    Queued,
    /// A node was queued and has been taken out: the wake is certain, and is awaited whatever happens.
    Owed,
}

impl From<bool> for Entered {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from(is_queued: bool) -> Self {
        if is_queued { Self::Queued } else { Self::Done }
    }
}

/// Why a wait has ended without its wake, or before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    TimedOut,
    Cancelled,
}

/// How a wait has ended. In each case no wake is owed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Waited {
    /// `enter` found nothing to wait for.
    Done,
    Woken,
    /// Ended early, and `leave` took the node out.
    Left(Early),
    /// Ended early, but somebody had taken the node out before; the wake has come.
    Late(Early),
    /// The thread unwinds and must not switch. `enter` was not called.
    Refused,
}

impl Waited {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_cancelled(self) -> bool {
        matches!(self, Self::Left(Early::Cancelled) | Self::Late(Early::Cancelled))
    }

    /// For those who have nothing to clean up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn unwind_if_cancelled(self) {
        if self.is_cancelled() {
            unwind_cancelled();
        }
    }
}

/// Waits. `enter` queues the waiter, in the section that finds that it has to; `leave` takes it out again, if
/// the wait ends early, and says false if somebody else has done so. Neither runs code of the program, nor
/// unwinds.
///
/// A scheduling point, before `enter`: parasites that the caller has woken run here; so no lock may be held.
///
/// # Blocking
/// A host switches away; an OS thread parks.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn wait<E: Into<Entered>>(
    reason: Wait,
    deadline: Option<Instant>,
    enter: impl FnOnce(Waiter) -> E,
    leave: impl FnOnce(Waiter) -> bool,
) -> Waited {
    if must_not_block() {
        return Waited::Refused;
    }
    let me = waiter();
    wait_again(reason, deadline, || enter(me), || leave(me))
}

/// [`wait`] of one who may block and has its [`waiter`]: it waits again, and in between nothing else may run.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn wait_again<E: Into<Entered>>(
    reason: Wait,
    deadline: Option<Instant>,
    enter: impl FnOnce() -> E,
    leave: impl FnOnce() -> bool,
) -> Waited {
    match enter().into() {
        Entered::Done => Waited::Done,
        Entered::Queued => queued(reason, deadline, leave),
        Entered::Owed => {
            block_until_woken(reason);
            Waited::Woken
        }
    }
}

/// The rest of [`wait`] for one whose node is queued: for those who count nanoseconds. (A large closure is
/// not always put in line.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn queued(reason: Wait, deadline: Option<Instant>, leave: impl FnOnce() -> bool) -> Waited {
    match block_until(reason, deadline) {
        Woke::Woken => Waited::Woken,
        woke => end_early(reason, woke, leave),
    }
}

/// A block that ends at the deadline, with [`Woke::TimedOut`].
#[cfg_attr(not(debug_assertions), inline(always))]
fn block_until(reason: Wait, deadline: Option<Instant>) -> Woke {
    let Some(deadline) = deadline else { return block(reason) };
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return timers::block_until(worker, reason, deadline);
    }
    // A deadline of a host of the checker has passed when its root says so.
    #[cfg(loom)]
    if super::block::on_host() {
        return block(reason);
    }
    os::block(Some(deadline))
}

/// [`queued`] on a worker, which has been looked up. (A closure that blocks is not always put in line; and a
/// frame between the program and the switch costs as much as the whole switch.)
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn queued_on(
    worker: &Worker,
    reason: Wait,
    deadline: Option<Instant>,
    leave: impl FnOnce() -> bool,
) -> Waited {
    let woke = match deadline {
        None => worker.block(reason),
        deadline => block_until(reason, deadline),
    };
    if woke == Woke::Woken { Waited::Woken } else { end_early(reason, woke, leave) }
}

/// The block has ended without the wake. In line but for its two ends: what `leave` captures then needs no
/// place in memory, which the block would have to fill each time.
#[cfg_attr(not(debug_assertions), inline(always))]
fn end_early(reason: Wait, woke: Woke, leave: impl FnOnce() -> bool) -> Waited {
    begin_early();
    let has_left = leave();
    finish_early(reason, woke, has_left)
}

/// The wait is open.
#[cold]
#[inline(never)]
fn begin_early() {
    // SAFETY: the caller's own descriptor, alive while it runs.
    let thread = unsafe { current().as_ref() };
    // Of a host it was opened by whoever has interrupted it: a wake may have come since.
    if thread.kind == Kind::Os {
        thread.open();
    }
}

/// The wait is open, and the node is out, or the wake is owed.
#[cold]
#[inline(never)]
fn finish_early(reason: Wait, woke: Woke, has_left: bool) -> Waited {
    let has_left = has_left || left_out!(WaitOwed);
    if !has_left {
        await_wake(reason);
    }
    // SAFETY: the caller's own descriptor, alive while it runs.
    unsafe { current().as_ref() }.close();
    let early = if woke == Woke::Cancelled { Early::Cancelled } else { Early::TimedOut };
    if has_left { Waited::Left(early) } else { Waited::Late(early) }
}

/// As [`wait`], but nothing ends it before its wake. A thread that unwinds and must not switch parks its
/// kernel thread.
pub(crate) fn wait_committed<E: Into<Entered>>(reason: Wait, enter: impl FnOnce(Waiter) -> E) {
    if must_not_block() {
        park(enter);
    } else if enter(waiter()).into() != Entered::Done {
        block_until_woken(reason);
    }
}

/// As [`wait_committed`], by parking the kernel thread, whatever runs on it: for those who must not switch.
pub(crate) fn park<E: Into<Entered>>(enter: impl FnOnce(Waiter) -> E) {
    if enter(os_waiter()).into() != Entered::Done {
        os::block_committed();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
