//! A worker's ring: two queues that the worker shares with the kernel, one of entries (what is to be done), one of
//! completions (what has been done).
//!
//! # Invariants
//! 1. Only the owner, the kernel thread of the worker, adds entries: through a [`Here`](super::here::Here), which cannot leave it.
//!    What is in the kernel's queue changes in sections of [`Entries`] only, the owner's or a helper's.
//! 2. Completions are taken under the lock `taken`, by who has the right to serve (`crate::driver::service`), who dispatches them
//!    after it has released that lock: a waiter's wake may run code of the program.
//! 3. What an entry names (memory, descriptors) stays until its last completion has been taken (`Here::push`). So a
//!    ring is dropped only after all its completions have been taken ([`Ring::retire`]).
//! 4. `in_flight` is the number of entries whose last completion has not been taken.
//!
//! # A full queue of entries
//! The kernel takes the entries at once then, which empties it. It refuses while it is short of memory, or has
//! completions that found no room; those are taken out of its way, and dispatched with the next ones.
//!
//! # An overflow of completions
//! The kernel keeps those that find no room (`IORING_FEAT_NODROP`, which the probe demands) and sets a flag, on which
//! `Here::submit_if_needed` enters the kernel, which then delivers them; so does a helper.

use super::buffers::Buffers;
use super::completion::{self, Completion};
use super::here::{self, HERE};
use super::place::Places;
use crate::bug::say;
use crate::driver::entries::Entries;
use crate::driver::service::Service;
use crate::kernel::fork::Process;
use crate::sync_shim::{AtomicUsize, Mutex, MutexGuard, Ordering};
use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, squeue};
use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// The places for entries that the kernel has not taken yet.
pub(super) const ENTRIES: u32 = 256;
/// The places for completions that have not been taken.
const COMPLETIONS: u32 = 4096;

/// How often, about once in a millisecond, a worker that ends asks the kernel to give operations up, which refuses that; they may end by themselves.
const PATIENCE: u32 = 1000;

/// A ring of io_uring.
pub(crate) struct Ring {
    pub(super) uring: IoUring,
    pub(super) entries: Entries<squeue::Entry>,
    pub(super) service: Service<Completion>,
    /// Taken, and not given to anyone yet.
    taken: Mutex<Vec<Completion>>,
    pub(super) in_flight: AtomicUsize,
    pub(super) places: Places,
    /// Becomes readable when another thread ends the owner's wait; never read, so each write is an edge.
    pub(super) bell: Arc<OwnedFd>,
    pub(super) process: Process,
    /// For multishots; made when there is the first.
    buffers: OnceLock<Arc<Buffers>>,
}

impl Ring {
    /// A ring for the calling kernel thread, which becomes its owner.
    ///
    /// # Errors
    /// The kernel's: it has no io_uring, or refuses it, or is out of memory.
    pub(super) fn install(bell: Arc<OwnedFd>) -> io::Result<Arc<Self>> {
        let (places, most) = Places::for_ring();
        let ring = Arc::new(Self {
            places,
            uring: build(ENTRIES, COMPLETIONS)?,
            entries: Entries::new(),
            service: Service::new(),
            bell,
            taken: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            process: Process::this(),
            buffers: OnceLock::new(),
        });
        // (Older kernels: few.)
        let _ = ring.uring.submitter().register_iowq_max_workers(&mut [most, 0]);
        HERE.set(Arc::as_ptr(&ring));
        Ok(ring)
    }

    /// Takes the completions that are there. The caller has the right to serve.
    pub(super) fn take(&self, found: &mut Vec<Completion>) {
        let mut taken = self.taken();
        self.take_to(&mut taken);
        found.append(&mut taken);
    }

