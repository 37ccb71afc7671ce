//! [`Aio`]: the event loop for reads of files, on io_uring (the paper's, on Linux AIO: 4.5).
//!
//! # Invariants
//! 1. A read whose entry the kernel may have is in `reads`, with its file and its buffer, until its completion
//!    has been taken. Neither moves in memory: the buffer is on the heap.
//! 2. Entries are added under the lock of `reads`, completions are taken under that of `completions`: one
//!    kernel thread at a time does either. The kernel itself may be entered by several.
//! 3. A read that the kernel gives up with the thread that had it taken is added again, by a thread that waits.
//!
//! 4. A child made by `fork` does not touch the ring, which it shares with its parent. The kernel writes to the memory of the parent, so
//!    that buffers may be freed.
//!
//! # Rejected
//! * A thread of the kernel's that takes the entries (`SQPOLL`), or one of our own: no read would end with the thread that
//!   adds it, but each would cost a wake, and the first a CPU.

use super::aio_read::AioRead;
use super::thread::Trace;
use crate::bug::say;
use crate::kernel::fork::{self, Process};
use crate::sync_shim::watched::{Mutex, MutexGuard};
use io_uring::types::{CancelBuilder, Fd};
use io_uring::{IoUring, opcode, squeue};
use slab::Slab;
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::sync::PoisonError;

/// The places for entries that the kernel has not taken yet. Each `add` has it take its own at once.
const ENTRIES: u32 = 64;
/// The places for completions that have not been taken. The kernel keeps those that do not fit.
const COMPLETIONS: u32 = 4096;
/// The key of no read.
const NOTIFY: u64 = u64::MAX;

/// How often a read is added again. A kernel thread has ended each time; or else the error is the file's.
const MOST_TRIES: u8 = 100;

/// A ring of reads that the kernel makes while threads wait. One kernel thread or several [`wait`](Self::wait) for
/// them, any may [`add`](Self::add) threads, and end after that.
///
/// # Dropping
/// Waits until the kernel has done or given up all reads, whose threads are dropped.
///
/// # In a child made by `fork`
/// It is the parent's, which does not notice what the child does with it: `wait` returns an error.
pub struct Aio {
    ring: IoUring,
    reads: Mutex<Slab<Added>>,
    completions: Mutex<()>,
    /// Not being dropped.
    is_open: bool,
    /// Whose ring it is.
    process: Process,
}

struct Added {
    read: AioRead,
    tries: u8,
}

impl Added {
    /// For the read with this key.
    fn entry(&mut self, key: usize) -> squeue::Entry {
        let fd = Fd(self.read.file().as_raw_fd());
        // The last one means the file's cursor to the kernel; those before it are refused.
        let offset = self.read.offset().min(u64::MAX - 1);
        let buffer = self.read.buffer();
        let len = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        opcode::Read::new(fd, buffer.as_mut_ptr(), len).offset(offset).build().user_data(key as u64)
    }
}

/// What the kernel says of an operation whose thread has ended (`EFAULT`: it has no memory to write to any more).
fn is_given_up(result: i32) -> bool {
    // The last ones are what it says within itself for an interrupted call.
    matches!(-result, libc::ECANCELED | libc::EFAULT | libc::EINTR | 512..=516)
}

impl Aio {
    /// A ring without reads.
    ///
    /// # Errors
    /// The kernel's: it has no io_uring, or does not let this process use it (`EPERM`, `ENOSYS`), or is out of
    /// memory. A scheduler then has a pool of kernel threads call [`AioRead::perform`].
    pub fn new() -> io::Result<Self> {
        let ring = IoUring::builder().setup_cqsize(COMPLETIONS).setup_clamp().build(ENTRIES)?;
        if !ring.params().is_feature_nodrop() {
            return Err(io::Error::new(
                ErrorKind::Unsupported,
                "this kernel loses completions of io_uring (it is older than 5.5)",
            ));
        }
        Ok(Self {
            ring,
            reads: Mutex::default(),
            completions: Mutex::default(),
            is_open: true,
            process: Process::this(),
        })
    }

    /// Keeps a thread until its bytes have been read: [`wait`](Self::wait) returns it then.
    pub fn add(&self, read: AioRead) {
        let entry = {
            let mut reads = self.reads();
            let place = reads.vacant_entry();
            let key = place.key();
            place.insert(Added { read, tries: 0 }).entry(key)
        };
        // SAFETY: the file and the buffer stay until the completion (invariant 1).
        unsafe { self.push(&entry) };
    }

