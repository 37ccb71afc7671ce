//! The one way to wait: every blocking call of the crate is a call of [`wait`], or of one of its variants in
//! this file.
//!
//! # States (of a thread, seen from its wait)
//! ```text
//! closed --enter: nothing to wait for----------------------------------> closed   Done
//!        --enter: a node is queued--> queued --the wake-----------------> closed   Woken
//!                                       \--timeout, cancellation--> open
//! open --leave: our node was still there--------------------------------> closed   Left
//!      --leave: another thread has taken it--> wake pending --it comes-> closed   Late
//! closed --enter: another thread has taken it--> wake pending --it comes> closed   Woken
//! ```
//! *Open* is a bit of [`Thread::eager`](super::thread::Thread), which every block looks at anyway. It is set
//! by the code that ends the block early, so it costs nothing where the wake comes.
//!
//! # Invariants
//! 1. A thread has one wait at a time. Between `enter` and the end of the wait it runs no code of the
//!    program: no destructor, no waker, no panic. So no nested block can take the wake that is pending for
//!    the wait.
//! 2. Another wait, or a yield, in the open state ends the process: `lamprey: bug`, also in release builds.
//! 3. A wake is for one wait: it finds its thread blocked (or, while the wait is open, about to await it). A
//!    wake that finds neither, and a second one, end the process.
//! 4. When a wait has returned, no wake for it can come any more. Only now the caller cleans up (drops
//!    values, passes on what it was granted, wakes others) and, if it was cancelled, unwinds.
//! 5. A thread that takes nodes out of a queue ends all of them, and wakes all their threads, before it runs
//!    code of the program (foreign wakers, destructors): that code may wait for one of those threads.
//!
//! # Who may touch what
//! The bits: the thread's home worker, or the OS thread itself. The node: see the room whose queue it is in.
//!
//! # Orderings
//! None here; see [`block`](super::block), [`os`](super::os).
//!
//! # Rejected
//! * Each blocking call with a protocol of its own: one of them dropped a value, another woke others, while
//!   its own wake was pending. The destructor, or the waker, called `join` and took that wake for its own:
//!   `join` returned an outcome that had never been written.
//! * A number for each wait that the wake brings back: one more word in each waiter, and a compare for each
//!   wake, for what invariants 1 to 3 ensure already.
//! * A mark on the thread from `enter` on: two more stores for each block.
//! * A trait for what is waited for, with `enter` and `leave` as methods: a type for each of sixteen callers,
//!   where two closures are enough.
//!
//! # Checked by
//! `model::host_waits` (loom, with broken variants), `sched::wait::tests`, `tests/cancel/owed.rs`, and every
//! model that blocks.

use super::block::{await_wake, block, block_until_woken, current, must_not_block, waiter};
use super::reason::On;
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

/// The result of `enter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// Nothing is queued: there is nothing to wait for.
    Done,
    /// A node is queued; the thread that takes it out must wake this one.
    Queued,
    /// A node was queued and has been taken out already: the wake is certain, and is awaited without timeout
    /// or cancellation.
    WakePending,
}

impl From<bool> for Entered {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from(is_queued: bool) -> Self {
        if is_queued { Self::Queued } else { Self::Done }
    }
}

/// Why a wait has ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    TimedOut,
    Cancelled,
}

/// How a wait has ended. In each case no wake is pending any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Waited {
    /// `enter` found nothing to wait for.
    Done,
    Woken,
    /// Ended early, and `leave` took the node out.
    Left(Early),
    /// Ended early, but another thread had taken the node out before; its wake has come.
    Late(Early),
    /// The thread unwinds and must not switch. `enter` was not called.
    Refused,
}

impl Waited {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_cancelled(self) -> bool {
        matches!(self, Self::Left(Early::Cancelled) | Self::Late(Early::Cancelled))
    }

    /// Unwinds if the wait was cancelled; for callers with nothing to clean up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn unwind_if_cancelled(self) {
        if self.is_cancelled() {
            unwind_cancelled();
        }
    }
}

