//! Seeking.

use super::Queued;
use super::flight::Done;
use super::operations::Seeks;
use crate::io::transport::PollSeek;
use std::io::{self, ErrorKind, SeekFrom};
use std::task::{Context, Poll, ready};

impl<T: Seeks> Queued<T> {
    /// To be called when nothing is in flight.
    fn begin_seek(&mut self, to: SeekFrom) {
        let (inner, state) = self.parts();
        state.seeking = Some(to);
        state.sought = None;
        let from_cursor = match to {
            // For the caller the cursor is before what is ahead. (The length of a buffer.)
            SeekFrom::Current(by) => by.checked_sub(state.ahead.len() as i64).map(SeekFrom::Current),
            to => Some(to),
        };
        match from_cursor {
            Some(to) => {
                let seek = T::seek(inner.clone(), to);
                state.fly(async { Done::Sought(seek.await) });
            }
            None => {
                let text = format!("cannot seek by {to:?}: that is before the beginning of any file");
                state.sought = Some(Err(io::Error::new(ErrorKind::InvalidInput, text)));
            }
        }
    }
}

impl<T: Seeks> PollSeek for Queued<T> {
    fn start_seek(&mut self, to: SeekFrom) -> io::Result<()> {
        if self.parts().1.is_busy() {
            let text = "another operation of this file is in flight: call poll_complete before start_seek";
            return Err(io::Error::new(ErrorKind::ResourceBusy, text));
        }
        self.begin_seek(to);
        Ok(())
    }

    fn poll_complete(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let (_, state) = self.parts();
        ready!(state.settle(cx));
        state.seeking = None;
        Poll::Ready(state.sought.take().unwrap_or(Ok(state.place)))
    }

    fn poll_seek(&mut self, cx: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        if self.parts().1.seeking != Some(to) {
            ready!(self.parts().1.settle(cx));
            self.begin_seek(to);
        }
        self.poll_complete(cx)
    }
}