    /// Gives an entry to the kernel.
    ///
    /// # Safety
    /// What the entry names stays until its completion.
    unsafe fn push(&self, entry: &squeue::Entry) {
        if !self.process.is_this() {
            return; // invariant 4
        }
        loop {
            let reads = self.reads();
            // SAFETY: the lock is held, so nobody else reaches the queue (invariant 2).
            let mut queue = unsafe { self.ring.submission_shared() };
            // SAFETY: as promised by the caller.
            let has_room = unsafe { queue.push(entry) }.is_ok();
            drop((queue, reads));
            self.submit();
            if has_room {
                return;
            }
        }
    }

    /// Has the kernel take the entries. They cannot be withdrawn: while it is short of memory, or of room for
    /// completions, which a waiter takes, this tries again.
    fn submit(&self) {
        while let Err(error) = self.ring.submit() {
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EBUSY | libc::EINTR) => std::thread::yield_now(),
                _ => gone(&error),
            }
        }
    }

    /// Waits until bytes have been read, or for [`notify`](Self::notify), and returns the threads that can go on.
    ///
    /// # Errors
    /// The kernel's.
    ///
    /// # Cancellation
    /// Not interruptible.
    ///
    /// # Blocking
    /// The calling kernel thread.
    pub fn wait(&self) -> io::Result<Vec<Trace>> {
        if !self.process.is_this() {
            return Err(fork::of_parent());
        }
        match self.enter() {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let done = self.take();
        Ok(done.into_iter().map(|(read, result)| read.done(result)).collect())
    }

    /// Waits for a completion.
    fn enter(&self) -> io::Result<()> {
        const GETEVENTS: u32 = 1;
        // SAFETY: there is no argument besides.
        unsafe { self.ring.submitter().enter::<()>(0, 1, GETEVENTS, None) }.map(|_| ())
    }

    /// The reads that the kernel has done.
    fn take(&self) -> Vec<(AioRead, io::Result<usize>)> {
        let one_at_a_time = self.completions.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held, so nobody else reaches the queue (invariant 2).
        let mut done: Vec<_> = unsafe { self.ring.completion_shared() }.collect();
        drop(one_at_a_time);
        done.retain(|entry| entry.user_data() != NOTIFY);
        let mut reads = self.reads();
        let mut again = Vec::new();
        let mut taken = Vec::new();
        for entry in done {
            let key = entry.user_data() as usize;
            if self.is_open && is_given_up(entry.result()) && reads[key].tries < MOST_TRIES {
                reads[key].tries += 1;
                again.push(reads[key].entry(key));
                continue;
            }
            let result = usize::try_from(entry.result());
            let result = result.map_err(|_| io::Error::from_raw_os_error(entry.result().saturating_neg()));
            taken.push((reads.remove(key).read, result));
        }
        drop(reads);
        // SAFETY: file and buffer stay until the next completion: they have not been taken out (invariant 1).
        again.iter().for_each(|entry| unsafe { self.push(entry) });
        taken
    }

    /// Ends one [`wait`](Self::wait), the present or the next.
    pub fn notify(&self) {
        // SAFETY: the entry names nothing.
        unsafe { self.push(&opcode::Nop::new().build().user_data(NOTIFY)) };
    }

    /// How many threads wait.
    pub fn len(&self) -> usize {
        self.reads().len()
    }

    /// True if no thread waits.
    pub fn is_empty(&self) -> bool {
        self.reads().is_empty()
    }

    fn reads(&self) -> MutexGuard<'_, Slab<Added>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        self.is_open = false;
        if !self.process.is_this() {
            return; // invariant 4
        }
        // An error (kernels before 6.0) means that the reads run to their end.
        let _ = self.ring.submitter().register_sync_cancel(None, CancelBuilder::any());
        while !self.is_empty() {
            match self.enter() {
                Err(error) if error.kind() != ErrorKind::Interrupted => gone(&error),
                _ => drop(self.take()),
            }
        }
    }
}

/// The kernel refuses to work on the ring, and may still write to the buffers.
#[cold]
fn gone(error: &io::Error) -> ! {
    say!("io_uring fails ({error}), and buffers cannot be had back from it");
    std::process::abort()
}

impl fmt::Debug for Aio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aio").field("reads", &self.len()).finish_non_exhaustive()
    }
}
