//! Whether a thread's blocking calls are to end, worked out from its chain of frames.

use super::frame::Is;
use crate::sched::parasite::task::Task;
use crate::sched::thread::{Kind, Thread};
use crate::sched::worker::Worker;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Instant;

/// A thread ends, and has left all its frames: who trips one of them reaches the thread. (It has not if a
/// coroutine of another library was leaked in the middle of one.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(in crate::sched) fn must_be_outside(thread: &Thread) {
    if !thread.frames.get().is_null() {
        frame_misused();
    }
}

/// The thread-locals of an OS thread are destroyed. True if that is because it has called `process::exit`
/// within its frames: they are still on its stack, where it is. Of a thread that ends there is none.
#[cold]
pub(in crate::sched) fn exits_inside(thread: &Thread) -> bool {
    let innermost = thread.frames.get().addr();
    if innermost == 0 {
        return false;
    }
    // Above us, and on the same stack: this is a call that was made within it.
    let here = ptr::from_ref(&innermost).addr();
    if !(here..top_of_own_stack().unwrap_or(usize::MAX)).contains(&innermost) {
        frame_misused();
    }
    true
}

/// Of the calling kernel thread.
fn top_of_own_stack() -> Option<usize> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: they are filled in, read and destroyed here, in this order.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut limit, mut size) = (ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut limit, &raw mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        found.then_some(limit.addr() + size)
    }
}

/// Ends the process: what comes next would be a use of memory that is gone.
#[cold]
#[inline(never)]
pub(super) fn frame_misused() -> ! {
    crate::bug::say!(
        "a shield, deadline, token or scope was not left in the reverse order of entering, or not at all: a coroutine was \
         suspended in the middle of it, and then leaked or resumed elsewhere"
    );
    std::process::abort()
}

/// Works out whether the thread's blocking calls are to end.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn weigh(thread: &Thread) {
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
            Is::Level { .. } if entry.is_tripped() => return true,
            Is::Level { .. } | Is::Open => frame = entry.outer.get(),
        }
    }
    if polled.is_null() { thread.doomed.get() } else { Worker::current().is_some_and(Worker::is_ending) }
}

impl Thread {
    /// From now on `task` is what runs on this stack: a stackless parasite that is polled, or null for the
    /// thread's own account. Gives what did before, to go back to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn act_for(&self, task: *mut Task) -> *mut Task {
        let before = self.polling.replace(task);
        if !self.frames.get().is_null() || self.doomed.get() {
            weigh_anew(self);
        }
        before
    }
}

#[cold]
#[inline(never)]
fn weigh_anew(thread: &Thread) {
    weigh(thread);
}

/// What an OS thread has to expect of its levels, while it does not unwind.
pub(in crate::sched) enum Outlook {
    Tripped,
    /// One is tripped then.
    At(Instant),
    Clear,
}

/// See [`Outlook`]. A level whose time has come is tripped by the look.
pub(in crate::sched) fn outlook(thread: &Thread) -> Outlook {
    let mut frame = thread.frames.get();
    if frame.is_null() || std::thread::panicking() {
        return Outlook::Clear;
    }
    let now = Instant::now();
    let mut next: Option<Instant> = None;
    // SAFETY: entered frames are alive until they are left.
    while let Some(entry) = unsafe { frame.as_ref() } {
        let deadline = match &entry.is {
            Is::Shield => break,
            Is::Open => &None,
            Is::Level { deadline, .. } => deadline,
        };
        if deadline.is_some_and(|at| at <= now) {
            entry.set_tripped();
        }
        if entry.is_tripped() {
            return Outlook::Tripped;
        }
        next = [next, *deadline].into_iter().flatten().min();
        frame = entry.outer.get();
    }
    next.map_or(Outlook::Clear, Outlook::At)
}

/// True if the calling thread's blocking calls are to end now.
pub(in crate::sched) fn is_cancelled(thread: &Thread) -> bool {
    match thread.kind {
        Kind::Root => false,
        Kind::Os => matches!(outlook(thread), Outlook::Tripped),
        Kind::Host | Kind::Parasite => thread.is_cancelled(),
    }
}
