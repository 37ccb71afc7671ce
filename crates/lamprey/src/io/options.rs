//! Settings of a socket value.

use crate::sched::coop;
use crate::sync_shim::{AtomicBool, AtomicU64, Ordering};
use std::io;
use std::time::Duration;

/// Settings that the standard library keeps in the kernel, where non-blocking sockets ignore them.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) read_timeout: Timeout,
    pub(crate) write_timeout: Timeout,
    nonblocking: AtomicBool,
    zero_copy: AtomicBool,
}

impl Options {
    /// True if an operation that would have to wait fails instead.
    pub(crate) fn nonblocking(&self) -> bool {
        // Relaxed: a setting, which publishes nothing else.
        self.nonblocking.load(Ordering::Relaxed)
    }

    pub(crate) fn set_nonblocking(&self, on: bool) {
        // Relaxed: a setting, which publishes nothing else; other threads see it eventually.
        self.nonblocking.store(on, Ordering::Relaxed);
    }

    /// True if large writes are to be sent without a copy.
    pub(crate) fn zero_copy(&self) -> bool {
        // Relaxed: a setting, which publishes nothing else.
        self.zero_copy.load(Ordering::Relaxed)
    }

    pub(crate) fn set_zero_copy(&self, on: bool) {
        // Relaxed: a setting, which publishes nothing else; other threads see it eventually.
        self.zero_copy.store(on, Ordering::Relaxed);
    }

    /// Starts with the values of `other`.
    pub(crate) fn copy_from(&self, other: &Self) {
        self.read_timeout.put(other.read_timeout.get());
        self.write_timeout.put(other.write_timeout.get());
        self.set_nonblocking(other.nonblocking());
        self.set_zero_copy(other.zero_copy());
    }
}

/// An optional time limit, as nanoseconds; 0 is none.
#[derive(Debug, Default)]
pub(crate) struct Timeout(AtomicU64);

impl Timeout {
    pub(crate) fn get(&self) -> Option<Duration> {
        // Relaxed: a setting, which publishes nothing else.
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            // What the number cannot say is kept as the longest.
            u64::MAX => Some(Duration::MAX),
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// # Errors
    /// `InvalidInput` for a limit of zero, as in the standard library.
    pub(crate) fn set(&self, limit: Option<Duration>) -> io::Result<()> {
        if limit == Some(Duration::ZERO) {
            coop::look();
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a timeout of 0 is not possible: use None for no timeout, or set_nonblocking(true) never to wait",
            ));
        }
        self.put(limit);
        Ok(())
    }

    fn put(&self, limit: Option<Duration>) {
        let nanos = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        // Relaxed: a setting, which publishes nothing else.
        self.0.store(nanos, Ordering::Relaxed);
    }
}
