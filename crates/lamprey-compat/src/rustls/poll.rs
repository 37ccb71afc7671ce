//! The poll forms and the awaitable forms: all else is made of them.

use std::future::poll_fn;
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::task::{Context, Poll, ready};

use rustls::Reader;

use super::TlsStream;
use super::duplex::Duplex;
use super::state::State;
use super::waiters::Role;

/// The poll forms, for `poll` functions and for the traits of other libraries. Of several tasks that poll for one direction,
/// the last one is woken; one may poll for reading and another one for writing at the same time. Each completes the handshake
/// first, if that has not been done. The time limits of the stream do not apply.
impl<S: Duplex> TlsStream<S> {
    /// Completes the handshake.
    ///
    /// # Errors
    /// `InvalidData` with a [`rustls::Error`] if the peer is not accepted or breaks the protocol; `UnexpectedEof` if it closes
    /// the connection; the socket's.
    pub fn poll_handshake(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_locked(Role::Writer, cx, |state, _| state.poll_handshake(&self.socket))
    }

    /// Reads what has been decrypted, as much as has been received and fits. 0 is the end: the peer has sent `close_notify`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the connection ends without `close_notify`: somebody may have cut it. `InvalidData` if the peer breaks
    /// the protocol, after what it has sent before, and at each later read. As for [`poll_handshake`](Self::poll_handshake).
    pub fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let len = buf.len();
        self.poll_take(cx, len, |plaintext, filled| plaintext.read(&mut buf[filled..]))
    }

    /// [`poll_read`](Self::poll_read) into memory that need not be initialised: returns the part of `buf`, from its beginning,
    /// that has been read and is initialised now.
    ///
    /// # Errors
    /// As for `poll_read`.
    pub fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        let len = buf.len();
        let read = ready!(self.poll_take(cx, len, |plaintext, filled| {
            let chunk = plaintext.fill_buf()?;
            let used = chunk.len().min(len - filled);
            buf[filled..filled + used].write_copy_of_slice(&chunk[..used]);
            plaintext.consume(used);
            Ok(used)
        }))?;
        // SAFETY: the closure has written `used` bytes behind those before, each time; `read` is their sum.
        Poll::Ready(Ok(unsafe { buf[..read].assume_init_mut() }))
    }

    /// Calls `take` until `room` bytes have been taken or no more have been received. `take` gets the number that has been
    /// taken, and returns that of this time, 0 at the end.
    fn poll_take(
        &self,
        cx: &mut Context<'_>,
        room: usize,
        mut take: impl FnMut(&mut Reader<'_>, usize) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_locked(Role::Reader, cx, |state, cx| {
            ready!(state.poll_handshake(&self.socket))?;
            let mut taken = 0;
            while taken < room {
                match take(&mut state.conn.reader(), taken) {
                    Ok(0) => break,
                    Ok(more) => taken += more,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => match taken {
                        // The end shows in what rustls returns then.
                        0 => _ = ready!(state.poll_receive(&self.socket, cx))?,
                        // An error shows at the next read.
                        _ if state.process_rest(&self.socket).unwrap_or(false) => {}
                        _ => break,
                    },
                    Err(_) if taken > 0 => break,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(taken))
        })
    }

    /// Encrypts as much of `buf` as fits rustls's buffer (64 KiB), and sends it as far as there is room. The rest is sent
    /// before what is written next, or by [`poll_flush`](Self::poll_flush). When it is pending, nothing of `buf` has been taken.
    ///
    /// # Errors
    /// `BrokenPipe` after [`poll_close`](Self::poll_close); as for [`poll_handshake`](Self::poll_handshake).
    pub fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_put(cx, |state| state.conn.writer().write(buf))
    }

    /// [`poll_write`](Self::poll_write) from several buffers, which share records.
    ///
    /// # Errors
    /// As for `poll_write`.
    pub fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_put(cx, |state| state.conn.writer().write_vectored(bufs))
    }

    fn poll_put(
        &self,
        cx: &mut Context<'_>,
        put: impl FnOnce(&mut State) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_locked(Role::Writer, cx, |state, cx| {
            state.check_writable()?;
            ready!(state.poll_handshake(&self.socket))?;
            ready!(self.poll_rest_in_turn(state, cx))?;
            let put = put(state)?;
            match self.poll_rest(state, cx) {
                Poll::Ready(sent) => sent?,
                Poll::Pending => state.owes_turn = true,
            }
            Poll::Ready(Ok(put))
        })
    }

    /// Sends what has been written. Ready when the socket has all of it.
    ///
    /// # Errors
    /// As for [`poll_handshake`](Self::poll_handshake).
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_locked(Role::Writer, cx, |state, cx| {
            ready!(state.poll_handshake(&self.socket))?;
            self.poll_rest_in_turn(state, cx)
        })
    }

    /// [`poll_rest`](Self::poll_rest), and is pending once if a write has been ready in place of being that. (A socket now and then
    /// wakes its task and is pending once, so that others run. Without this, a writer that is never held up by its socket would be
    /// ready for ever.)
    fn poll_rest_in_turn(&self, state: &mut State, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let owes_turn = std::mem::take(&mut state.owes_turn);
        ready!(self.poll_rest(state, cx))?;
        if owes_turn {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_rest(&self, state: &mut State, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = state.poll_send(&self.socket, cx);
        state.writer_waits = sent.is_pending();
        sent
    }

    /// Sends what has been written and `close_notify`, which tells the peer that this is all, and shuts down the socket for
    /// writing. Reading goes on.
    ///
    /// # Errors
    /// The socket's, but for that of one that is no longer connected.
    pub fn poll_close(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_locked(Role::Writer, cx, |state, cx| {
            state.close();
            ready!(self.poll_rest_in_turn(state, cx))?;
            Poll::Ready(match self.socket.shutdown(Shutdown::Write) {
                Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
                done => done,
            })
        })
    }

    /// Polls with the state locked. The context that `poll` gets wakes the task of `cx`, which is not called before it is unlocked.
    fn poll_locked<R>(
        &self,
        role: Role,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut State, &mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        self.waiters.poll(role, cx, |cx| poll(&mut self.state(), cx))
    }
}

/// The awaitable forms.
impl<S: Duplex> TlsStream<S> {
    /// The awaitable form of [`handshake`](Self::handshake).
    ///
    /// # Errors
    /// As for `handshake`.
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    pub async fn handshake_async(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_handshake(cx)).await
    }

    /// The awaitable form of `read`.
    ///
    /// # Errors
    /// As for [`poll_read`](Self::poll_read).
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has read nothing.
    pub async fn read_async(&self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_read(cx, buf)).await
    }

    /// The awaitable form of `write`. What it has taken may not have been sent: see [`flush_async`](Self::flush_async).
    ///
    /// # Errors
    /// As for [`poll_write`](Self::poll_write).
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has written nothing.
    pub async fn write_async(&self, buf: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_write(cx, buf)).await
    }

    /// Writes and sends all of `buf`.
    ///
    /// # Errors
    /// As for [`poll_write`](Self::poll_write).
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready may have written a part.
    pub async fn write_all_async(&self, mut buf: &[u8]) -> io::Result<()> {
        while !buf.is_empty() {
            let written = self.write_async(buf).await?;
            buf = &buf[written..];
        }
        self.flush_async().await
    }

    /// Sends what has been written.
    ///
    /// # Errors
    /// As for [`poll_flush`](Self::poll_flush).
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    pub async fn flush_async(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// The awaitable form of [`close_notify`](Self::close_notify).
    ///
    /// # Errors
    /// As for `close_notify`.
    ///
    /// # Cancellation
    /// A later call goes on where this one was.
    pub async fn close_notify_async(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_close(cx)).await
    }
}
