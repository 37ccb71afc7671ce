//! Saving the read that finds nothing: a TCP read that has not filled its buffer has emptied the socket, so the next one waits
//! at once. (A server of small requests makes one call less of three for each.)
//!
//! Only for calls that then wait for an edge, or leave a waker for it: the blocking forms, and the poll forms. The futures always
//! look, as a choice or a time limit of zero must find what is there.
//!
//! Invariants
//! * It is so only until the next edge: the count of edges is read *before* the system call, and what comes after that is
//!   reported by a new edge, or by the registration, if there is none yet.
//! * Not after the kernel has reported the end of the stream or an error ([`MORE`](crate::driver::reactor)), which may have come
//!   with the same edge as the bytes before it; nor after urgent data, at which a read stops. (Not seen is urgent data that the
//!   program takes out of the descriptor by itself, by `MSG_OOB`, before its edge has been fetched.)
//! * Only of TCP: a read of a Unix socket may stop between messages that came with descriptors.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use super::Socket;
use crate::driver::readiness::Interest;
use crate::sched;
use crate::sync_shim::{AtomicU64, Ordering};

/// The socket of a stream.
pub(crate) trait Stream: AsFd {
    /// A read that has not filled its buffer has read all that there is.
    const EMPTIES: bool;
}

impl Stream for std::net::TcpStream {
    const EMPTIES: bool = true;
}

impl Stream for std::os::unix::net::UnixStream {
    const EMPTIES: bool = false;
}

/// The count of edges at which the socket was found empty, and one more; 0 if it never was.
#[derive(Debug, Default)]
pub(crate) struct Drained(AtomicU64);

impl<S: AsFd> Socket<S> {
    /// Calls `operation`, unless it would find nothing: then the caller may wait for an edge after `seen`.
    ///
    /// # Errors
    /// Those of `operation`; `EAGAIN` without a call.
    #[inline]
    pub(super) fn unless_drained<T>(
        &self,
        interest: Interest,
        seen: u64,
        operation: impl FnOnce(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let is_drained = interest == Interest::Read && self.is_drained(seen);
        if is_drained { Err(Errno::AGAIN) } else { operation(self.as_fd()) }
    }

    /// True if a read would find nothing. False where no edge would tell the caller, as it is not going to wait.
    #[inline]
    fn is_drained(&self, seen: u64) -> bool {
        // Relaxed: the count of edges, which is compared, orders what matters; a value that is seen late costs a call.
        self.drained.0.load(Ordering::Relaxed) == seen.wrapping_add(1) && self.can_wait_for_edges()
    }

    fn can_wait_for_edges(&self) -> bool {
        !self.readiness.has_more_than_bytes() && !self.options.nonblocking() && !sched::must_not_block()
    }
}

impl<S: Stream> Socket<S> {
    /// A read by `recv` into a buffer of `len` bytes: notes whether it has emptied the socket.
    #[inline]
    pub(crate) fn may_drain(
        &self,
        len: usize,
        recv: impl FnOnce() -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        if !S::EMPTIES {
            return recv();
        }
        let seen = self.readiness.edges(Interest::Read);
        let count = recv()?;
        if 0 < count && count < len {
            // Relaxed: as for the load.
            self.drained.0.store(seen.wrapping_add(1), Ordering::Relaxed);
        }
        Ok(count)
    }
}
