//! What a worker's ring has yet to give to the kernel: entries, and the operations whose futures were dropped.
//!
//! An entry of a future waits here until entries are given to the kernel, and is taken out if the future is dropped
//! before: **what is dropped before it is submitted is never submitted**. Entries of blocked threads, which stay until
//! the answer, go to the kernel's queue at once.
//!
//! # States of a future's operation
//! ```text
//! kept back --flush--> in the kernel's queue --the kernel is entered--> the kernel's --> answered
//!     \---left, flush--> withdrawn (answered by the runtime: not performed)
//! ```
//!
//! # Invariants
//! 1. The kernel's queue is written, and entries are kept back and withdrawn, in sections only
//!    ([`AsymmetricLock`]): by the owner, or by a visitor that serves for it.
//! 2. A [`flush`](Entries::flush_as_owner) takes what was left before it moves any entry to the kernel's queue, in the same
//!    section. So what was left before a flush is not moved by it or by a later one.
//! 3. What was left and is not kept back any more has been moved by an earlier section. So the kernel has it once it
//!    has been entered after the flush: only then can it be told to give it up. (It finds what it has, and nothing else.)
//! 4. What was left keeps the record, so that no other operation has its number, until it was withdrawn or given up.
//!
//! # Who may touch what
//! The owner: all. A visitor (a helper, which serves the ring): `flush_as_visitor`. Any thread: `leave`.
//!
//! # Orderings
//! `has_left` is set under the lock of `left`, after the push, with Release, and read with Acquire; it only saves the lock.
//! `is_waiting` is a hint for helpers, which look again soon.
//!
//! # Rejected
//! * The thread that drops a future tells the kernel at once: the entry may be in the queue and not be the kernel's yet,
//!   which then finds nothing to give up, and performs the operation later. A FIFO that is opened so holds a thread of
//!   the kernel's for ever.
//! * To enter the kernel for the owner, and then tell it: the operation begins. And the entries of others in that queue
//!   belong to a thread that may end, with which the kernel gives them up.
//!
//! # Checked by
//! `model::entries` (loom, with broken variants that it catches), `tests/uring/left.rs`, `tests/uring/cancel.rs`.

use crate::queue::asymmetric_lock::AsymmetricLock;
use crate::sync_shim::{AtomicBool, Mutex, MutexGuard, Ordering, left_out};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

/// Entries that the kernel does not have yet, and operations that are to be given up.
pub(crate) struct Entries<E> {
    /// Entries of futures, with their numbers.
    kept_back: AsymmetricLock<VecDeque<(u64, E)>>,
    /// The kernel has not been entered since an entry was added. A hint.
    is_waiting: AtomicBool,
    /// `None` when the ring has come to its end.
    left: Mutex<Option<Vec<Left>>>,
    has_left: AtomicBool,
}

/// An operation whose future was dropped.
pub(crate) struct Left {
    pub(crate) data: u64,
    /// What has this number.
    _record: Arc<dyn Any + Send + Sync>,
}

/// What a flush has found.
#[derive(Default)]
pub(crate) struct Flushed {
    /// The numbers of operations that the kernel will never see: each has come to its end.
    pub(crate) withdrawn: Vec<u64>,
    /// What the kernel is to give up, after it has been entered.
    pub(crate) left: Vec<Left>,
}

impl<E> Entries<E> {
    pub(crate) fn new() -> Self {
        Self {
            kept_back: AsymmetricLock::new(VecDeque::new()),
            is_waiting: AtomicBool::new(false),
            left: Mutex::new(Some(Vec::new())),
            has_left: AtomicBool::new(false),
        }
    }

