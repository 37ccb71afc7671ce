//! The one shape of a blocked thread: every blocking call of the crate is written with these few functions.
//!
//! # States
//! See [`State`](super::thread::State): Runnable, Blocked, Committed.
//!
//! # Invariants
//! 1. **A wake is a right.** A thread that is about to block puts a node with its [`Waiter`] into some queue. Whoever
//!    takes the node out, under that queue's lock or by the CAS that stands for it, owes exactly one
//!    [`Waiter::wake`]; nobody else may wake.
//! 2. **An interrupt is local.** Timeouts and cancellation happen on the thread's home worker and only make it
//!    runnable with another [`Woke`]; they touch no queue. The thread itself goes back to the queue and takes its node
//!    out. If the node is gone, the wake is under way: it must be awaited with [`block_until_woken`].
//! 3. A started host runs only on its home worker, so nothing can resume it before it has been switched away from:
//!    there is no moment between "enqueued" and "context saved" that another kernel thread could see.
//!
//! # Who may touch what
//! The home worker touches the thread's cells; another kernel thread that holds the right to wake touches only the
//! link (by pushing the thread into the home worker's inbox).
//!
//! # Orderings
//! None here: a wake on the same worker is a plain call; another goes through the inbox (Release/Acquire) or through
//! [`os`](super::os).
//!
//! # Rejected
//! * An atomic state word in each thread (wake = CAS): 5 ns more for each message, and needed only because timers and
//!   cancellation would touch the thread from elsewhere.
//! * A post-switch step that publishes the node once the context is saved: not needed while hosts do not move
//!   (invariant 3), and one more word through every switch.
//!
//! # Checked by
//! `model::channel` (loom, OS-thread shape), `tests/stress.rs`, `tests/channel.rs` (named by the moment).

use super::os;
use super::reason::Wait;
use super::thread::{Kind, Thread};
use std::ptr::NonNull;

#[cfg(not(loom))]
use super::worker::Worker;

/// Names a thread to wake: a host of any runtime, or an OS thread. Valid while that thread is inside the blocking
/// call that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(NonNull<Thread>);

// SAFETY: another kernel thread may only `wake`, whose contract covers the access.
unsafe impl Send for Waiter {}
// SAFETY: as above.
unsafe impl Sync for Waiter {}

/// Why a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Woke {
    /// The one wake has come.
    Woken,
    /// The deadline passed; the node may still be queued.
    TimedOut,
    /// The host is to end; the node may still be queued.
    Cancelled,
}

/// The calling thread.
#[inline(always)]
pub(crate) fn waiter() -> Waiter {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return Waiter(worker.running());
    }
    Waiter(os::current())
}

/// The calling kernel thread as a waiter, whatever runs on it: to be followed by [`os::block`].
#[cfg(not(loom))]
pub(crate) fn os_waiter() -> Waiter {
    Waiter(os::current())
}

/// True on a host, false on a plain OS thread.
#[inline(always)]
pub(crate) fn on_host() -> bool {
    #[cfg(not(loom))]
    return Worker::current().is_some();
    #[cfg(loom)]
    return false;
}

/// Blocks the calling thread until its wake, or its cancellation. Returns at once if the wake has already come.
///
/// # Blocking
/// A host switches away; an OS thread parks.
#[inline(always)]
pub(crate) fn block(reason: Wait) -> Woke {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return worker.block(reason);
    }
    let _ = reason;
    os::block(None)
}

/// Blocks until the wake that is certainly under way: the caller found its node already taken. Not interruptible.
#[cold]
pub(crate) fn block_until_woken(reason: Wait) {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        return worker.block_committed(reason);
    }
    let _ = reason;
    os::block(None);
}

/// True on a host that is to end and is not unwinding yet.
pub(crate) fn is_cancelled() -> bool {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current() {
        let me = worker.running_ref();
        return me.kind == Kind::Host && me.cancelled.get() && !std::thread::panicking();
    }
    false
}

/// True while the calling thread unwinds: a call that would have to block must fail at once instead, because a stack
/// switch in the middle of an unwind would mix up the panic counts of two hosts (DESIGN 11).
#[inline(always)]
pub(crate) fn must_not_block() -> bool {
    std::thread::panicking() && on_host()
}

impl Waiter {
    /// As a word, to keep in an atomic.
    pub(crate) fn into_raw(self) -> *mut Thread {
        self.0.as_ptr()
    }

    /// The way back from [`into_raw`](Self::into_raw).
    pub(crate) fn from_raw(raw: NonNull<Thread>) -> Self {
        Self(raw)
    }

    /// Makes the thread runnable.
    ///
    /// # Safety
    /// The caller removed a node with this waiter from its queue and has not woken it yet (invariant 1). What the
    /// thread is to find after its block has been written before.
    #[inline(always)]
    pub(crate) unsafe fn wake(self) {
        // SAFETY: the thread is inside its blocking call until this wake (invariant 1); `kind` is constant.
        match unsafe { self.0.as_ref() }.kind {
            // SAFETY: the caller holds the right (contract).
            Kind::Os => unsafe { os::wake(self.0) },
            #[cfg(not(loom))]
            // SAFETY: as above.
            Kind::Host => unsafe { super::switch::wake_host(self.0) },
            #[cfg(not(loom))]
            Kind::Root => super::switch::root_has_blocked(),
        }
    }
}

/// The payload of the unwind that ends a cancelled host. Private: user code can catch it but not make it.
pub(crate) struct CancelUnwind;

/// Ends the calling host by an unwind that runs its destructors and reaches whoever joins as `Cancelled`. No panic
/// message is printed.
#[cold]
pub(crate) fn unwind_cancelled() -> ! {
    std::panic::resume_unwind(Box::new(CancelUnwind))
}

/// [`unwind_cancelled`] if the block ended that way. Call it once the node is out of its queue.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn unwind_if_cancelled(woke: Woke) {
    if woke == Woke::Cancelled {
        unwind_cancelled();
    }
}
