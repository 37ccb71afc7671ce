//! [`Blocking`]: what others poll, as blocking `Read` and `Write`.

#[cfg(feature = "futures-io")]
mod of_futures;
#[cfg(feature = "tokio-io")]
mod of_tokio;

#[cfg(feature = "futures-io")]
pub use of_futures::OfFutures;
#[cfg(feature = "tokio-io")]
pub use of_tokio::OfTokio;

use crate::wait::now_or_wait;
use std::fmt;
use std::future::poll_fn;
use std::io::{self, BufRead, IoSlice, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A reader or writer of another library as `Read`, `Write`, `Seek` and `BufRead` of [`std::io`], which block only the calling host.
///
#[cfg_attr(
    feature = "futures-io",
    doc = "[`of_futures`](Blocking::of_futures) takes what has the traits of the crate `futures`."
)]
#[cfg_attr(
    feature = "tokio-io",
    doc = "[`of_tokio`](Blocking::of_tokio) takes what has the traits of tokio."
)]
/// Only what needs no context may be polled here: a `tokio::net::TcpStream` needs tokio's.
///
/// It waits by [`lamprey::wait()`], so it may be used on hosts, parasites and OS threads.
///
/// What is not `Unpin` goes in by `Box::pin`.
///
/// # Errors
/// Those of what it wraps; `WouldBlock` on a host that is unwinding, if it would have to wait.
///
/// # Panics
/// If what it wraps says that it has read or written more than there was, or has put another buffer in the place of the one it got.
///
/// # Cancellation
/// A host that is cancelled, or out of time, while it waits unwinds from here; the call has read or written nothing. (A `read_exact`
/// or `write_all` consists of several.)
///
/// # Blocking
/// Until what it wraps is ready; only the calling thread waits.
pub struct Blocking<T, K> {
    inner: T,
    kind: PhantomData<fn() -> K>,
}

/// Reading of a `T`.
pub trait ReadBy<T> {
    fn poll_read(from: Pin<&mut T>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;
}

/// Writing to a `T`.
pub trait WriteBy<T> {
    fn poll_write(to: Pin<&mut T>, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;

    fn poll_flush(to: Pin<&mut T>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    fn poll_close(to: Pin<&mut T>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Seeking in a `T`.
pub trait SeekBy<T> {
    /// `has_begun` is false at the first of the polls of one seek, and for this function to change.
    fn poll_seek(
        within: Pin<&mut T>,
        cx: &mut Context<'_>,
        to: SeekFrom,
        has_begun: &mut bool,
    ) -> Poll<io::Result<u64>>;
}

/// Reading from the buffer of a `T`.
pub trait BufReadBy<T> {
    fn poll_fill_buf<'a>(from: Pin<&'a mut T>, cx: &mut Context<'_>) -> Poll<io::Result<&'a [u8]>>;

    fn consume(from: Pin<&mut T>, count: usize);
}

impl<T, K> Blocking<T, K> {
    fn of(inner: T) -> Self {
        Self { inner, kind: PhantomData }
    }

    /// What it wraps.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// What it wraps.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// What it wraps.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: Unpin, K: WriteBy<T>> Blocking<T, K> {
    /// Flushes, and tells the reader that no more comes: `poll_close`, `poll_shutdown`. A drop does neither.
    ///
    /// # Errors
    /// See the type.
    pub fn close(&mut self) -> io::Result<()> {
        wait(|cx| K::poll_close(Pin::new(&mut self.inner), cx))
    }
}

/// Waits until `poll` is ready.
fn wait<R>(poll: impl FnMut(&mut Context<'_>) -> Poll<io::Result<R>>) -> io::Result<R> {
    now_or_wait("a reader or writer of another library", poll_fn(poll))?
}

/// Who calls may rely on it.
fn checked(count: usize, room: usize, what: &str) -> usize {
    assert!(count <= room, "{what} has returned {count} for buffers of {room} bytes: it breaks its contract");
    count
}

impl<T: Unpin, K: ReadBy<T>> Read for Blocking<T, K> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let room = buf.len();
        wait(|cx| K::poll_read(Pin::new(&mut self.inner), cx, buf))
            .map(|count| checked(count, room, "poll_read"))
    }
}

impl<T: Unpin, K: WriteBy<T>> Write for Blocking<T, K> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(buf)])
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let room = bufs.iter().map(|buf| buf.len()).sum();
        wait(|cx| K::poll_write(Pin::new(&mut self.inner), cx, bufs))
            .map(|count| checked(count, room, "poll_write"))
    }

    fn flush(&mut self) -> io::Result<()> {
        wait(|cx| K::poll_flush(Pin::new(&mut self.inner), cx))
    }
}

impl<T: Unpin, K: SeekBy<T>> Seek for Blocking<T, K> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut has_begun = false;
        wait(|cx| K::poll_seek(Pin::new(&mut self.inner), cx, to, &mut has_begun))
    }
}

impl<T: Unpin, K: ReadBy<T> + BufReadBy<T>> BufRead for Blocking<T, K> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // The slice cannot leave a closure that is called again and again: once there is something, it is asked for once more.
        if wait(|cx| K::poll_fill_buf(Pin::new(&mut self.inner), cx).map_ok(<[u8]>::is_empty))? {
            return Ok(&[]);
        }
        match K::poll_fill_buf(Pin::new(&mut self.inner), &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(filled) => filled,
            Poll::Pending => Err(io::Error::other(
                "the buffer was filled and is not any more: poll_fill_buf breaks its contract",
            )),
        }
    }

    fn consume(&mut self, count: usize) {
        K::consume(Pin::new(&mut self.inner), count);
    }
}

impl<T: fmt::Debug, K> fmt::Debug for Blocking<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Blocking").field(&self.inner).finish()
    }
}
