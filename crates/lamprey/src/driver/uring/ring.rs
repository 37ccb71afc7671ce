//! A worker's ring: two queues that the worker shares with the kernel, one of entries (what is to be done), one of
//! completions (what has been done).
//!
//! # Invariants
//! 1. Only the owner, the kernel thread of the worker, adds entries: through a [`Here`], which cannot leave it.
//! 2. Only the owner takes completions, under the lock `taken`, and dispatches them after it has released that: a waiter's
//!    wake may run code of the program.
//! 3. What an entry names (memory, descriptors) stays until its last completion has been taken ([`Here::push`]). So a
//!    ring is dropped only after all its completions have been taken ([`Ring::retire`]).
//! 4. `in_flight` is the number of entries whose last completion has not been taken.
//!
//! # Rejected
//! * Another worker that takes completions while the owner computes, as it takes events of its epoll: the owner, about to
//!   sleep until there is a completion, would sleep on after another thread has taken that one. Those that wait for
//!   operations are hosts of the owner, which could not run before either, and futures.
//!
//! # A full queue of entries
//! The kernel takes the entries at once then, which empties it. It refuses while it is short of memory, or has
//! completions that found no room; those are taken out of its way, and dispatched with the next ones.
//!
//! # An overflow of completions
//! The kernel keeps those that find no room (`IORING_FEAT_NODROP`, which the probe demands) and sets a flag, on which
//! [`Here::submit_if_needed`] enters the kernel, which then delivers them.

use super::buffers::Buffers;
use super::completion::{self, Completion};
use crate::bug::say;
use crate::driver::pool;
use crate::kernel::after_failed_wait;
use crate::sched::on_worker;
use crate::sync_shim::{AtomicUsize, Mutex, MutexGuard, Ordering};
use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, squeue};
use rustix::io::Errno;
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// The places for entries that the kernel has not taken yet.
const ENTRIES: u32 = 256;
/// The places for completions that have not been taken.
const COMPLETIONS: u32 = 4096;

thread_local! {
    /// The ring of the worker that runs on this kernel thread. It lives until all threads of the worker have ended.
    static HERE: Cell<*const Ring> = const { Cell::new(ptr::null()) };
}

/// A ring of io_uring.
pub(crate) struct Ring {
    uring: IoUring,
    taken: Mutex<Vec<Completion>>,
    in_flight: AtomicUsize,
    /// For multishots; made when there is the first.
    buffers: OnceLock<Arc<Buffers>>,
}

impl Ring {
    /// A ring for the calling kernel thread, which becomes its owner.
    ///
    /// # Errors
    /// The kernel's: it has no io_uring, or refuses it, or is out of memory.
    pub(super) fn install() -> io::Result<Arc<Self>> {
        let ring = Arc::new(Self {
            uring: build(ENTRIES, COMPLETIONS)?,
            taken: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            buffers: OnceLock::new(),
        });
        // The kernel's threads for what may block, such as opening a FIFO: as many as the pool for files may have, if those are
        // more than usual. (Older kernels: few.)
        let most = pool::current(pool::Class::Files).map_or(0, |pool| pool.max()).max(pool::MOST_THREADS);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let _ = ring.uring.submitter().register_iowq_max_workers(&mut [most, 0]);
        HERE.set(Arc::as_ptr(&ring));
        Ok(ring)
    }

    /// Takes the completions that are there.
    pub(super) fn take(&self, found: &mut Vec<Completion>) {
        let mut taken = self.taken();
        self.take_to(&mut taken);
        found.append(&mut taken);
    }

    fn take_to(&self, taken: &mut Vec<Completion>) {
        // SAFETY: only the owner takes (invariant 2), and no reference is kept.
        let completions = unsafe { self.uring.completion_shared() };
        let before = taken.len();
        taken.extend(completions.map(|entry| Completion::new(&entry)));
        let ended = taken[before..].iter().filter(|completion| !completion.answer.is_to_go_on()).count();
        // Relaxed: a count, of the owner's.
        self.in_flight.fetch_sub(ended, Ordering::Relaxed);
    }

