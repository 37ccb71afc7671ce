//! Reading.

use super::flight::Done;
use super::operations::Reads;
use super::{CHUNK, Queued};
use crate::io::transport::PollRead;
use std::io;
use std::mem::{MaybeUninit, take};
use std::task::{Context, Poll, ready};

impl<T: Reads> Queued<T> {
    /// Ready when something is ahead, with that, or at the end, with nothing. It is for a caller that wants `want` bytes, and takes
    /// as many of them at once.
    fn poll_ahead(&mut self, cx: &mut Context<'_>, want: usize) -> Poll<io::Result<&[u8]>> {
        let (inner, state) = self.parts();
        loop {
            ready!(state.settle(cx));
            state.forget_seek();
            if !state.ahead.is_empty() {
                let from = state.ahead.start;
                let count = state.ahead.len().min(want);
                state.ahead.start += count;
                return Poll::Ready(Ok(&state.buf[from..from + count]));
            }
            if let Some(end) = state.read_end.take() {
                return Poll::Ready(end.map(|()| &[][..]));
            }
            if want == 0 {
                return Poll::Ready(Ok(&[]));
            }
            let mut buf = take(&mut state.buf);
            let want = want.min(CHUNK);
            if buf.len() < want {
                buf.resize(want, 0);
            }
            let read = T::read(inner.clone(), buf, want);
            state.fly(async {
                let (result, buf) = read.await;
                Done::Read(result, buf)
            });
        }
    }
}

impl<T: Reads> PollRead for Queued<T> {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let ahead = ready!(self.poll_ahead(cx, buf.len()))?;
        buf[..ahead.len()].copy_from_slice(ahead);
        Poll::Ready(Ok(ahead.len()))
    }

    fn poll_read_uninit<'b>(
        &mut self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        let ahead = ready!(self.poll_ahead(cx, buf.len()))?;
        Poll::Ready(Ok(buf[..ahead.len()].write_copy_of_slice(ahead)))
    }
}
