//! Entering and leaving a shield or a level.

use super::frame::{Frame, Is};
use super::state::{frame_misused, recompute};
use crate::sched::block::{current, must_not_block};
use crate::sched::thread::{Kind, Thread};
use crate::sched::worker::Worker;
#[cfg(not(loom))]
use crate::sync_shim::Ordering;
use std::ptr;

/// Enters `frame` on the calling thread, runs `inside`, and leaves `frame`. On a worker's root, where nothing
/// can be cancelled, it only runs `inside`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn within<R>(frame: &Frame, inside: impl FnOnce() -> R) -> R {
    let thread = current();
    // SAFETY: the calling thread's own descriptor, which is alive while the thread runs.
    let thread = unsafe { thread.as_ref() };
    if thread.kind == Kind::Root {
        return inside();
    }
    let _left = enter(thread, frame);
    recompute(thread);
    inside()
}

/// Runs `inside`, which uses something that belongs to the calling thread alone: no other thread may resume a
/// generator that is suspended inside.
pub(crate) fn open<R>(inside: impl FnOnce() -> R) -> R {
    let frame = Frame::new(Is::Open);
    let thread = current();
    // SAFETY: the calling thread's own descriptor, which is alive while the thread runs.
    let _left = enter(unsafe { thread.as_ref() }, &frame);
    inside()
}

/// Makes `frame` the innermost of the calling thread, until the returned guard is dropped.
#[cfg_attr(not(debug_assertions), inline(always))]
fn enter<'a>(thread: &'a Thread, frame: &'a Frame) -> Left<'a> {
    if !thread.is_lamprey() {
        crate::sched::guard::mark_generators(); // there may be no runtime yet
    }
    frame.outer.set(thread.frames.replace(frame));
    frame.polled.set(thread.polling.get());
    Left { thread, frame }
}

/// Leaves the frame when dropped, also in an unwind.
struct Left<'a> {
    thread: &'a Thread,
    frame: &'a Frame,
}

impl Left<'_> {
    /// In a child made by `fork` the caller is an OS thread, which has not entered what the host had entered before.
    #[cold]
    fn must_be_of_forked(&self) {
        #[cfg(not(loom))]
        if crate::sched::forked::is_here(self.thread) && ptr::eq(self.thread.frames.get(), self.frame) {
            return;
        }
        frame_misused();
    }
}

impl Drop for Left<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if !ptr::eq(self.thread.frames.get(), self.frame) || !ptr::eq(current().as_ptr(), self.thread) {
            self.must_be_of_forked();
        }
        self.thread.frames.set(self.frame.outer.get());
        recompute(self.thread);
    }
}

/// True if the caller's runtime ends and will cancel the caller, even if its worker has not done so yet.
/// Other threads may already have ended for that reason.
#[cfg(not(loom))]
pub(crate) fn is_about_to_end() -> bool {
    let Some(worker) = Worker::current() else { return false };
    // Acquire pairs with the Release store in `Shared::stop`.
    worker.shared.stopping.load(Ordering::Acquire)
        && !std::thread::panicking()
        && !is_shielded(worker.running_ref())
}

#[cfg(not(loom))]
fn is_shielded(thread: &Thread) -> bool {
    let mut frame = thread.frames.get();
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() } {
        if matches!(entry.is, Is::Shield) {
            return true;
        }
        frame = entry.outer.get();
    }
    false
}

/// True where a level has no effect: blocking calls fail in any case, and leaving the level might have to
/// wait.
pub(crate) fn is_moot() -> bool {
    must_not_block() || Worker::current().is_some_and(Worker::is_on_root)
}
