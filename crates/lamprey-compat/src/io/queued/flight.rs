//! The operation in flight, and what its end changes.

use std::future::Future;
use std::io::{self, SeekFrom};
use std::mem::take;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How an operation has ended.
pub(super) enum Done {
    Read(io::Result<usize>, Vec<u8>),
    Wrote(io::Result<()>, Vec<u8>),
    Flushed(io::Result<()>),
    /// The cursor has been moved back over what is ahead, or there is none.
    Back(io::Result<bool>),
    Sought(io::Result<u64>),
}

/// See the invariants of the module.
#[derive(Default)]
pub(super) struct State {
    flight: Option<Pin<Box<dyn Future<Output = Done> + Send>>>,
    /// What is ahead lies in here; when nothing is, it is for the next operation.
    pub(super) buf: Vec<u8>,
    pub(super) ahead: Range<usize>,
    /// The end of the file, or an error, that no read has reported yet.
    pub(super) read_end: Option<io::Result<()>>,
    pub(super) write_error: Option<io::Error>,
    /// There is no cursor to put right.
    pub(super) has_no_cursor: bool,
    /// A write has been accepted since the last flush.
    pub(super) is_dirty: bool,
    /// A write was ready although its operation was pending, perhaps only to let other tasks run.
    pub(super) owes_turn: bool,
    /// The seek whose result nobody has asked for yet.
    pub(super) seeking: Option<SeekFrom>,
    pub(super) sought: Option<io::Result<u64>>,
    /// Where the last seek has led to.
    pub(super) place: u64,
}

impl State {
    pub(super) fn is_busy(&self) -> bool {
        self.flight.is_some()
    }

    /// To be called when nothing is in flight. It begins when it is polled.
    pub(super) fn fly(&mut self, flight: impl Future<Output = Done> + Send + 'static) {
        self.flight = Some(Box::pin(flight));
    }

    /// Ends what is in flight, and is pending once if a write has been ready in place of being that. (An operation now and then wakes
    /// its task and is pending once, so that others run. Without this, a writer whose operations need no wait would be ready for
    /// ever.)
    pub(super) fn settle(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let owes_turn = take(&mut self.owes_turn);
        let Some(flight) = &mut self.flight else { return Poll::Ready(()) };
        let done = ready!(flight.as_mut().poll(cx));
        self.flight = None;
        self.take(done);
        if owes_turn {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn take(&mut self, done: Done) {
        match done {
            Done::Read(result, buf) => {
                self.buf = buf;
                match result {
                    Ok(0) => self.read_end = Some(Ok(())),
                    Ok(count) => self.ahead = 0..count,
                    Err(error) => self.read_end = Some(Err(error)),
                }
            }
            Done::Wrote(result, buf) => {
                self.write_error = result.err();
                if self.ahead.is_empty() {
                    self.buf = buf;
                }
            }
            Done::Flushed(result) => self.write_error = result.err(),
            Done::Back(Ok(true)) => self.ahead = 0..0,
            Done::Back(Ok(false)) => self.has_no_cursor = true,
            Done::Back(Err(error)) => self.write_error = Some(error),
            Done::Sought(result) => {
                if let Ok(place) = result {
                    self.place = place;
                    self.ahead = 0..0;
                    self.read_end = None;
                }
                self.sought = Some(result);
            }
        }
    }

    /// Something else than a seek begins: nobody asks for the result of the last one any more.
    pub(super) fn forget_seek(&mut self) {
        self.seeking = None;
        self.sought = None;
    }
}
