//! Sending a file to a socket inside the kernel.
//!
//! `sendfile` into a non-blocking socket never waits for the socket, but it does wait for the disk. So for
//! each chunk the page cache is checked first (a read with `RWF_NOWAIT` of its first and its last byte); a
//! chunk that is not cached is sent by a thread of the pool for files, which also reads its pages.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::pin;

use rustix::io::Errno;

use super::broken_pipe::ignore_broken_pipes;
use super::offset::check_offset;
use super::simulated::failed;
use super::socket::Socket;
use super::socket::future::Limit;
use crate::driver::pool::{Class, block_async_in, block_in};
use crate::driver::readiness::Interest;
use crate::kernel::no_wait;
use crate::kernel::sendfile::send;
use crate::sched::coop_async::{TURN, take_a_turn_async};
use crate::sched::{Wait, coop};

/// The unit of checking and sending: a few times the kernel's read-ahead.
const CHUNK: u64 = 256 * 1024;

impl<S: AsFd> Socket<S> {
    /// Sends `len` bytes of `file` from `offset` on; fewer only at the end of the file or before an error.
    pub(crate) fn sendfile(&self, file: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<u64> {
        check_offset(offset)?;
        if len == 0 {
            coop::look();
        }
        ignore_broken_pipes();
        let mut sent = 0;
        while sent < len {
            match self.send_chunk(file, offset + sent, (len - sent).min(CHUNK)) {
                Ok(0) => break,
                Ok(more) => sent += more,
                Err(_) if sent != 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn send_chunk(&self, file: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<u64> {
        self.attempt(Interest::Write, Wait::SocketWrite, self.options.write_timeout.get(), |socket| {
            let send = || send(socket, file, offset, len);
            if is_cached(file, offset, len) { send() } else { block_in(Class::Files, send) }
        })
    }

    /// The awaitable form of [`sendfile`](Self::sendfile).
    pub(crate) async fn sendfile_async(
        &self,
        file: BorrowedFd<'_>,
        offset: u64,
        len: u64,
    ) -> io::Result<u64> {
        check_offset(offset)?;
        if len == 0 {
            take_a_turn_async(1).await;
        }
        ignore_broken_pipes();
        let mut sent = 0;
        while sent < len {
            match self.send_chunk_async(file, offset + sent, (len - sent).min(CHUNK)).await {
                Ok(0) => break,
                Ok(more) => sent += more,
                Err(_) if sent != 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    /// Same as `attempt_async`, for an operation that may have to be awaited itself.
    async fn send_chunk_async(&self, file: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<u64> {
        let mut place = pin!(self.place(Interest::Write));
        let mut limit = Limit::new(self.options.write_timeout.get());
        take_a_turn_async(if len < CHUNK { 1 } else { TURN / 2 }).await;
        loop {
            self.check_open()?;
            let seen = self.edges(Interest::Write);
            let sent = if is_cached(file, offset, len) {
                send(self.as_fd(), file, offset, len)
            } else {
                // Duplicates, because this future may be dropped while the call runs.
                let (socket, file) = (self.as_fd().try_clone_to_owned()?, file.try_clone_to_owned()?);
                block_async_in(Class::Files, move || send(socket.as_fd(), file.as_fd(), offset, len)).await
            };
            match sent {
                Ok(sent) => return Ok(sent),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    poll_fn(|context| self.poll_wait(place.as_mut(), &mut limit, seen, context)).await?;
                }
                Err(error) => return Err(failed(self.as_fd(), error)),
            }
        }
    }
}

/// True if the first and the last byte of this part of `file` are in memory (or beyond its end). False if the
/// file system cannot report it.
fn is_cached(file: BorrowedFd<'_>, offset: u64, len: u64) -> bool {
    let at_hand = |position: u64| no_wait::read(file, &mut [0], position).is_ok();
    at_hand(offset) && (len <= 1 || at_hand(offset.saturating_add(len - 1).min(i64::MAX as u64)))
}
