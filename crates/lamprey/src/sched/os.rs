//! How a plain OS thread blocks: by parking the kernel thread.
//!
//! # States
//! `woken` is false while the thread waits (or does nothing) and true from the wake until the thread has seen it.
//!
//! # Invariants
//! 1. For each block at most one wake comes (the right to wake goes with the removed node), so `woken` is a flag.
//! 2. The waker clones the thread's handle *before* it sets `woken`: once the flag is set, the thread may run on and
//!    end, and its descriptor with it.
//!
//! # Orderings
//! `woken = true` is Release and pairs with the Acquire swap in `block`: what the waker did before is visible.
//!
//! # Checked by
//! `model::channel` (loom): under the checker every blocking call takes this path.

use super::block::Woke;
use super::thread::Thread;
use crate::sync_shim::{AtomicBool, Ordering, thread, thread_local};
use std::ptr::NonNull;
use std::time::Instant;

/// A kernel thread as a waiter. `descriptor` comes first, so that a [`Waiter`](super::Waiter) can point at either.
#[repr(C)]
pub(crate) struct OsThread {
    descriptor: Thread,
    woken: AtomicBool,
    handle: thread::Thread,
}

thread_local! {
    static ME: OsThread = OsThread { descriptor: Thread::os(), woken: AtomicBool::new(false), handle: thread::current() };
}

/// The calling kernel thread's descriptor; valid until the thread ends.
pub(crate) fn current() -> NonNull<Thread> {
    ME.with(|me| NonNull::from(&me.descriptor))
}

/// Parks until the wake comes, or `deadline` has passed.
pub(crate) fn block(deadline: Option<Instant>) -> Woke {
    ME.with(|me| {
        loop {
            // Acquire pairs with the Release store in `wake`.
            if me.woken.swap(false, Ordering::Acquire) {
                return Woke::Woken;
            }
            match deadline {
                None => thread::park(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Woke::TimedOut;
                    }
                    park_timeout(left);
                }
            }
        }
    })
}

#[cfg(not(loom))]
fn park_timeout(left: std::time::Duration) {
    thread::park_timeout(left);
}

/// The checker has no clock: a park with a timeout may end at once.
#[cfg(loom)]
fn park_timeout(_: std::time::Duration) {
    thread::yield_now();
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
    let handle = os.handle.clone();
    // Release pairs with the Acquire swap in `block`. From here on `os` may be gone.
    os.woken.store(true, Ordering::Release);
    handle.unpark();
}
