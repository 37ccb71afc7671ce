//! [`Mail`]: what the handlers of a listener and the threads that wait for it share.

use super::number::Signal;
use super::pending::{Counter, Pending};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Pid, getpid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What handlers and threads share.
#[derive(Debug)]
pub(super) struct Mail {
    pending: Pending<OwnedFd>,
    /// That has made it.
    process: Pid,
}

impl Counter for OwnedFd {
    fn add(&self) {
        // Fails only when the counter is full, and then it is readable.
        let _ = rustix::io::write(self, &1_u64.to_ne_bytes());
    }

    fn reset(&self) {
        // Fails when it is 0 already.
        let _ = rustix::io::read(self, &mut [0; 8]);
    }
}

impl AsFd for Mail {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pending.counter.as_fd()
    }
}

impl Mail {
    /// # Errors
    /// The system's when no descriptor is left.
    pub(super) fn new() -> io::Result<Self> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { pending: Pending::new(counter), process: getpid() })
    }

    /// A signal has come. Async-signal-safe: `getpid`, an atomic operation and `write`, and no panic.
    pub(super) fn put(&self, bit: u32) {
        if self.is_here() {
            self.pending.set(bit);
        }
    }

    /// False in a child made by `fork` (or `vfork`, which shares this memory).
    pub(super) fn is_here(&self) -> bool {
        getpid() == self.process
    }

    /// Takes the one with the lowest number, if there is one.
    pub(super) fn take(&self) -> Option<Signal> {
        if self.is_here() { self.pending.take().map(Signal::of_bit) } else { None }
    }
}