    pub(super) fn take_to(&self, taken: &mut Vec<Completion>) {
        // SAFETY: the lock of `taken` is held (invariant 2), and no reference is kept.
        let completions = unsafe { self.uring.completion_shared() };
        let before = taken.len();
        taken.extend(completions.map(|entry| Completion::new(&entry)));
        let ended = taken[before..].iter().filter(|completion| !completion.answer.is_to_go_on()).count();
        // Relaxed: a count.
        self.in_flight.fetch_sub(ended, Ordering::Relaxed);
    }

    /// Puts an entry into the kernel's queue; false if that is full.
    ///
    /// # Safety
    /// In a section of `entries`. What the entry names stays until its last completion has been taken.
    pub(super) unsafe fn push_now(&self, entry: &squeue::Entry) -> bool {
        // SAFETY: in a section, so nobody else writes to the queue; what the entry names stays (contract).
        unsafe { self.uring.submission_shared().push(entry) }.is_ok()
    }

    /// The number of entries whose last completion has not been taken: a hint.
    pub(super) fn in_flight(&self) -> usize {
        // Relaxed: a hint; the owner itself adds.
        self.in_flight.load(Ordering::Relaxed)
    }

    /// The future of the operation `data` was dropped, on any thread: it is withdrawn if the kernel does not have it yet, and
    /// else given up, when entries are next given to the kernel.
    ///
    /// A child made by `fork` gives up nothing of its parent's.
    pub(super) fn leave(&self, data: u64, record: Arc<dyn Any + Send + Sync>) {
        if !self.process.is_this() {
            return std::mem::forget(record);
        }
        self.entries.leave(data, record);
        if !here::is_owner(self) {
            crate::driver::epoll::ring(&self.bell);
        }
    }

    /// Operations that the kernel will never see have come to their end.
    pub(super) fn withdraw(&self, numbers: Vec<u64>) {
        if numbers.is_empty() {
            return;
        }
        // Relaxed: a count.
        self.in_flight.fetch_sub(numbers.len(), Ordering::Relaxed);
        self.taken().extend(numbers.into_iter().map(Completion::withdrawn));
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
        let right = self.service.hold();
        // SAFETY: the owner's kernel thread, of which no thread is left to add entries.
        self.withdraw(unsafe { self.entries.close() });
        let (mut found, mut refused) = (Vec::new(), 0);
        loop {
            self.take(&mut found);
            completion::dispatch(&mut found);
            if self.in_flight() == 0 {
                break;
            }
            // Each time: those that were still in the queue of entries are found only now.
            let given_up =
                self.uring.submitter().register_sync_cancel(Some(Timespec::new()), CancelBuilder::any());
            if let Err(error) = given_up.as_ref()
                && is_refusal(error)
            {
                refused += 1;
                if refused > PATIENCE {
                    gone(error);
                }
            }
            match self.enter(1, Some(Duration::from_millis(1))) {
                Err(error) if is_fatal(&error) => gone(&error),
                _ => {}
            }
        }
        if let Some(buffers) = self.buffers.get() {
            buffers.forget(self);
        }
        self.service.end(right);
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
    pub(super) fn enter(&self, want: usize, timeout: Option<Duration>) -> io::Result<usize> {
        match timeout {
            None => self.uring.submitter().submit_and_wait(want),
            Some(timeout) => {
                // A wait of more than a day ends early and is repeated.
                let timeout = Timespec::from(timeout.min(Duration::from_secs(86_400)));
                self.uring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&timeout))
            }
        }
    }

    /// What has been taken and not been dispatched.
    pub(super) fn taken(&self) -> MutexGuard<'_, Vec<Completion>> {
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

/// False for the errors after which the kernel works on: a signal, the end of the time, a shortage.
pub(super) fn is_fatal(error: &io::Error) -> bool {
    !matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY))
}

/// A filter that was installed after the start refuses the call.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
}

/// The kernel refuses to work on a ring, and may still write to what operations name.
#[cold]
pub(super) fn gone(error: &io::Error) -> ! {
    say!("io_uring fails ({error}), and memory cannot be had back from it; LAMPREY_IO=epoll does without it");
    std::process::abort()
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}
