//! How a plain OS thread blocks: by parking the kernel thread.
//!
//! # States
//! `woken` is false while the thread waits (or does nothing) and true from the wake until the thread has seen it.
//!
//! # Invariants
//! 1. For each block at most one wake comes (the right to wake goes with the removed node), so `woken` is a flag.
//! 2. The waker clones the thread's parker *before* it sets `woken`: once the flag is set, the thread may run on and
//!    end, and its descriptor with it.
//!
//! # Orderings
//! `woken = true` is Release and pairs with the Acquire load in `block`: what the waker did before is visible.
//!
//! # Checked by
//! `model::channel` (loom): under the checker every blocking call takes this path.

use super::block::Woke;
use super::thread::Thread;
use crate::sync_shim::{AtomicBool, Ordering, Parker, thread_local};
use std::ptr::NonNull;
use std::time::Instant;

/// A kernel thread as a waiter. `descriptor` comes first, so that a [`Waiter`](super::Waiter) can point at either.
#[repr(C)]
pub(crate) struct OsThread {
    descriptor: Thread,
    woken: AtomicBool,
    parker: Parker,
}

thread_local! {
    static ME: OsThread = OsThread { descriptor: Thread::os(), woken: AtomicBool::new(false), parker: Parker::of_current() };
}

/// The calling kernel thread's descriptor; valid until the thread ends.
pub(crate) fn current() -> NonNull<Thread> {
    // Through the whole object, not its first field: `wake` needs the rest.
    ME.with(|me| NonNull::from(me).cast())
}

/// Parks until the wake comes, or `deadline` has passed.
pub(crate) fn block(deadline: Option<Instant>) -> Woke {
    ME.with(|me| {
        loop {
            // Acquire pairs with the Release store in `wake`.
            if me.woken.load(Ordering::Acquire) {
                // Relaxed: the next wake is for a node that this thread has yet to queue.
                me.woken.store(false, Ordering::Relaxed);
                return Woke::Woken;
            }
            match deadline {
                None => me.parker.park(),
                Some(deadline) if has_passed(deadline) => return Woke::TimedOut,
                #[cfg(not(loom))]
                Some(deadline) => me.parker.park_timeout(deadline.saturating_duration_since(Instant::now())),
                #[cfg(loom)]
                Some(_) => crate::bug::bug!("a deadline of the model did not pass"),
            }
        }
    })
}

#[cfg(not(loom))]
fn has_passed(deadline: Instant) -> bool {
    Instant::now() >= deadline
}

/// The checker has no clock: a deadline passes at the first look, which the checker moves about.
#[cfg(loom)]
fn has_passed(_: Instant) -> bool {
    true
}

/// Ends the block of an OS thread.
///
/// # Safety
/// `thread` came from [`current`] on a thread that is blocked or about to block, and the caller holds the right to
/// wake it (it removed its node).
pub(crate) unsafe fn wake(thread: NonNull<Thread>) {
    let os = thread.cast::<OsThread>();
    // SAFETY: the thread cannot return from its block, and so not end, before `woken` is set below.
    let os = unsafe { os.as_ref() };
    let parker = os.parker.clone();
    // Release pairs with the Acquire load in `block`. From here on `os` may be gone.
    os.woken.store(true, Ordering::Release);
    parker.unpark();
}
