//! Pipes, also those of children.

use super::transport::{Direct, Driver, PollRead, PollWrite, Transport};
use lamprey::io::{PipeReader, PipeWriter, pipe};
use std::io::{self, ErrorKind, IoSlice};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::task::{Context, Poll};

impl Transport for PipeReader {
    type Driver = Direct<Self>;
}

impl Transport for PipeWriter {
    type Driver = Closable;
}

/// The writing end of a pipe, until it is closed: the kernel cannot shut down a pipe, it can only close its end.
#[derive(Debug)]
pub struct Closable(Option<PipeWriter>);

/// What an end that is closed dereferences to: the end of another pipe, which has no reader, so that writing fails with `BrokenPipe`.
/// One for the process, made before the first end is closed, because closing must not fail when no descriptors are left.
fn dead_end() -> io::Result<&'static PipeWriter> {
    static DEAD_END: OnceLock<PipeWriter> = OnceLock::new();
    if let Some(end) = DEAD_END.get() {
        return Ok(end);
    }
    let (_, end) = pipe()?;
    Ok(DEAD_END.get_or_init(|| end))
}

impl Driver<PipeWriter> for Closable {
    fn new(inner: PipeWriter) -> Self {
        // If this fails, closing tries again.
        let _ = dead_end();
        Self(Some(inner))
    }

    fn get(&self) -> &PipeWriter {
        self.0.as_ref().unwrap_or_else(|| dead_end().expect("made before the end was closed"))
    }

    fn into_inner(self) -> PipeWriter {
        self.0.unwrap_or_else(|| {
            let end = dead_end().and_then(PipeWriter::try_clone);
            end.unwrap_or_else(|error| {
                panic!("no descriptor in place of a pipe's end that is closed: {error}")
            })
        })
    }
}

impl Closable {
    fn open(&self) -> io::Result<&PipeWriter> {
        self.0
            .as_ref()
            .ok_or_else(|| io::Error::new(ErrorKind::BrokenPipe, "this end of the pipe has been closed"))
    }
}

impl PollRead for Direct<PipeReader> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_read(cx, buf)
    }

    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        self.0.poll_read_uninit(cx, buf)
    }
}

impl PollWrite for Closable {
    const IS_VECTORED: bool = true;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.open()?.poll_write(cx, buf)
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.open()?.poll_write_vectored(cx, bufs)
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        dead_end()?;
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}
