//! Files that are not on a disk: FIFOs, terminals, devices, timers and the like, whose data may never come. A read or write that
//! would wait waits until the file is ready, in the event loop, and is made then. So it keeps no kernel thread, and can be
//! cancelled.
//!
//! # Invariants
//! * The open file may be shared with others, so its mode is left alone. What was ready may have been taken by another one
//!   when the call is made: then this call waits on the pool, where it counts no more after a while.
//! * The descriptor leaves the event loop before it is closed: `readiness` is dropped before `file` is closed or handed out.
//! * A regular file is always ready, so the kernel says.
//!
//! # Rejected
//! * To decide by the kind of file, when it is opened: one more system call for each, and some of `/proc` are regular files
//!   that wait.
//! * A read by io_uring, which waits by readiness, too: the other back-end has none, and a future that is dropped could lose what was
//!   read.

use super::File;
use super::chunks::NotNow;
use crate::driver::readiness::Interest;
use crate::io::ready::is_ready;
use crate::io::socket::Socket;
use crate::sched::{self, Wait, must_not_block};
use crate::world;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;

/// A blocking write of so many bytes to a FIFO that has room does not wait (`PIPE_BUF`).
const ATOMIC: usize = 4096;

pub(super) type Readiness = Socket<Arc<std::fs::File>>;

impl File {
    /// Reads what can be read without waiting, after a call that was not made for the reason `why`.
    ///
    /// # Errors
    /// The call is to be made where it may wait.
    #[cold]
    pub(super) fn read_later(
        &self,
        mut why: NotNow,
        buf: &mut [u8],
        from: Option<u64>,
    ) -> Result<io::Result<usize>, NotNow> {
        while !buf.is_empty() && self.has_waited(Interest::Read, why) {
            match self.read_chunks(buf, from) {
                Err(again) => why = again,
                done => return done,
            }
        }
        Err(why)
    }

    /// As [`read_later`](Self::read_later).
    ///
    /// # Errors
    /// As there, with the bytes with which the call is to be made.
    #[cold]
    pub(super) fn write_later<'b>(
        &self,
        mut why: NotNow,
        buf: &'b [u8],
        from: Option<u64>,
    ) -> Result<io::Result<usize>, (NotNow, &'b [u8])> {
        while !buf.is_empty() && self.has_waited(Interest::Write, why) {
            match self.write_chunks(buf, from) {
                Err(again) => why = again,
                Ok(done) => return Ok(done),
            }
        }
        Err((why, self.what_fits(why, buf)))
    }

    /// One system call of a future, when the file is ready.
    ///
    /// # Errors
    /// The call is to be made where it may wait.
    pub(super) async fn read_when_ready(&self, buf: &mut [u8], at: u64) -> Result<io::Result<usize>, NotNow> {
        loop {
            match self.read_chunk(buf, at) {
                Err(why) if !buf.is_empty() && self.has_waited_async(Interest::Read, why).await => {}
                done => return done,
            }
        }
    }

    /// One system call of a future, when the file is ready.
    ///
    /// # Errors
    /// The call is to be made where it may wait, with these bytes.
    pub(super) async fn write_when_ready<'b>(
        &self,
        buf: &'b [u8],
        at: u64,
    ) -> Result<io::Result<usize>, (NotNow, &'b [u8])> {
        loop {
            match self.write_chunk(buf, at) {
                Err(why) if !buf.is_empty() && self.has_waited_async(Interest::Write, why).await => {}
                Err(why) => return Err((why, self.what_fits(why, buf))),
                Ok(done) => return Ok(done),
            }
        }
    }

    /// Waits until the file is ready. False if it is so already, or nobody can wait for that.
    fn has_waited(&self, interest: Interest, why: NotNow) -> bool {
        if !sched::on_host() || must_not_block() || !self.is_to_be_awaited(interest, why) {
            return false;
        }
        let reason = if interest == Interest::Write { Wait::Writable } else { Wait::Readable };
        self.readiness().attempt(interest, reason, None, |fd| is_ready(fd, interest)).is_ok()
    }

    async fn has_waited_async(&self, interest: Interest, why: NotNow) -> bool {
        if !self.is_to_be_awaited(interest, why) {
            return false;
        }
        // Boxed: it is rare, and has a wait node.
        Box::pin(self.readiness().attempt_async(interest, None, move |fd| is_ready(fd, interest)))
            .await
            .is_ok()
    }

    fn is_to_be_awaited(&self, interest: Interest, why: NotNow) -> bool {
        if why == NotNow::Plain || world::is_simulated() {
            return false;
        }
        // Of a file in non-blocking mode the call says that it would wait.
        is_ready(self.as_fd_of_file(), interest) == Err(Errno::AGAIN)
            && fcntl_getfl(&self.file).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
    }

    fn readiness(&self) -> &Readiness {
        self.readiness.get_or_init(|| Box::new(Socket::new(self.file.clone())))
    }

    /// The first bytes of `buf`: as many as a FIFO that has room takes without waiting for more. Of other files all.
    fn what_fits<'b>(&self, why: NotNow, buf: &'b [u8]) -> &'b [u8] {
        let is_fifo =
            || fstat(&self.file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
        if buf.len() > ATOMIC && why == NotNow::Untold && is_fifo() { &buf[..ATOMIC] } else { buf }
    }
}