    /// The number of entries whose last completion has not been taken: a hint.
    pub(super) fn in_flight(&self) -> usize {
        // Relaxed: a hint; the owner itself adds.
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Asks the kernel to give up the operation `data`, from any thread. One that has not been submitted yet is not
    /// found, and one that the kernel is in the middle of goes on.
    pub(super) fn cancel_from_anywhere(&self, data: u64) {
        let now = Some(Timespec::new());
        let _ = self.uring.submitter().register_sync_cancel(now, CancelBuilder::user_data(data));
    }

    /// The worker ends: gives up all operations, and waits until the kernel has done with what they name.
    pub(super) fn retire(&self) {
        HERE.set(ptr::null());
        let mut found = Vec::new();
        while self.in_flight() != 0 {
            // Each time: those that were still in the queue of entries are found only now.
            let _ = self.uring.submitter().register_sync_cancel(Some(Timespec::new()), CancelBuilder::any());
            match self.enter(1, Some(Duration::from_millis(1))) {
                Err(error) if is_fatal(&error) => gone(&error),
                _ => self.take(&mut found),
            }
            completion::dispatch(&mut found);
        }
        if let Some(buffers) = self.buffers.get() {
            buffers.forget(self);
        }
    }

    /// The ring's buffers.
    ///
    /// # Errors
    /// The kernel's, when it cannot be told of them.
    pub(super) fn buffers(&self) -> io::Result<Arc<Buffers>> {
        if let Some(buffers) = self.buffers.get() {
            return Ok(Arc::clone(buffers));
        }
        // Only the owner comes here, before the first multishot.
        let buffers = Buffers::register(self)?;
        Ok(Arc::clone(self.buffers.get_or_init(|| buffers)))
    }

    /// # Safety
    /// At the address are so many entries of zeros, which stay until they are unregistered or the ring is closed.
    pub(super) unsafe fn register_buffers(&self, address: u64, count: u16, group: u16) -> io::Result<()> {
        // SAFETY: as promised by the caller.
        unsafe { self.uring.submitter().register_buf_ring_with_flags(address, count, group, 0) }
    }

    pub(super) fn unregister_buffers(&self, group: u16) {
        // An error means that there are none.
        let _ = self.uring.submitter().unregister_buf_ring(group);
    }

    /// Has the kernel take the entries, and waits for `want` completions.
    fn enter(&self, want: usize, timeout: Option<Duration>) -> io::Result<usize> {
        match timeout {
            None => self.uring.submitter().submit_and_wait(want),
            Some(timeout) => {
                // A wait of more than a day ends early and is repeated.
                let timeout = Timespec::from(timeout.min(Duration::from_secs(86_400)));
                self.uring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&timeout))
            }
        }
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Completion>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A ring as workers have it.
pub(super) fn build(entries: u32, completions: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .dontfork()
        .setup_clamp()
        .setup_submit_all()
        .setup_cqsize(completions)
        // Completions are made when the owner enters the kernel anyway, or at a tick, without an interrupt for each.
        .setup_coop_taskrun()
        .setup_taskrun_flag()
        .build(entries)
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

impl Here {
    /// Queues an entry. The kernel takes it when the worker next looks for events, or when the queue is full.
    ///
    /// # Safety
    /// What the entry names stays in place until its last completion has been taken. Its data are of
    /// [`completion`].
    pub(super) unsafe fn push(&self, entry: &squeue::Entry) {
        loop {
            // SAFETY: only the owner adds (invariant 1), and no reference is kept.
            let mut queue = unsafe { self.uring.submission_shared() };
            // SAFETY: as promised by the caller.
            let is_queued = unsafe { queue.push(entry) }.is_ok();
            drop(queue);
            if is_queued {
                break;
            }
            self.submit();
        }
        // Relaxed: a count.
        self.in_flight.fetch_add(1, Ordering::Relaxed);
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
        loop {
            match self.enter(0, None) {
                Ok(_) if self.is_all_taken() => return,
                Err(error) if is_fatal(&error) => gone(&error),
                _ => {}
            }
            self.take_to(&mut self.taken());
            std::thread::yield_now();
        }
    }

    /// The kernel has taken all entries.
    fn is_all_taken(&self) -> bool {
        // SAFETY: only the owner adds (invariant 1), and no reference is kept.
        unsafe { self.uring.submission_shared() }.is_empty()
    }

    /// Has the kernel take the entries if there are any, and make the completions that it has put off.
    pub(super) fn submit_if_needed(&self) {
        // SAFETY: only the owner adds (invariant 1), and no reference is kept.
        let queue = unsafe { self.uring.submission_shared() };
        let is_needed = !queue.is_empty() || queue.taskrun() || queue.cq_overflow();
        drop(queue);
        if is_needed {
            self.submit();
        }
    }

    /// Has the kernel take the entries, and waits for a completion. Returns early for signals.
    pub(super) fn wait(&self, timeout: Option<Duration>) {
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

/// False for the errors after which the kernel works on: a signal, the end of the time, a shortage.
fn is_fatal(error: &io::Error) -> bool {
    !matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY))
}

/// The kernel refuses to work on a ring, and may still write to what operations name.
#[cold]
fn gone(error: &io::Error) -> ! {
    say!("io_uring fails ({error}), and memory cannot be had back from it; LAMPREY_IO=epoll does without it");
    std::process::abort()
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}
