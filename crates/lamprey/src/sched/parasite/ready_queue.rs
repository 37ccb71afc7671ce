//! The ready queue of a worker's parasites ([`super::attach`] says which thread runs them).
//!
//! # Two lists
//! * `latest`, last in first out: a parasite that has just been unblocked here runs next, while its data is
//!   in the cache (the purpose of tokio's LIFO slot and of Go's `runnext`).
//! * `first..last`, first in first out: parasites that gave way (yielded) themselves, and those that the
//!   budget has pushed back ("spilled").
//!
//! # Invariants
//! 1. `pending` = the entries of both lists + those that other workers have taken and that are still counted
//!    in `taken` (+ 1 until a carrier begins to cancel the tasks of an ending runtime: [`super::carrier`], 4). So
//!    zero means that there is no entry. A worker that finds none although `pending` is not zero
//!    [settles](ReadyQueue::settle).
//! 2. An entry holds the right to run its parasite ([`Life`](super::life::Life), or, for a thread,
//!    ThreadState::Runnable): so the parasite is alive.
//! 3. Another worker takes only tasks in shared mode, which any worker of the runtime may run.
//!
//! # Who may touch what
//! [`ReadyQueue`]: the worker. [`Queues`]: the worker as the owner of an asymmetric lock ([`AsymmetricLock`]), and as its
//! visitor the worker on watch, while this worker computes ([`crate::sched::watch`]). `ReadyShared::pending`: written
//! by the worker, a hint for the others.
//!
//! # Rejected
//! * A shared queue for woken parasites while a worker is idle: each message between two parasites would go
//!   through it as soon as one worker of several has nothing to do, which is the usual state.
//! * To send a woken parasite to an idle worker at once: the pair then runs on two CPUs, 400 ns a message
//!   instead of 10.

use super::task::Task;
use crate::queue::asymmetric_lock::AsymmetricLock;
use crate::queue::ring::Ring;
use crate::sched::thread::Thread;
use crate::sched::waiter::Waiter;
use crate::sync_shim::{AtomicUsize, Ordering, left_out};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Most entries of `latest`; more spill to the other list, which needs no memory.
const MOST: usize = 4096;

/// The part of the ready queue that other workers reach. It has cache lines of its own, because the worker
/// writes it at each wake.
#[derive(Debug)]
#[repr(align(128))]
pub(in crate::sched) struct ReadyShared {
    queues: AsymmetricLock<Queues>,
    /// A copy of [`ReadyQueue::pending`].
    pending: AtomicUsize,
}

impl ReadyShared {
    pub(in crate::sched) fn new() -> Arc<Self> {
        let (first, last) = (ptr::null_mut(), ptr::null_mut());
        let queues = AsymmetricLock::new(Queues { latest: Ring::new(), first, last, taken: 0 });
        Arc::new(Self { queues, pending: AtomicUsize::new(0) })
    }

    /// Roughly how many are ready.
    pub(in crate::sched) fn count(&self) -> usize {
        // Relaxed: a hint; no data travels with it.
        self.pending.load(Ordering::Relaxed)
    }

    /// Takes out tasks that any worker of the runtime may run, as many as `taken` has room for.
    pub(in crate::sched) fn take(&self, taken: &mut Vec<NonNull<Task>>) {
        self.queues.visit(|queues| queues.take(taken));
    }
}

/// The two lists.
#[derive(Debug)]
struct Queues {
    latest: Ring<Waiter>,
    first: *mut Task,
    last: *mut Task,
    /// How many entries other workers have taken out since the worker last settled.
    taken: usize,
}

// SAFETY: each entry holds the right to run its parasite (invariant 2), and `AsymmetricLock` lets one kernel
// thread at a time reach them. A visitor takes only shared tasks; of the others it moves only the pointers.
unsafe impl Send for Queues {}

impl Queues {
    fn append(&mut self, task: NonNull<Task>) {
        // SAFETY: alive (invariant 2). It is about to be in this list, which therefore may use its link.
        unsafe { task.as_ref() }.link.set(ptr::null_mut());
        // SAFETY: alive (invariant 2): an entry of this list.
        match unsafe { self.last.as_ref() } {
            Some(last) => last.link.set(task.as_ptr().cast()),
            None => self.first = task.as_ptr(),
        }
        self.last = task.as_ptr();
    }

    fn remove_first(&mut self) -> Option<NonNull<Task>> {
        let task = NonNull::new(self.first)?;
        // SAFETY: alive (invariant 2).
        self.first = unsafe { task.as_ref() }.link.get().cast();
        if self.first.is_null() {
            self.last = ptr::null_mut();
        }
        Some(task)
    }

    /// Takes out tasks that any worker may run, as many as `taken` has room for: the oldest of `latest`, then
    /// the first of those that gave way.
    fn take(&mut self, taken: &mut Vec<NonNull<Task>>) {
        let before = taken.len();
        for _ in 0..self.latest.len() {
            match self.latest.pop_front() {
                Some(entry) => {
                    match entry.as_task().filter(|task| taken.len() < taken.capacity() && travels(*task)) {
                        Some(task) => taken.push(task),
                        None => self.latest.push_back(entry),
                    }
                }
                None => break,
            }
        }
        self.take_given_way(taken);
        if left_out!(WokenCount) {
            return;
        }
        self.taken += taken.len() - before;
    }

