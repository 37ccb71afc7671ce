//! The connection of rustls between two system calls.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, Waker, ready};

use rustls::{Connection, Error};

use super::duplex::Duplex;
use super::incoming::Incoming;

/// What the lock of a [`TlsStream`](super::TlsStream) protects. The lock is held for cryptography and for system calls that
/// do not wait.
pub(super) struct State {
    pub(super) conn: Connection,
    incoming: Incoming,
    /// What the peer has done wrong: nothing more can be read.
    failed: Option<Error>,
    /// The handshake is over, and its last message has been sent.
    is_established: bool,
    /// A task that writes may be registered with the socket; a reader must not take its place there.
    pub(super) writer_waits: bool,
    /// A write was ready although the socket was pending, perhaps only to let other tasks run: the next one makes up for it.
    pub(super) owes_turn: bool,
    /// `close_notify` has been queued.
    is_closed: bool,
    /// Wakes the tasks of both roles.
    wakes_all: Waker,
}

impl State {
    pub(super) fn new(conn: Connection, wakes_all: Waker) -> Self {
        Self {
            conn,
            incoming: Incoming::default(),
            failed: None,
            is_established: false,
            writer_waits: false,
            owes_turn: false,
            is_closed: false,
            wakes_all,
        }
    }

    /// Ready when the handshake is over. Both directions may be polled by tasks of their own meanwhile, and each needs both
    /// directions of the socket, so both are woken whatever happens to it.
    pub(super) fn poll_handshake(&mut self, socket: &impl Duplex) -> Poll<io::Result<()>> {
        if self.is_established {
            return Poll::Ready(Ok(()));
        }
        let wakes_all = self.wakes_all.clone();
        let done = self.handshake(socket, &mut Context::from_waker(&wakes_all));
        if done.is_ready() {
            wakes_all.wake();
        }
        done
    }

    fn handshake(&mut self, socket: &impl Duplex, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.conn.is_handshaking() {
                self.check()?;
            }
            let sent = self.poll_send(socket, cx)?;
            if !self.conn.is_handshaking() {
                ready!(sent);
                self.is_established = true;
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_receive(socket, cx))? == Received::End && self.conn.is_handshaking() {
                let text = "the peer has closed the connection during the TLS handshake";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, text)));
            }
        }
    }

    /// Sends what rustls has to send. Ready when all of it has been sent.
    pub(super) fn poll_send(&mut self, socket: &impl Duplex, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.conn.wants_write() {
            match self.conn.write_tls(&mut Records { socket, cx }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Gives rustls something to work on: what has been read before, else what the socket has.
    pub(super) fn poll_receive(
        &mut self,
        socket: &impl Duplex,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Received>> {
        self.check()?;
        if self.incoming.is_empty() {
            let read = ready!(socket.poll_read(cx, self.incoming.space()))?;
            self.incoming.filled(read);
        }
        Poll::Ready(self.process(socket))
    }

    /// Gives rustls what has been read before; false if there is nothing.
    pub(super) fn process_rest(&mut self, socket: &impl Duplex) -> io::Result<bool> {
        if self.incoming.is_empty() || self.failed.is_some() {
            return Ok(false);
        }
        self.process(socket).map(|received| received == Received::Some)
    }

    fn process(&mut self, socket: &impl Duplex) -> io::Result<Received> {
        let read = self.conn.read_tls(&mut self.incoming)?;
        let processed = self.conn.process_new_packets();
        self.answer(socket);
        if self.incoming.is_empty() {
            self.incoming.adapt();
        }
        // What came before it may be there to be read: the next call says it.
        self.failed = processed.err();
        Ok(if read == 0 { Received::End } else { Received::Some })
    }

    /// Sends what reading has brought about (an alert, new keys), as far as that needs no wait: a reader that waits for room
    /// could wait for a peer that waits for the reader. What is left goes before the next write.
    fn answer(&mut self, socket: &impl Duplex) {
        if self.is_established && self.conn.wants_write() && !self.writer_waits {
            // An error shows at the next write.
            let _ = self.poll_send(socket, &mut Context::from_waker(Waker::noop()));
        } else if self.conn.is_handshaking() && self.conn.wants_write() {
            let wakes_all = self.wakes_all.clone();
            let _ = self.poll_send(socket, &mut Context::from_waker(&wakes_all));
        }
    }

    /// Queues `close_notify`, once.
    pub(super) fn close(&mut self) {
        if !self.is_closed {
            self.is_closed = true;
            self.conn.send_close_notify();
        }
    }

    /// # Errors
    /// `BrokenPipe` after [`close`](Self::close).
    pub(super) fn check_writable(&self) -> io::Result<()> {
        match self.is_closed {
            true => Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "a TLS stream was written to after its shutdown",
            )),
            false => Ok(()),
        }
    }

    fn check(&self) -> io::Result<()> {
        match &self.failed {
            Some(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error.clone())),
            None => Ok(()),
        }
    }
}

/// What [`State::poll_receive`] has found.
#[derive(PartialEq, Eq)]
pub(super) enum Received {
    Some,
    /// The end of the socket's stream, or `close_notify` before it.
    End,
}

/// The socket as what rustls writes records to. Pending is `WouldBlock`.
struct Records<'a, 'b, S> {
    socket: &'a S,
    cx: &'a mut Context<'b>,
}

impl<S: Duplex> io::Write for Records<'_, '_, S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(buf)])
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.socket.poll_write_vectored(self.cx, bufs) {
            Poll::Ready(written) => {
                let (written, room) = (written?, bufs.iter().map(|buf| buf.len()).sum::<usize>());
                assert!(
                    written <= room,
                    "Duplex::poll_write_vectored has returned {written} for {room} bytes: it breaks its contract"
                );
                Ok(written)
            }
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
