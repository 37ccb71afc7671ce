//! The ring of the calling worker, for the worker itself: what adds entries, and enters the kernel.

use super::completion;
use super::ring::{ENTRIES, Ring, gone, is_fatal};
use crate::driver::entries::Left;
use crate::kernel::after_failed_wait;
use crate::sched::on_worker;
use crate::sync_shim::Ordering;
use io_uring::squeue;
use rustix::io::Errno;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    /// The ring of the worker that runs on this kernel thread. It lives until all threads of the worker have ended.
    pub(super) static HERE: Cell<*const Ring> = const { Cell::new(ptr::null()) };
}

/// The ring of the calling worker: proof that the caller is its owner.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    ring: NonNull<Ring>,
    _of_this_thread: PhantomData<*const ()>,
}

/// The ring of the worker that runs on the calling kernel thread; `None` elsewhere, with another event loop, and while
/// the worker is made or has ended: it takes no completions then.
pub(crate) fn here() -> Option<Here> {
    of_thread().filter(|_| on_worker())
}

/// The ring of the calling kernel thread, whether its worker runs or not.
pub(super) fn of_thread() -> Option<Here> {
    let ring = NonNull::new(HERE.get().cast_mut())?;
    Some(Here { ring, _of_this_thread: PhantomData })
}

impl Deref for Here {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        // SAFETY: it lives until all threads of its worker have ended, and a `Here` does not leave a call of one.
        unsafe { self.ring.as_ref() }
    }
}

/// True on the kernel thread of the ring's worker.
pub(super) fn is_owner(ring: &Ring) -> bool {
    HERE.try_with(Cell::get).is_ok_and(|here| ptr::eq(here, ring))
}

impl Here {
    /// Queues an entry. The kernel takes it when the worker next looks for events, when the queue is full, or when
    /// another worker finds that this one computes.
    ///
    /// # Safety
    /// What the entry names stays in place until its last completion has been taken. Its data are of
    /// [`completion`].
    pub(super) unsafe fn push(&self, entry: &squeue::Entry) {
        // Relaxed: a count. First: a helper may take the completion as soon as the entry is there.
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        loop {
            // SAFETY: the owner, in a section; what the entry names stays (contract).
            if unsafe { self.entries.as_owner(|_| self.push_now(entry)) } {
                break;
            }
            self.submit();
        }
        self.entries.set_waiting(true);
    }

    /// Queues an operation that [may be left](Ring::leave): it is withdrawn if that happens before the kernel has it.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(super) unsafe fn keep_back(&self, entry: squeue::Entry) {
        // Relaxed: as in `push`.
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the owner, and not in a section.
        let count = unsafe { self.entries.keep_back(entry.get_user_data(), entry) };
        self.entries.set_waiting(true);
        if count >= ENTRIES as usize {
            self.submit();
        }
    }

    /// Asks the kernel to give up the operation `data`, which is in flight. The operation's completion says whether it
    /// has.
    pub(super) fn cancel(&self, data: u64) {
        let entry = super::op::cancel::entry(data).user_data(completion::IGNORED);
        // SAFETY: the entry names nothing. The kernel takes entries in order, so `data` is not yet another operation.
        unsafe { self.push(&entry) };
        self.submit();
    }

    /// Has the kernel take the entries. Runs no code of the program.
    #[cold]
    pub(super) fn submit(&self) {
        let mut left = Vec::new();
        loop {
            self.flush(&mut left);
            match self.enter(0, None) {
                Ok(_) if self.is_all_taken() => break,
                Err(error) if is_fatal(&error) => gone(&error),
                _ => {}
            }
            self.take_to(&mut self.taken());
            std::thread::yield_now();
        }
        left.iter().for_each(|left: &Left| self.cancel_from_anywhere(left.data));
    }

    /// Moves what is kept back to the kernel's queue, and withdraws what was left; `left` gets what is to be given up
    /// after the kernel has been entered.
    fn flush(&self, left: &mut Vec<Left>) {
        self.entries.set_waiting(false);
        // SAFETY: the owner, and not in a section. What the entries name stays, as `keep_back` was promised.
        let flushed = unsafe { self.entries.flush_as_owner(|entry| self.push_now(entry)) };
        self.withdraw(flushed.withdrawn);
        left.extend(flushed.left);
    }

    /// The kernel has taken all entries.
    fn is_all_taken(&self) -> bool {
        // SAFETY: the owner, in a section, and no reference is kept.
        unsafe {
            self.entries.as_owner(|kept_back| kept_back == 0 && self.uring.submission_shared().is_empty())
        }
    }

    /// Has the kernel take the entries if there are any, and make the completions that it has put off.
    pub(super) fn submit_if_needed(&self) {
        let is_needed = |kept_back| {
            // SAFETY: the owner, in a section, and no reference is kept.
            let queue = unsafe { self.uring.submission_shared() };
            kept_back != 0 || !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
        };
        // SAFETY: the owner, and not in a section.
        if unsafe { self.entries.as_owner(is_needed) } || self.entries.has_left() {
            self.submit();
        }
    }

    /// Has the kernel take the entries, and waits for a completion. Returns early for signals. The caller has the right to
    /// serve.
    pub(super) fn wait(&self, timeout: Option<Duration>) {
        let mut left = Vec::new();
        self.flush(&mut left);
        if !left.is_empty() {
            // The kernel has them, or is about to have them.
            self.entries.leave_again(left);
            self.submit();
        }
        if !self.taken().is_empty() {
            return self.submit_if_needed();
        }
        match self.enter(1, timeout) {
            Err(error) if is_fatal(&error) => gone(&error),
            Err(error) => {
                after_failed_wait("io_uring_enter", Errno::from_io_error(&error).unwrap_or(Errno::IO))
            }
            Ok(_) => {}
        }
    }

    /// The ring, for what may leave this kernel thread.
    pub(super) fn shared(&self) -> Arc<Ring> {
        // SAFETY: made by `Ring::install` from an `Arc`, which its source still has.
        unsafe {
            Arc::increment_strong_count(self.ring.as_ptr());
            Arc::from_raw(self.ring.as_ptr())
        }
    }
}