    fn take_given_way(&mut self, taken: &mut Vec<NonNull<Task>>) {
        let (mut kept, mut at) = (ptr::null_mut::<Task>(), self.first);
        for _ in 0..MOST {
            let Some(task) = NonNull::new(at).filter(|_| taken.len() < taken.capacity()) else { return };
            // SAFETY: alive (invariant 2).
            let next: *mut Task = unsafe { task.as_ref() }.link.get().cast();
            if !travels(task) {
                kept = at;
            } else {
                // SAFETY: alive (invariant 2): an entry that stays in the list.
                match unsafe { kept.as_ref() } {
                    Some(kept) => kept.link.set(next.cast()),
                    None => self.first = next,
                }
                if next.is_null() {
                    self.last = kept;
                }
                taken.push(task);
            }
            at = next;
        }
    }
}

/// True if another worker may run `task`, which is an entry (invariant 3).
fn travels(task: NonNull<Task>) -> bool {
    // SAFETY: alive (invariant 2).
    unsafe { task.as_ref() }.life.is_shared()
}

/// The ready queue, as its worker uses it.
#[repr(C)]
pub(in crate::sched) struct ReadyQueue {
    pub(in crate::sched) pending: Cell<usize>,
    exposed: Arc<ReadyShared>,
}

impl ReadyQueue {
    pub(in crate::sched) fn new(exposed: Arc<ReadyShared>) -> Self {
        Self { pending: Cell::new(0), exposed }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with<R>(&self, section: impl FnOnce(&mut Queues) -> R) -> R {
        // SAFETY: only the worker's kernel thread calls this, and the closures below do not call it again.
        unsafe { self.exposed.queues.as_owner(section) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn count(&self, by: isize) {
        let pending = self.pending.get().wrapping_add_signed(by);
        self.pending.set(pending);
        // Relaxed: a hint for other workers; no data travels with it.
        self.exposed.pending.store(pending, Ordering::Relaxed);
    }

    /// Subtracts from `pending` what other workers have taken out.
    pub(in crate::sched) fn settle(&self) {
        let taken = self.with(|queues| std::mem::take(&mut queues.taken));
        self.count(-(taken as isize));
    }

    /// Queues an unblocked parasite; false if `latest` is full.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn push(&self, parasite: Waiter) -> bool {
        let fits = self.with(|queues| {
            let fits = queues.latest.len() < MOST;
            if fits {
                queues.latest.push_back(parasite);
            }
            fits
        });
        self.count(isize::from(fits));
        fits
    }

    /// Takes out the latest or the oldest, if `pick` accepts it; `pick` must not call back into this queue.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pop<P>(&self, oldest: bool, pick: impl FnOnce(Waiter) -> Option<P>) -> Option<P> {
        let picked = self.with(|queues| {
            let latest = &mut queues.latest;
            let picked = pick(if oldest { latest.front() } else { latest.back() }?)?;
            let _ = if oldest { latest.pop_front() } else { latest.pop_back() };
            Some(picked)
        })?;
        self.count(-1);
        Some(picked)
    }

    /// Takes out the latest, if it is a task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::sched) fn pop_task(&self) -> Option<NonNull<Task>> {
        self.pop(false, Waiter::as_task)
    }

    /// Takes out the oldest, if it is a task that `fits`.
    pub(in crate::sched) fn pop_oldest_task(
        &self,
        fits: impl FnOnce(&Task) -> bool,
    ) -> Option<NonNull<Task>> {
        // SAFETY: alive (invariant 2).
        self.pop(true, |entry| entry.as_task().filter(|task| fits(unsafe { task.as_ref() })))
    }

    /// Takes out the oldest, if it is a task.
    pub(in crate::sched) fn pop_oldest(&self) -> Option<NonNull<Task>> {
        self.pop_oldest_task(|_| true)
    }

    /// True if a task is at the front, or one has given way.
    pub(in crate::sched) fn has_old_task(&self) -> bool {
        self.with(|queues| {
            !queues.first.is_null() || queues.latest.front().is_some_and(|entry| entry.as_task().is_some())
        })
    }

    /// Takes out the latest or the oldest, if it is a thread.
    pub(in crate::sched) fn pop_thread(&self, oldest: bool) -> Option<NonNull<Thread>> {
        self.pop(oldest, Waiter::as_thread)
    }

    /// Takes out the latest, if it is a thread and there are more than `count` in `latest`.
    pub(in crate::sched) fn pop_thread_above(&self, count: usize) -> Option<NonNull<Thread>> {
        let thread = self.with(|queues| {
            let thread = queues.latest.back()?.as_thread()?;
            if queues.latest.len() <= count {
                return None;
            }
            queues.latest.pop_back();
            Some(thread)
        })?;
        self.count(-1);
        Some(thread)
    }

    /// True if nothing is in `latest`.
    pub(in crate::sched) fn has_no_latest(&self) -> bool {
        self.with(|queues| queues.latest.len() == 0)
    }

    /// Puts a task at the back of the list of those that gave way.
    pub(in crate::sched) fn give_way(&self, task: NonNull<Task>) {
        // SAFETY: alive (invariant 2).
        let entry = unsafe { task.as_ref() };
        if !entry.life.is_shared() && !entry.life.link() {
            return; // it is in this worker's inbox, and becomes ready when it comes out
        }
        self.with(|queues| queues.append(task));
        self.count(1);
    }

    /// Takes out the task that gave way first.
    pub(in crate::sched) fn pop_given_way(&self) -> Option<NonNull<Task>> {
        let task = self.with(Queues::remove_first)?;
        // SAFETY: alive (invariant 2).
        let entry = unsafe { task.as_ref() };
        if !entry.life.is_shared() {
            entry.life.unlink();
        }
        self.count(-1);
        Some(task)
    }
}
