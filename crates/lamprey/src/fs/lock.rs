//! Locks of whole files (`flock(2)`), between processes and between open files.
//!
//! The kernel wakes nobody who does not wait for a lock within it, and a thread that does cannot be called back. So the
//! lock is tried again and again, less and less often: a thread that waits costs no kernel thread, can be cancelled and
//! limited in time, and it is certain who has the lock when it goes on.
//!
//! # Rejected
//! * A thread of the pool that waits within the kernel: 64 waits for locks would hold up all other calls, and a wait that
//!   is given up would go on, and take the lock in the end.
//! * A kernel thread for each that waits, interrupted by a signal: the signal may come before the wait has begun, or after
//!   it, and the lock may be taken all the same.

use super::File;
use crate::events::{FutureEvt, future_evt};
use crate::sched::coop_async::take_a_turn_async;
use crate::sched::wait::{Early, Waited, wait};
use crate::sched::{Wait, coop, unwind_cancelled};
use crate::time::pauses::Pauses;
use crate::{time, world};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::TryLockError;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// How long the first wait for a lock is; each is twice as long as the one before.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest.
const LONGEST: Duration = Duration::from_millis(50);

const EXCLUSIVE: FlockOperation = FlockOperation::NonBlockingLockExclusive;
const SHARED: FlockOperation = FlockOperation::NonBlockingLockShared;

impl File {
    /// Locks the file, for this open file alone; waits while another one has it locked, of this process or another.
    ///
    /// The lock is advisory: it excludes other locks, and no reads or writes. It belongs to the open file: clones share it,
    /// and it goes with the last of them, or by [`unlock`](Self::unlock). An open file that has it locked as shared lets go
    /// of that first, also if it does not get the new lock. Within a process a [`Mutex`](crate::sync::Mutex) is far
    /// cheaper, and fair.
    ///
    /// # Examples
    /// ```
    /// use lamprey::fs::{self, File};
    /// use std::fs::TryLockError;
    ///
    /// let path = std::env::temp_dir().join(format!("lamprey-lock-{}", std::process::id()));
    /// lamprey::run(|| -> std::io::Result<()> {
    ///     let (one, other) = (File::create(&path)?, File::open(&path)?);
    ///     one.lock()?;
    ///     assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    ///     one.unlock()?;
    ///     other.lock()?;
    ///     fs::remove_file(&path)
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's. `WouldBlock` on a host that unwinds and would have to wait.
    ///
    /// # Cancellation
    /// The commit point is the system call that finds the file free. A thread that is cancelled before unwinds from here,
    /// and has not locked it; one that is cancelled after it has the lock, and unwinds at its next blocking call.
    ///
    /// # Blocking
    /// The lock is tried after 1 ms, 2 ms, and so on, at last every 50 ms; between, the thread sleeps. So whoever waits
    /// occupies no kernel thread, and those that wait get the lock in no order. Each attempt is a system call on the
    /// thread's worker: on a network file system it waits for the server's answer.
    #[doc(alias = "flock")]
    #[doc(alias = "lock_exclusive")]
    pub fn lock(&self) -> io::Result<()> {
        self.lock_until(EXCLUSIVE, None)
    }

    /// Locks the file as shared: any number of open files may have it locked so at a time. Otherwise as
    /// [`lock`](Self::lock).
    ///
    /// # Errors
    /// As for `lock`.
    ///
    /// # Cancellation
    /// As for `lock`.
    ///
    /// # Blocking
    /// As for `lock`.
    pub fn lock_shared(&self) -> io::Result<()> {
        self.lock_until(SHARED, None)
    }

