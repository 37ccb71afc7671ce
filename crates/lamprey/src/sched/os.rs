//! How a plain OS thread blocks: by parking the kernel thread.
//!
//! # States
//! `woken` is false while the thread waits or runs, and true from the wake until the thread has seen it.
//!
//! # Invariants
//! 1. There is at most one wake for each wait (the right to wake goes with the removed node), so `woken` can
//!    be a flag. This is checked.
//! 2. The waker clones the thread's parker *before* it sets `woken`: once the flag is set, the thread may
//!    return and end, and its descriptor with it.
//!
//! # Orderings
//! `woken = true` is Release and pairs with the Acquire load in `take_wake`: what the waker wrote before is
//! visible.
//!
//! # Checked by
//! `model::channel` and most others (loom): a thread of the checker takes this path, unless it is a host
//! (`model::host_waits`).

use super::cancel::frame::Frame;
use super::cancel::state::{Outlook, outlook};
use super::thread::{Thread, Woke};
use crate::sync_shim::{AtomicBool, Ordering, Parker, thread_local};
#[cfg(not(loom))]
use crate::world;
use crate::world::has_passed;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Instant;

/// A kernel thread as a waiter. `descriptor` comes first, so that a [`Waiter`](super::Waiter) can point at
/// either.
#[repr(C)]
pub(crate) struct OsThread {
    descriptor: Thread,
    woken: AtomicBool,
    /// Not dropped if the process exits within a frame: see `drop`.
    parker: ManuallyDrop<Parker>,
}

thread_local! {
    static ME: OsThread = OsThread { descriptor: Thread::os(), woken: AtomicBool::new(false), parker: ManuallyDrop::new(Parker::of_current()) };
}

/// The calling kernel thread's descriptor; valid until the thread ends.
pub(crate) fn current() -> NonNull<Thread> {
    // A pointer to the whole object, not to its first field: `wake` needs the rest.
    #[cfg(not(loom))]
    return ME.try_with(|me| NonNull::from(me).cast()).unwrap_or_else(|_| is_gone());
    #[cfg(loom)]
    ME.with(|me| NonNull::from(me).cast())
}

/// Panics: the thread-locals are destroyed. Nothing has been queued or started yet.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
fn is_gone() -> ! {
    panic!(
        "lamprey cannot be used any more by a kernel thread that ends: its thread-locals have been destroyed"
    )
}

/// The innermost frame that the calling kernel thread has entered.
pub(super) fn frames() -> *const Frame {
    ME.try_with(|me| me.descriptor.frames.get()).unwrap_or(std::ptr::null())
}

/// As [`current`], for a thread that is about to queue a node: ends the process if it is in the middle of
/// another wait.
pub(super) fn about_to_wait() -> NonNull<Thread> {
    // SAFETY: the caller's own descriptor; `current` gives a pointer to the whole object.
    let me = unsafe { current().cast::<OsThread>().as_ref() };
    me.descriptor.must_be_closed();
    // Relaxed: no thread has the right to wake this one now.
    if me.woken.load(Ordering::Relaxed) {
        crate::bug::bug!("an OS thread was woken that did not wait");
    }
    NonNull::from(me).cast()
}

/// Parks until the wake comes, `deadline` has passed, or a level of the thread is cancelled.
pub(crate) fn block(deadline: Option<Instant>) -> Woke {
    ME.with(|me| {
        loop {
            if me.take_wake() {
                return Woke::Woken;
            }
            let Some(next) = me.outlook() else { return Woke::Cancelled };
            match [deadline, next].into_iter().flatten().min() {
                None => me.rest(None),
                Some(first) if has_passed(first) => {
                    if deadline.is_some_and(has_passed) {
                        return Woke::TimedOut;
                    }
                }
                Some(first) => me.rest(Some(first)),
            }
        }
    })
}

/// Parks until the wake comes, which is certain. Not interruptible.
pub(crate) fn block_committed() {
    ME.with(|me| {
        while !me.take_wake() {
            me.rest(None);
        }
    });
}

impl Drop for OsThread {
    fn drop(&mut self) {
        // `process::exit` destroys the thread-locals of its caller, whose stack stays: another thread that
        // cancels a level on it still unparks it.
        #[cfg(not(loom))]
        if super::cancel::state::exits_inside(&self.descriptor) {
            return;
        }
        // SAFETY: the parker is not used any more.
        unsafe { ManuallyDrop::drop(&mut self.parker) };
    }
}

impl OsThread {
    /// Parks, at most until a time, and perhaps for less.
    fn rest(&self, until: Option<Instant>) {
        // Acquire pairs with the Release store in `wake`.
        #[cfg(not(loom))]
        let is_woken = || self.woken.load(Ordering::Acquire);
        #[cfg(not(loom))]
        if world::with(|world| world.rest(&is_woken, until)).is_some() {
            return;
        }
        match until {
            None => self.parker.park(),
            #[cfg(not(loom))]
            Some(until) => self.parker.park_timeout(until.saturating_duration_since(Instant::now())),
            #[cfg(loom)]
            Some(_) => crate::bug::bug!("a deadline of the model did not pass"),
        }
    }

    fn take_wake(&self) -> bool {
        // Acquire pairs with the Release store in `wake`.
        let woken = self.woken.load(Ordering::Acquire);
        if woken {
            // Relaxed: the next wake is for a node that this thread has yet to queue.
            self.woken.store(false, Ordering::Relaxed);
        }
        woken
    }

    /// When the next deadline of a level of the thread is; `None` if a level is cancelled already.
    #[expect(clippy::option_option, reason = "cancelled, or at some time, or never")]
    fn outlook(&self) -> Option<Option<Instant>> {
        // A loom thread may stand for one that is cancelled.
        #[cfg(loom)]
        if crate::model::is_cancelled() {
            return None;
        }
        match outlook(&self.descriptor) {
            Outlook::Cancelled => None,
            Outlook::At(next) => Some(Some(next)),
            Outlook::Clear => Some(None),
        }
    }
}

/// Unparks an OS thread, so that it looks at its levels again.
///
/// # Safety
/// From [`current`], on a thread that does not end before this returns.
pub(crate) unsafe fn nudge(thread: NonNull<Thread>) {
    // SAFETY: alive (contract); `current` gives a pointer to the whole object.
    unsafe { thread.cast::<OsThread>().as_ref() }.parker.unpark();
}

/// Ends the block of an OS thread.
///
/// # Safety
/// `thread` came from [`current`] on a thread that is blocked or about to block, and the caller holds the
/// right to wake it (it removed its node).
pub(crate) unsafe fn wake(thread: NonNull<Thread>) {
    let os = thread.cast::<OsThread>();
    // SAFETY: the thread cannot return from its block, and so not end, before `woken` is set below.
    let os = unsafe { os.as_ref() };
    let parker = Parker::clone(&os.parker);
    // Release pairs with the Acquire load in `take_wake`. From here on `os` may be gone.
    if os.woken.swap(true, Ordering::Release) {
        crate::bug::bug!("an OS thread was woken twice");
    }
    parker.unpark();
}