    /// Runs `section`, which may write to the kernel's queue; it is given the number of entries that are kept back.
    ///
    /// # Safety
    /// On the owner's kernel thread, and not within a section.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn as_owner<R>(&self, section: impl FnOnce(usize) -> R) -> R {
        // SAFETY: as promised by the caller.
        unsafe { self.kept_back.as_owner(|kept_back| section(kept_back.len())) }
    }

    /// Keeps an entry back; returns how many there are.
    ///
    /// # Safety
    /// On the owner's kernel thread, and not within a section.
    pub(crate) unsafe fn keep_back(&self, data: u64, entry: E) -> usize {
        let keep_back = |kept_back: &mut VecDeque<_>| {
            kept_back.push_back((data, entry));
            kept_back.len()
        };
        // SAFETY: as promised by the caller.
        unsafe { self.kept_back.as_owner(keep_back) }
    }

    /// An entry has been added, or, `false`, the kernel has been entered since.
    pub(crate) fn set_waiting(&self, is_waiting: bool) {
        // Relaxed: a hint.
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// True if a flush has something to do, as far as a helper can see.
    pub(crate) fn is_waiting(&self) -> bool {
        // Relaxed: a hint.
        self.is_waiting.load(Ordering::Relaxed) || self.has_left()
    }

    /// True if the future of an operation was dropped since the last flush.
    pub(crate) fn has_left(&self) -> bool {
        // Acquire pairs with the Release store in `leave`.
        self.has_left.load(Ordering::Acquire)
    }

    /// The future of an operation was dropped: it is to be withdrawn, or given up. The caller then sees to it that the
    /// owner does not sleep.
    pub(crate) fn leave(&self, data: u64, record: Arc<dyn Any + Send + Sync>) {
        self.leave_again([Left { data, _record: record }]);
    }

    /// The kernel could not be entered: to be given up later.
    pub(crate) fn leave_again(&self, back: impl IntoIterator<Item = Left>) {
        let mut left = self.left();
        if let Some(left) = &mut *left {
            left.extend(back);
            if !left.is_empty() {
                // Release pairs with the Acquire load in `has_left`.
                self.has_left.store(true, Ordering::Release);
            }
        }
    }

    /// Withdraws what was left, and moves the other entries to the kernel's queue by `push`, as far as there is room
    /// (false: there is none).
    ///
    /// # Safety
    /// On the owner's kernel thread, and not within a section.
    pub(crate) unsafe fn flush_as_owner(&self, push: impl FnMut(&E) -> bool) -> Flushed {
        // SAFETY: as promised by the caller.
        unsafe { self.kept_back.as_owner(|kept_back| self.flush(kept_back, push)) }
    }

    /// Does what [`flush_as_owner`](Self::flush_as_owner) does, for a helper on another kernel thread.
    pub(crate) fn flush_as_visitor(&self, push: impl FnMut(&E) -> bool) -> Flushed {
        self.kept_back.visit(|kept_back| self.flush(kept_back, push))
    }

    fn flush(&self, kept_back: &mut VecDeque<(u64, E)>, mut push: impl FnMut(&E) -> bool) -> Flushed {
        let mut flushed = Flushed::default();
        if self.has_left() {
            let mut left = self.left();
            // Release: as in `leave`; the lock orders both.
            self.has_left.store(false, Ordering::Release);
            let taken = left.as_mut().map(std::mem::take).unwrap_or_default();
            drop(left);
            for left in taken {
                match kept_back.iter().position(|(data, _)| *data == left.data) {
                    Some(at) if !left_out!(EntriesWithdraw) => {
                        kept_back.remove(at);
                        flushed.withdrawn.push(left.data);
                    }
                    _ => flushed.left.push(left),
                }
            }
        }
        while let Some((_, entry)) = kept_back.front() {
            if !push(entry) {
                break;
            }
            kept_back.pop_front();
        }
        flushed
    }

    /// The ring ends: withdraws all that is kept back, and takes no more.
    ///
    /// # Safety
    /// On the owner's kernel thread, and not within a section; the caller keeps nothing back afterwards.
    pub(crate) unsafe fn close(&self) -> Vec<u64> {
        let left = self.left().take();
        drop(left);
        // SAFETY: as promised by the caller.
        unsafe { self.kept_back.as_owner(|kept_back| kept_back.drain(..).map(|(data, _)| data).collect()) }
    }

    fn left(&self) -> MutexGuard<'_, Option<Vec<Left>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