/// Waits. `enter` queues the waiter in the same critical section that finds that it must wait. If the wait
/// ends early, `leave` takes the node out; it returns false if another thread has taken it out already.
/// Neither closure runs code of the program, nor unwinds.
///
/// A scheduling point, before `enter`: parasites that the caller has woken run here, so no lock may be held.
///
/// # Blocking
/// A host switches away; an OS thread parks.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn wait<E: Into<Entered>>(
    on: impl Into<On>,
    deadline: Option<Instant>,
    enter: impl FnOnce(Waiter) -> E,
    leave: impl FnOnce(Waiter) -> bool,
) -> Waited {
    if must_not_block() {
        return Waited::Refused;
    }
    let me = waiter();
    wait_again(on, deadline, || enter(me), || leave(me))
}

/// [`wait`] for a caller that may block and already has its [`waiter`]: between one wait and the next,
/// nothing else may run.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn wait_again<E: Into<Entered>>(
    on: impl Into<On>,
    deadline: Option<Instant>,
    enter: impl FnOnce() -> E,
    leave: impl FnOnce() -> bool,
) -> Waited {
    match enter().into() {
        Entered::Done => Waited::Done,
        Entered::Queued => queued(on.into(), deadline, leave),
        Entered::WakePending => {
            block_until_woken(on.into());
            Waited::Woken
        }
    }
}

/// The rest of [`wait`] for a caller whose node is queued, for hot paths. (The compiler does not always
/// inline a large closure.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn queued(on: On, deadline: Option<Instant>, leave: impl FnOnce() -> bool) -> Waited {
    match block_until(on, deadline) {
        Woke::Woken => Waited::Woken,
        woke => end_early(on, woke, leave),
    }
}

/// Blocks until the wake, or until the deadline: [`Woke::TimedOut`].
#[cfg_attr(not(debug_assertions), inline(always))]
fn block_until(on: On, deadline: Option<Instant>) -> Woke {
    let Some(deadline) = deadline else { return block(on) };
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return timers::block_until(worker, on, deadline);
    }
    // In the model checker the root of a host decides when a deadline has passed.
    #[cfg(loom)]
    if super::block::on_host() {
        return block(on);
    }
    os::block(on, Some(deadline))
}

/// [`queued`] for a caller that has looked up its worker. (The compiler does not always inline a closure that
/// blocks, and a frame between the program and the switch costs as much as the whole switch.)
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn queued_on(
    worker: &Worker,
    on: On,
    deadline: Option<Instant>,
    leave: impl FnOnce() -> bool,
) -> Waited {
    let woke = match deadline {
        None => worker.block(on),
        deadline => block_until(on, deadline),
    };
    if woke == Woke::Woken { Waited::Woken } else { end_early(on, woke, leave) }
}

/// The block has ended without the wake. Inlined except for its two ends, so that what `leave` captures needs
/// no memory, which each block would have to fill.
#[cfg_attr(not(debug_assertions), inline(always))]
fn end_early(on: On, woke: Woke, leave: impl FnOnce() -> bool) -> Waited {
    begin_early();
    let has_left = leave();
    finish_early(on, woke, has_left)
}

/// Marks the wait as open.
#[cold]
#[inline(never)]
fn begin_early() {
    // SAFETY: the caller's own descriptor, alive while it runs.
    let thread = unsafe { current().as_ref() };
    // For a host, `Worker::interrupt` has done so: a wake may have come since.
    if thread.kind == Kind::Os {
        thread.open();
    }
}

/// Ends an open wait: awaits the wake if the node was not taken out by `leave`.
#[cold]
#[inline(never)]
fn finish_early(on: On, woke: Woke, has_left: bool) -> Waited {
    let has_left = has_left || left_out!(WaitOwed);
    if !has_left {
        await_wake(on);
    }
    // SAFETY: the caller's own descriptor, alive while it runs.
    unsafe { current().as_ref() }.close();
    let early = if woke == Woke::Cancelled { Early::Cancelled } else { Early::TimedOut };
    if has_left { Waited::Left(early) } else { Waited::Late(early) }
}

/// As [`wait`], but only the wake ends it. A thread that unwinds must not switch, and parks its kernel
/// thread.
pub(crate) fn wait_committed<E: Into<Entered>>(on: impl Into<On>, enter: impl FnOnce(Waiter) -> E) {
    if must_not_block() {
        park(enter);
    } else if enter(waiter()).into() != Entered::Done {
        block_until_woken(on.into());
    }
}

/// As [`wait_committed`], by parking the kernel thread, for code that must not switch.
pub(crate) fn park<E: Into<Entered>>(enter: impl FnOnce(Waiter) -> E) {
    if enter(os_waiter()).into() != Entered::Done {
        os::block_committed();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