    /// [`lock`](Self::lock), for at most `timeout`.
    ///
    /// # Errors
    /// `TimedOut`; those of `lock`.
    ///
    /// # Cancellation
    /// As for `lock`.
    ///
    /// # Blocking
    /// As for `lock`.
    pub fn lock_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.lock_until(EXCLUSIVE, Some(timeout))
    }

    /// [`lock_shared`](Self::lock_shared), for at most `timeout`.
    ///
    /// # Errors
    /// `TimedOut`; those of `lock`.
    ///
    /// # Cancellation
    /// As for `lock`.
    ///
    /// # Blocking
    /// As for `lock`.
    pub fn lock_shared_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.lock_until(SHARED, Some(timeout))
    }

    /// Locks the file if it is free now.
    ///
    /// # Errors
    /// `TryLockError::WouldBlock` if another open file has it locked; the system's.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.try_to(EXCLUSIVE)
    }

    /// Locks the file as shared if that can be done now.
    ///
    /// # Errors
    /// As for [`try_lock`](Self::try_lock).
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        self.try_to(SHARED)
    }

    /// Lets go of the lock. It is no error if there is none.
    ///
    /// # Errors
    /// The system's.
    pub fn unlock(&self) -> io::Result<()> {
        self.flock(FlockOperation::Unlock)
    }

    /// The awaitable form of [`lock`](Self::lock).
    ///
    /// # Errors
    /// As for `lock`.
    ///
    /// # Cancellation
    /// The future that returns `Ok` has locked the file; one that is dropped before that has not.
    pub fn lock_async(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        self.lock_when_free(EXCLUSIVE)
    }

    /// The awaitable form of [`lock_shared`](Self::lock_shared).
    ///
    /// # Errors
    /// As for `lock`.
    ///
    /// # Cancellation
    /// As for [`lock_async`](Self::lock_async).
    pub fn lock_shared_async(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        self.lock_when_free(SHARED)
    }

    /// [`lock`](Self::lock) as an event. If another one is chosen, the file is not locked.
    pub fn lock_evt(&self) -> FutureEvt<impl Future<Output = io::Result<()>> + Send + '_> {
        future_evt(self.lock_async())
    }

    /// [`lock_shared`](Self::lock_shared) as an event. If another one is chosen, the file is not locked.
    pub fn lock_shared_evt(&self) -> FutureEvt<impl Future<Output = io::Result<()>> + Send + '_> {
        future_evt(self.lock_shared_async())
    }

    /// Locks or unlocks the file, or fails at once.
    fn flock(&self, operation: FlockOperation) -> io::Result<()> {
        match self.key() {
            Some(key) => self.lock_simulated(key, operation),
            None => Ok(rustix::io::retry_on_intr(|| flock(&self.file, operation))?),
        }
    }

    fn try_to(&self, operation: FlockOperation) -> Result<(), TryLockError> {
        coop::call(coop::SYSTEM);
        match self.attempt(operation) {
            Ok(true) => Ok(()),
            Ok(false) => Err(TryLockError::WouldBlock),
            Err(error) => Err(TryLockError::Error(error)),
        }
    }

    fn attempt(&self, operation: FlockOperation) -> io::Result<bool> {
        match self.flock(operation) {
            Ok(()) => Ok(true),
            Err(error) if error.raw_os_error() == Some(Errno::WOULDBLOCK.raw_os_error()) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock_until(&self, operation: FlockOperation, timeout: Option<Duration>) -> io::Result<()> {
        let mut pauses = Pauses::new(SHORTEST, LONGEST);
        let deadline = timeout.and_then(time::deadline);
        coop::call(coop::SYSTEM);
        while !self.attempt(operation)? {
            if deadline.is_some_and(|at| at <= world::now()) {
                let text = format!("the file has not been unlocked within {:?}", timeout.unwrap_or_default());
                return Err(io::Error::new(ErrorKind::TimedOut, text));
            }
            pause(pauses.next(), deadline)?;
        }
        Ok(())
    }

    async fn lock_when_free(&self, operation: FlockOperation) -> io::Result<()> {
        let mut pauses = Pauses::new(SHORTEST, LONGEST);
        take_a_turn_async(1).await;
        while !self.attempt(operation)? {
            crate::sleep::sleep_async(pauses.next()).await;
        }
        Ok(())
    }
}

/// Sleeps until the next attempt, which at last is at the deadline.
fn pause(time: Duration, deadline: Option<Instant>) -> io::Result<()> {
    let next = time::deadline(time);
    let until = deadline.map_or(next, |at| next.map(|next| next.min(at)));
    // In no wait queue: only the time or a cancellation ends it.
    match wait(Wait::FileLock, until, |_| true, |_| true) {
        Waited::Refused => Err(io::Error::new(
            ErrorKind::WouldBlock,
            "the file is locked, and a thread that unwinds does not wait",
        )),
        Waited::Left(Early::Cancelled) | Waited::Late(Early::Cancelled) => unwind_cancelled(),
        _ => Ok(()),
    }
}
