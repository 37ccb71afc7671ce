//! What can be wrapped, and the few calls that the traits of all libraries are made of.

use std::io::{self, IoSlice, IoSliceMut, SeekFrom};
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

/// What [`Async`](crate::Async) can wrap: the types of `lamprey` that read, write or listen. (Implemented here only.)
pub trait Transport: Sized {
    /// The value, and what the adapter keeps between two polls.
    #[doc(hidden)]
    type Driver: Driver<Self>;
}

/// Owns a wrapped value.
pub trait Driver<T>: Unpin {
    fn new(inner: T) -> Self;
    fn get(&self) -> &T;
    fn into_inner(self) -> T;
}

/// A value that needs nothing between two polls: it is polled for readiness.
#[derive(Debug)]
pub struct Direct<T>(pub(super) T);

impl<T: Unpin> Driver<T> for Direct<T> {
    fn new(inner: T) -> Self {
        Self(inner)
    }

    fn get(&self) -> &T {
        &self.0
    }

    fn into_inner(self) -> T {
        self.0
    }
}

/// Reading. A poll that is pending has read nothing, as far as the caller can tell.
pub trait PollRead {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Returns the part of `buf` that is initialised now.
    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>>;

    /// Into the first buffer that is not empty, where a second one saves no system call.
    fn poll_read_vectored(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter_mut().find(|buf| !buf.is_empty());
        self.poll_read(cx, first.map_or(&mut [], |buf| &mut **buf))
    }
}

/// Writing. A poll that is pending has written nothing.
pub trait PollWrite {
    /// Whether [`poll_write_vectored`](Self::poll_write_vectored) writes from more than one buffer.
    const IS_VECTORED: bool;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Flushes, and tells the reader that no more comes.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Seeking.
pub trait PollSeek {
    /// Begins to seek; [`poll_complete`](Self::poll_complete) has the result.
    fn start_seek(&mut self, to: SeekFrom) -> io::Result<()>;

    /// Ends what is in flight. The result of the last seek.
    fn poll_complete(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>>;

    /// Both. If it is pending it is called again with the same place.
    fn poll_seek(&mut self, cx: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>>;
}
