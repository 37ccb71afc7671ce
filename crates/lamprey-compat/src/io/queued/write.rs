//! Writing.

use super::flight::{Done, State};
use super::operations::Writes;
use super::{CHUNK, Queued};
use crate::io::transport::PollWrite;
use std::io::{self, IoSlice};
use std::mem::take;
use std::task::{Context, Poll, ready};

impl State {
    fn report(&mut self) -> io::Result<()> {
        self.write_error.take().map_or(Ok(()), Err)
    }

    /// Copies the first bytes of `bufs`.
    fn copy(&mut self, bufs: &[IoSlice<'_>]) -> Vec<u8> {
        let mut bytes = if self.ahead.is_empty() { take(&mut self.buf) } else { Vec::new() };
        bytes.clear();
        for buf in bufs {
            let room = CHUNK - bytes.len();
            bytes.extend_from_slice(&buf[..buf.len().min(room)]);
        }
        bytes
    }
}

impl<T: Writes> PollWrite for Queued<T> {
    const IS_VECTORED: bool = true;

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let (inner, state) = self.parts();
        loop {
            ready!(state.settle(cx));
            state.forget_seek();
            state.report()?;
            if state.ahead.is_empty() || state.has_no_cursor {
                break;
            }
            let back = T::back(inner.clone(), state.ahead.len());
            state.fly(async { Done::Back(back.await) });
        }
        // What comes is behind the end that a read has seen.
        state.read_end.take_if(|end| end.is_ok());
        let bytes = state.copy(bufs);
        let count = bytes.len();
        if count == 0 {
            return Poll::Ready(Ok(0));
        }
        state.is_dirty = T::KEEPS;
        let write = T::write(inner.clone(), bytes);
        state.fly(async {
            let (result, bytes) = write.await;
            Done::Wrote(result, bytes)
        });
        // It begins; whether it has ended, too, makes no difference but for the error.
        match state.settle(cx) {
            Poll::Ready(()) => state.report()?,
            Poll::Pending => state.owes_turn = true,
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (inner, state) = self.parts();
        loop {
            ready!(state.settle(cx));
            state.report()?;
            if !take(&mut state.is_dirty) {
                return Poll::Ready(Ok(()));
            }
            let flush = T::flush(inner.clone());
            state.fly(async { Done::Flushed(flush.await) });
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
