//! The parasites of a worker that can run now, before somebody runs them ([`super::attach`]).
//!
//! # Where one waits
//! * `latest`, last in first out: what has just been unblocked here runs next, while its data is in the cache.
//! * `first..last`, first in first out: those that gave way themselves, and what the budget has pushed back ("spilled").
//!
//! # Invariants
//! 1. `pending` = entries of both (+ 1 while the tasks of an ending runtime are unreaped: see [`super::carrier`]).
//! 2. An entry is held with the right to run it ([`Life`](super::life::Life), or, for a thread, State::Runnable): so it is alive.

use super::block::Waiter;
use super::task::Task;
use super::thread::Thread;
use crate::queue::ring::Ring;
use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};

/// Most entries of `latest`: what is beyond spills, because that list needs no memory.
const MOST: usize = 4096;

/// See the module's text.
#[repr(C)]
pub(super) struct Woken {
    pub(super) pending: Cell<usize>,
    first: Cell<*mut Task>,
    last: Cell<*mut Task>,
    latest: UnsafeCell<Ring<Waiter>>,
}

impl Woken {
    pub(super) fn new() -> Self {
        Self {
            latest: UnsafeCell::new(Ring::new()),
            first: Cell::new(ptr::null_mut()),
            last: Cell::new(ptr::null_mut()),
            pending: Cell::new(0),
        }
    }

    #[inline(always)]
    fn with_latest<R>(&self, f: impl FnOnce(&mut Ring<Waiter>) -> R) -> R {
        // SAFETY: only the worker's kernel thread gets here, and the closures below call nothing that could come back.
        f(unsafe { &mut *self.latest.get() })
    }

    #[inline(always)]
    pub(super) fn count(&self, by: isize) {
        self.pending.set(self.pending.get().wrapping_add_signed(by));
    }

    /// Queues a parasite that was unblocked; false if there are too many already.
    #[inline(always)]
    pub(super) fn push(&self, parasite: Waiter) -> bool {
        let fits = self.with_latest(|latest| {
            let fits = latest.len() < MOST;
            if fits {
                latest.push_back(parasite);
            }
            fits
        });
        self.count(isize::from(fits));
        fits
    }

    /// The latest or the oldest, if it is what `pick` wants; `pick` calls nothing of this worker.
    #[inline(always)]
    fn pop<P>(&self, oldest: bool, pick: impl FnOnce(Waiter) -> Option<P>) -> Option<P> {
        self.with_latest(|latest| {
            let picked = pick(if oldest { latest.front() } else { latest.back() }?)?;
            let _ = if oldest { latest.pop_front() } else { latest.pop_back() };
            self.count(-1);
            Some(picked)
        })
    }

    /// The latest, if it is a task.
    #[inline(always)]
    pub(super) fn pop_task(&self) -> Option<NonNull<Task>> {
        self.pop(false, Waiter::as_task)
    }

    /// The oldest, if it is a task that `fits`.
    pub(super) fn pop_oldest_task(&self, fits: impl FnOnce(&Task) -> bool) -> Option<NonNull<Task>> {
        // SAFETY: invariant 2.
        self.pop(true, |entry| entry.as_task().filter(|task| fits(unsafe { task.as_ref() })))
    }

    /// The oldest, if it is a task.
    pub(super) fn pop_oldest(&self) -> Option<NonNull<Task>> {
        self.pop_oldest_task(|_| true)
    }

    /// True if a task is at the front, or one has given way.
    pub(super) fn has_old_task(&self) -> bool {
        let front = |latest: &mut Ring<Waiter>| latest.front().is_some_and(|entry| entry.as_task().is_some());
        !self.first.get().is_null() || self.with_latest(front)
    }

    /// The latest or the oldest, if it is a thread.
    pub(super) fn pop_thread(&self, oldest: bool) -> Option<NonNull<Thread>> {
        self.pop(oldest, Waiter::as_thread)
    }

    /// True if nothing is in `latest`.
    pub(super) fn has_no_latest(&self) -> bool {
        self.with_latest(|latest| latest.len() == 0)
    }

    /// Puts a task at the back.
    pub(super) fn give_way(&self, task: NonNull<Task>) {
        // SAFETY: invariant 2.
        let entry = unsafe { task.as_ref() };
        if !entry.life.is_shared() && !entry.life.link() {
            return; // it is in our inbox already, and comes out of that
        }
        entry.link.set(ptr::null_mut());
        let last = self.last.replace(task.as_ptr());
        // SAFETY: invariant 2.
        match unsafe { last.as_ref() } {
            Some(last) => last.link.set(task.as_ptr().cast()),
            None => self.first.set(task.as_ptr()),
        }
        self.count(1);
    }

    /// The one that gave way first.
    pub(super) fn pop_given_way(&self) -> Option<NonNull<Task>> {
        let task = NonNull::new(self.first.get())?;
        // SAFETY: invariant 2.
        let entry = unsafe { task.as_ref() };
        let next = entry.link.get().cast();
        self.first.set(next);
        if next.is_null() {
            self.last.set(ptr::null_mut());
        }
        if !entry.life.is_shared() {
            entry.life.unlink();
        }
        self.count(-1);
        Some(task)
    }
}
