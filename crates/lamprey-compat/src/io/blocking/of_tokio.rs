//! What has the traits of tokio.

use super::{Blocking, BufReadBy, ReadBy, SeekBy, WriteBy};
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// What is wrapped has the traits of tokio.
#[derive(Debug)]
pub enum OfTokio {}

impl<T> Blocking<T, OfTokio> {
    /// Wraps what has the traits of tokio.
    ///
    /// # Examples
    /// ```
    /// use lamprey_compat::io::Blocking;
    /// use std::io::{Read, Write};
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let (near, far) = tokio::io::duplex(16);
    /// let (mut near, mut far) = (Blocking::of_tokio(near), Blocking::of_tokio(far));
    /// lamprey::spawn(move || far.write_all(b"longer than its buffer").and_then(|()| far.close()).unwrap());
    /// let mut text = String::new();
    /// near.read_to_string(&mut text)?;
    /// assert_eq!(text, "longer than its buffer");
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn of_tokio(inner: T) -> Self {
        Self::of(inner)
    }
}

impl<T: AsyncRead> ReadBy<T> for OfTokio {
    fn poll_read(from: Pin<&mut T>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let memory = buf.as_ptr();
        let mut buf = ReadBuf::new(buf);
        ready!(from.poll_read(cx, &mut buf))?;
        let is_same = std::ptr::eq(memory, buf.filled().as_ptr());
        assert!(
            is_same,
            "poll_read has put another ReadBuf in the place of the one it got: nothing has been read"
        );
        Poll::Ready(Ok(buf.filled().len()))
    }
}

impl<T: AsyncWrite> WriteBy<T> for OfTokio {
    fn poll_write(to: Pin<&mut T>, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match bufs {
            [buf] => to.poll_write(cx, buf),
            bufs => to.poll_write_vectored(cx, bufs),
        }
    }

    fn poll_flush(to: Pin<&mut T>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        to.poll_flush(cx)
    }

    fn poll_close(to: Pin<&mut T>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        to.poll_shutdown(cx)
    }
}

impl<T: AsyncSeek> SeekBy<T> for OfTokio {
    fn poll_seek(
        mut within: Pin<&mut T>,
        cx: &mut Context<'_>,
        to: SeekFrom,
        has_begun: &mut bool,
    ) -> Poll<io::Result<u64>> {
        if !*has_begun {
            // What is still in flight, of an earlier call.
            ready!(within.as_mut().poll_complete(cx))?;
            within.as_mut().start_seek(to)?;
            *has_begun = true;
        }
        within.poll_complete(cx)
    }
}

impl<T: AsyncBufRead> BufReadBy<T> for OfTokio {
    fn poll_fill_buf<'a>(from: Pin<&'a mut T>, cx: &mut Context<'_>) -> Poll<io::Result<&'a [u8]>> {
        from.poll_fill_buf(cx)
    }

    fn consume(from: Pin<&mut T>, count: usize) {
        from.consume(count);
    }
}
