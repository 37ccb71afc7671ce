//! What the kernel does for a socket before a call asks for it, where the program has allowed that: receiving, and
//! accepting connections.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::Socket;
use crate::driver::uring::ahead::{Ahead, Arrival, Found};
use crate::driver::uring::buffers::Piece;

/// Of a stream, or of a listener. The clones of a socket share it.
pub(crate) enum AnyAhead {
    Bytes(Ahead<Piece>),
    Connections(Ahead<OwnedFd>),
}

impl AnyAhead {
    /// True if nothing would be lost with this.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Bytes(ahead) => ahead.is_empty(),
            Self::Connections(ahead) => ahead.is_empty(),
        }
    }
}

impl std::fmt::Debug for AnyAhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyAhead").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

impl<S: AsFd> Socket<S> {
    fn set_ahead(&self, on: bool, make: impl FnOnce() -> AnyAhead) {
        if !on && self.ahead.get().is_none() {
            return;
        }
        let ahead = self.ahead.get_or_init(|| {
            let ahead = Arc::new(make());
            self.join_ahead(&ahead);
            ahead
        });
        match &**ahead {
            AnyAhead::Bytes(ahead) => ahead.set_on(on),
            AnyAhead::Connections(ahead) => ahead.set_on(on),
        }
    }

    fn join_ahead(&self, ahead: &AnyAhead) {
        match ahead {
            AnyAhead::Bytes(ahead) => ahead.serve(&self.readiness),
            AnyAhead::Connections(ahead) => ahead.serve(&self.readiness),
        }
    }

    /// Of a stream: whether the kernel may receive before a call asks for it.
    pub(crate) fn set_read_ahead(&self, on: bool) {
        self.set_ahead(on, || AnyAhead::Bytes(Ahead::new()));
    }

    /// Of a listener: whether the kernel may accept before a call asks for it.
    pub(crate) fn set_accept_ahead(&self, on: bool) {
        self.set_ahead(on, || AnyAhead::Connections(Ahead::new()));
    }

    /// Shares what the kernel does ahead for `other`, which is another descriptor of the same kernel's socket.
    pub(crate) fn share_ahead(&self, other: &Self) {
        if let Some(ahead) = other.ahead.get() {
            self.join_ahead(ahead);
            let _ = self.ahead.set(Arc::clone(ahead));
        }
    }

    /// Of a stream for which the kernel receives ahead.
    #[inline]
    pub(crate) fn bytes_ahead(&self) -> Option<&Ahead<Piece>> {
        match self.ahead.get().map(|ahead| &**ahead) {
            Some(AnyAhead::Bytes(ahead)) => Some(ahead),
            _ => None,
        }
    }

    /// Of a listener for which the kernel accepts ahead.
    pub(crate) fn connections_ahead(&self) -> Option<&Ahead<OwnedFd>> {
        match self.ahead.get().map(|ahead| &**ahead) {
            Some(AnyAhead::Connections(ahead)) => Some(ahead),
            _ => None,
        }
    }
}

impl<T: Arrival> Ahead<T> {
    /// An attempt: what `take` makes of what has arrived, `at_end` at the end, or what `directly` says.
    pub(crate) fn attempt<R>(
        &self,
        socket: BorrowedFd<'_>,
        take: impl FnOnce(&mut VecDeque<T>) -> R,
        at_end: impl FnOnce() -> Result<R, Errno>,
        directly: impl FnOnce() -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        match self.find(socket, take) {
            Found::Arrived(taken) => Ok(taken),
            Found::End => at_end(),
            Found::Error(error) => Err(error),
            Found::Nothing => Err(Errno::AGAIN),
            Found::Unknown => directly(),
        }
    }
}

/// Moves bytes out of pieces to the beginning of `buf`; leaves them there for a peek.
pub(crate) fn move_bytes(pieces: &mut VecDeque<Piece>, buf: &mut [MaybeUninit<u8>], peek: bool) -> usize {
    let mut moved = 0;
    let mut at = 0;
    while moved < buf.len() {
        let Some(piece) = pieces.get_mut(at) else { break };
        let bytes = piece.bytes();
        let count = bytes.len().min(buf.len() - moved);
        buf[moved..moved + count].write_copy_of_slice(&bytes[..count]);
        moved += count;
        if peek {
            at += 1;
        } else if piece.take(count) {
            pieces.pop_front();
        }
    }
    moved
}
