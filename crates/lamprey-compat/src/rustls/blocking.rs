//! The blocking forms. They wait for the poll forms, so that time limits and cancellation end them between two system calls.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice, Read, Write};
use std::net::Shutdown;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use lamprey::sync::{Mutex, MutexGuard};

use super::TlsStream;
use super::duplex::Duplex;
use crate::wait::now_or_wait;

impl<S: Duplex> TlsStream<S> {
    /// Completes the handshake. `connect` and `accept` have done so; a stream that `client` or `server` has returned does it
    /// here, or when it is first read or written.
    ///
    /// # Errors
    /// `InvalidData` with a [`rustls::Error`] if the peer is not accepted or breaks the protocol; `UnexpectedEof` if it closes
    /// the connection; `TimedOut`, by the limit for writing; the socket's.
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn handshake(&self) -> io::Result<()> {
        let _turn = turn(&self.writing)?;
        within(self.write_timeout(), self.handshake_async())
    }

    /// Sends what has been written and `close_notify`, which tells the peer that this is all, and shuts down the socket for
    /// writing. Reading goes on. A stream that is dropped sends none: the peer then sees a connection that was cut.
    ///
    /// # Errors
    /// `TimedOut`, by the limit for writing; the socket's, but for that of one that is no longer connected.
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[doc(alias = "shutdown")]
    pub fn close_notify(&self) -> io::Result<()> {
        let _turn = turn(&self.writing)?;
        within(self.write_timeout(), self.close_notify_async())
    }

    /// Shuts down the socket, without `close_notify`, whatever other threads do with the stream meanwhile: those that wait
    /// return.
    ///
    /// # Errors
    /// The socket's.
    pub fn abort(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Both)
    }

    /// The blocking form of a write: not done before the socket has what it has taken.
    fn write_with(&self, put: impl Fn(&mut Context<'_>) -> Poll<io::Result<usize>>) -> io::Result<usize> {
        let _turn = turn(&self.writing)?;
        let mut taken = None;
        let sent = within(
            self.write_timeout(),
            poll_fn(|cx| {
                if taken.is_none() {
                    taken = Some(ready!(put(cx))?);
                }
                self.poll_flush(cx)
            }),
        );
        match (taken, sent) {
            (Some(taken), Ok(())) => Ok(taken),
            // The records are made and go before the next ones, so the bytes count as written. If the limit passes there, too,
            // that call says so.
            (Some(taken), Err(error)) if is_late(&error) => Ok(taken),
            (_, Err(error)) => Err(error),
            (None, Ok(())) => Ok(0),
        }
    }
}

impl<S: Duplex> Read for &TlsStream<S> {
    /// Reads what has been decrypted, as much as has been received and fits. 0 is the end: the peer has sent `close_notify`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the connection ends without `close_notify`: somebody may have cut it. `InvalidData` with a
    /// [`rustls::Error`] if the peer breaks the protocol; `TimedOut`, by the limit for reading; the socket's.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it waits unwinds from here, and has read nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let _turn = turn(&self.reading)?;
        within(self.read_timeout(), self.read_async(buf))
    }
}

impl<S: Duplex> Write for &TlsStream<S> {
    /// Encrypts and sends up to 64 KiB.
    ///
    /// # Errors
    /// `TimedOut`, by the limit for writing, and nothing of `buf` has been taken; the socket's. As for `handshake`.
    ///
    /// # Cancellation
    /// A thread that is cancelled while it waits unwinds from here. It has taken nothing, or what a call takes; then the rest
    /// is sent before what is written next: no record is torn.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.write_with(|cx| self.poll_write(cx, buf))
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_with(|cx| self.poll_write_vectored(cx, bufs))
    }

    /// Sends what a write has left over that was cancelled or whose time limit has passed.
    ///
    /// # Errors
    /// As for `write`.
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    fn flush(&mut self) -> io::Result<()> {
        let _turn = turn(&self.writing)?;
        within(self.write_timeout(), self.flush_async())
    }
}

impl<S: Duplex> Read for TlsStream<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }
}

impl<S: Duplex> Write for TlsStream<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

/// The turn of one thread in one direction: a socket wakes only one that polls. A cancelled thread poisons the lock, which
/// protects nothing.
fn turn(direction: &Mutex<()>) -> io::Result<MutexGuard<'_, ()>> {
    // None on a thread that unwinds and would have to wait.
    direction.lock().or_else(|error| error.into_guard().ok_or(io::ErrorKind::WouldBlock.into()))
}

/// Waits for `call`, at most as long as `limit`. A host that unwinds must not wait: `WouldBlock`, as for sockets.
fn within<T>(limit: Option<Duration>, call: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    const WHAT: &str = "the peer of a TLS stream";
    match limit {
        None => now_or_wait(WHAT, call)?,
        Some(limit) => now_or_wait(WHAT, lamprey::with_timeout_async(limit, call))??,
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
