//! Bytes of a file, for threads: `aio_read`.

use super::call::{Answer, Request};
use super::slot::{Aim, Slot};
use super::thread::Trace;
use crate::fs::AlignedBuf;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Reads bytes of `file` from `offset` on into `buffer`, as many as are there and fit, and returns their number
/// and the buffer. Zero means that the file ends there. For a file that was opened with `O_DIRECT`, `offset` and
/// the buffer's length are multiples of the device's block size.
///
/// # Errors
/// What the kernel says, or the scheduler ([`AioRead::done`]).
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn aio_read(file: &Arc<File>, offset: u64, buffer: AlignedBuf) -> AioReadCall {
    AioReadCall { state: ReadState::Fresh(Arc::clone(file), offset, buffer) }
}

/// A future: see [`aio_read`].
#[derive(Debug)]
#[must_use = "a system call is made when it is awaited"]
pub struct AioReadCall {
    state: ReadState,
}

#[derive(Debug)]
enum ReadState {
    Fresh(Arc<File>, u64, AlignedBuf),
    Asked,
    Done(io::Result<usize>, AlignedBuf),
}

impl Future for AioReadCall {
    type Output = (io::Result<usize>, AlignedBuf);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let slot = Slot::of(context);
        self.state = match std::mem::replace(&mut self.state, ReadState::Asked) {
            ReadState::Done(result, buffer) if slot.aim.get() == Aim::Run => {
                return Poll::Ready((result, buffer));
            }
            ReadState::Fresh(file, offset, buffer) => slot
                .ask((file, offset, buffer), |(file, offset, buffer)| Request::AioRead(file, offset, buffer))
                .map_or(ReadState::Asked, |(file, offset, buffer)| ReadState::Fresh(file, offset, buffer)),
            ReadState::Asked if slot.reaches(Aim::Answer) => match slot.answer.take() {
                Some(Answer::Read(result, buffer)) => ReadState::Done(result, buffer),
                _ => ReadState::Asked,
            },
            state => state,
        };
        Poll::Pending
    }
}

/// A thread that waits for bytes of a file, and the buffer for them.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct AioRead {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
    pub(super) buffer: AlignedBuf,
    pub(super) trace: Trace,
}

impl AioRead {
    /// The file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The place of the first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the bytes are to go.
    pub fn buffer(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// The thread, which finds that so many bytes are in the buffer, or why none are.
    ///
    /// # Panics
    /// If `result` says more bytes than the buffer has room for.
    pub fn done(self, result: io::Result<usize>) -> Trace {
        let (room, read) = (self.buffer.len(), result.as_ref().map_or(0, |bytes| *bytes));
        assert!(read <= room, "{read} bytes cannot have been read into a buffer of {room}");
        self.trace.resume(Aim::Answer, Some(Answer::Read(result, self.buffer))).0
    }

    /// Reads now.
    ///
    /// # Cancellation
    /// Not interruptible.
    ///
    /// # Blocking
    /// The kernel thread waits for the disk.
    pub fn perform(mut self) -> Trace {
        let result = self.file.read_at(&mut self.buffer, self.offset);
        self.done(result)
    }
}
