//! Computes from a thread's chain of frames whether its blocking calls end early.

use super::frame::Is;
use crate::sched::parasite::task::Task;
use crate::sched::thread::{Kind, Thread};
use crate::sched::worker::Worker;
use crate::world;
use std::time::Instant;

/// Ends the process if a thread that ends has not left all its frames: code that cancels one of them would
/// still reach the thread. (That happens if a coroutine of another library was leaked inside a frame.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(in crate::sched) fn must_be_outside(thread: &Thread) {
    if !thread.frames.get().is_null() {
        frame_misused();
    }
}

/// Ends the process: to go on would be a use after free.
#[cold]
#[inline(never)]
pub(super) fn frame_misused() -> ! {
    crate::bug::say!(
        "a shield, deadline, token or scope was not left in the reverse order of entering, or not at all: a coroutine was \
         suspended in the middle of it, and then leaked or resumed elsewhere"
    );
    std::process::abort()
}

/// Recomputes whether the thread's blocking calls end early.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn recompute(thread: &Thread) {
    if thread.is_lamprey() {
        thread.set_cancelled(is_due(thread));
    }
}

fn is_due(thread: &Thread) -> bool {
    let polled = thread.polling.get();
    let mut frame = thread.frames.get();
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() }
        && entry.polled.get() == polled
    {
        match &entry.is {
            Is::Shield => return false,
            Is::Level { .. } if entry.is_cancelled() => return true,
            Is::Level { .. } | Is::Open => frame = entry.outer.get(),
        }
    }
    if polled.is_null() { thread.killed.get() } else { Worker::current().is_some_and(Worker::is_ending) }
}

impl Thread {
    /// Sets what runs on this stack: `task`, a stackless parasite that is polled, or the thread itself if it
    /// is null. Returns the value before, to be restored later.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn act_for(&self, task: *mut Task) -> *mut Task {
        let before = self.polling.replace(task);
        if !self.frames.get().is_null() || self.killed.get() {
            recompute_out_of_line(self);
        }
        before
    }
}

#[cold]
#[inline(never)]
fn recompute_out_of_line(thread: &Thread) {
    recompute(thread);
}

/// The state of an OS thread's levels, while it does not unwind.
pub(in crate::sched) enum Outlook {
    Cancelled,
    /// The next one is cancelled by the clock at this time.
    At(Instant),
    Clear,
}

/// The state of an OS thread's levels. Cancels those whose deadline has passed.
pub(in crate::sched) fn outlook(thread: &Thread) -> Outlook {
    let mut frame = thread.frames.get();
    if frame.is_null() || std::thread::panicking() {
        return Outlook::Clear;
    }
    let now = world::now();
    let mut next: Option<Instant> = None;
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() } {
        let deadline = match &entry.is {
            Is::Shield => break,
            Is::Open => &None,
            Is::Level { deadline, .. } => deadline,
        };
        if deadline.is_some_and(|at| at <= now) {
            entry.set_cancelled();
        }
        if entry.is_cancelled() {
            return Outlook::Cancelled;
        }
        next = [next, *deadline].into_iter().flatten().min();
        frame = entry.outer.get();
    }
    next.map_or(Outlook::Clear, Outlook::At)
}

/// True if the calling thread's blocking calls end early now.
pub(in crate::sched) fn is_cancelled(thread: &Thread) -> bool {
    match thread.kind {
        Kind::Root => false,
        Kind::Os => matches!(outlook(thread), Outlook::Cancelled),
        Kind::Host | Kind::Parasite => thread.is_cancelled(),
    }
}
