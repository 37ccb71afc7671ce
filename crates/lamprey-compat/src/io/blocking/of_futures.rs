//! What has the traits of the crate `futures`.

use super::{Blocking, BufReadBy, ReadBy, SeekBy, WriteBy};
use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What is wrapped has the traits of the crate `futures`.
#[derive(Debug)]
pub enum OfFutures {}

impl<T> Blocking<T, OfFutures> {
    /// Wraps what has the traits of the crate `futures`.
    ///
    /// # Examples
    /// ```
    /// use lamprey_compat::io::Blocking;
    /// use std::io::{Read, Write};
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let (writer, reader) = opened();
    /// let mut writer = Blocking::of_futures(writer);
    /// lamprey::spawn(move || writer.write_all(b"hello").and_then(|()| writer.close()).unwrap());
    /// let mut text = String::new();
    /// Blocking::of_futures(reader).read_to_string(&mut text)?;
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # })?;
    /// # /// Stands for what another library has opened.
    /// # fn opened() -> (lamprey_compat::Async<lamprey::net::UnixStream>, lamprey_compat::Async<lamprey::net::UnixStream>) {
    /// #     let (here, there) = lamprey::net::UnixStream::pair().unwrap();
    /// #     (here.into(), there.into())
    /// # }
    /// # std::io::Result::Ok(())
    /// ```
    pub fn of_futures(inner: T) -> Self {
        Self::of(inner)
    }
}

impl<T: AsyncRead> ReadBy<T> for OfFutures {
    fn poll_read(from: Pin<&mut T>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        from.poll_read(cx, buf)
    }
}

impl<T: AsyncWrite> WriteBy<T> for OfFutures {
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
        to.poll_close(cx)
    }
}

impl<T: AsyncSeek> SeekBy<T> for OfFutures {
    fn poll_seek(
        within: Pin<&mut T>,
        cx: &mut Context<'_>,
        to: SeekFrom,
        _: &mut bool,
    ) -> Poll<io::Result<u64>> {
        within.poll_seek(cx, to)
    }
}

impl<T: AsyncBufRead> BufReadBy<T> for OfFutures {
    fn poll_fill_buf<'a>(from: Pin<&'a mut T>, cx: &mut Context<'_>) -> Poll<io::Result<&'a [u8]>> {
        from.poll_fill_buf(cx)
    }

    fn consume(from: Pin<&mut T>, count: usize) {
        from.consume(count);
    }
}
