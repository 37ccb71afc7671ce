//! Files that are not on a disk: FIFOs, terminals, devices, timers and the like, whose data may never come. A read or write that
//! would wait waits until the file is ready, in the event loop, and is made then. So it keeps no kernel thread, and can be
//! cancelled.
//!
//! Of a FIFO the kernel cannot be asked for what needs no wait. It is opened once more, in non-blocking mode, for the calls
//! that would wait: its *twin*.
//!
//! # Invariants
//! * The open file may be shared with others, so its mode is left alone. What was ready may have been taken by another one
//!   when the call is made: then this call waits on the pool, where it counts no more after a while. (Not a twin's.)
//! * The descriptor leaves the event loop before it is closed: `ready` is dropped before `file` is closed or handed out.
//! * A regular file is always ready, so the kernel says.
//!
//! # Rejected
//! * To decide by the kind of file, when it is opened: one more system call for each, and some of `/proc` are regular files
//!   that wait.
//! * A read by io_uring, which waits by readiness, too: the other back-end has none, and a future that is dropped could lose what was
//!   read.
//! * Calls of FIFOs on the pool, when they are ready: of many writers of one that has little room most wait there, and before the reader.
//! * Twins of terminals: one that is opened again may be another one.

use super::File;
use super::chunks::{CURSOR, NotNow};
use super::fifo::{can_wait, twin_of_fifo};
use crate::driver::readiness::Interest;
use crate::io::ready::is_ready;
use crate::io::socket::Socket;
use crate::sched::Wait;
use crate::world;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, read, write};
use std::io;
use std::sync::Arc;

/// What waits for a file.
pub(super) struct Ready {
    socket: Socket<Arc<std::fs::File>>,
    /// It has a descriptor of its own, in non-blocking mode.
    pub(super) is_twin: bool,
}

impl File {
    /// Reads when the file is ready, after a call that was not made for the reason `why`.
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
        if !can_wait() || buf.is_empty() {
            return Err(why);
        }
        if let Some(twin) = self.twin(why, from) {
            return Ok(twin.attempt(Interest::Read, Wait::Readable, None, |fd| read(fd, &mut *buf)));
        }
        while self.is_to_be_awaited(Interest::Read, why) && self.is_awaited(Interest::Read) {
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
    /// As there.
    #[cold]
    pub(super) fn write_later(
        &self,
        mut why: NotNow,
        buf: &[u8],
        from: Option<u64>,
    ) -> Result<io::Result<usize>, NotNow> {
        if !can_wait() || buf.is_empty() {
            return Err(why);
        }
        if let Some(twin) = self.twin(why, from) {
            return Ok(twin.attempt(Interest::Write, Wait::Writable, None, |fd| write(fd, buf)));
        }
        while self.is_to_be_awaited(Interest::Write, why) && self.is_awaited(Interest::Write) {
            match self.write_chunks(buf, from) {
                Err(again) => why = again,
                done => return done,
            }
        }
        Err(why)
    }

    /// One system call of a future, when the file is ready.
    ///
    /// # Errors
    /// The call is to be made where it may wait.
    pub(super) async fn read_when_ready(&self, buf: &mut [u8], at: u64) -> Result<io::Result<usize>, NotNow> {
        loop {
            let why = match self.read_chunk(buf, at) {
                Err(why) if !buf.is_empty() => why,
                done => return done,
            };
            if let Some(twin) = self.twin(why, (at != CURSOR).then_some(at)) {
                // Boxed, here and below: it is rare, and has a wait node.
                return Ok(Box::pin(twin.attempt_async(Interest::Read, None, |fd| read(fd, &mut *buf))).await);
            }
            if !self.is_to_be_awaited(Interest::Read, why) || !self.is_awaited_async(Interest::Read).await {
                return Err(why);
            }
        }
    }

    /// One system call of a future, when the file is ready.
    ///
    /// # Errors
    /// The call is to be made where it may wait.
    pub(super) async fn write_when_ready(&self, buf: &[u8], at: u64) -> Result<io::Result<usize>, NotNow> {
        loop {
            let why = match self.write_chunk(buf, at) {
                Err(why) if !buf.is_empty() => why,
                done => return done,
            };
            if let Some(twin) = self.twin(why, (at != CURSOR).then_some(at)) {
                return Ok(Box::pin(twin.attempt_async(Interest::Write, None, |fd| write(fd, buf))).await);
            }
            if !self.is_to_be_awaited(Interest::Write, why) || !self.is_awaited_async(Interest::Write).await {
                return Err(why);
            }
        }
    }

    /// Waits until the file is ready. False if nobody can wait for that.
    fn is_awaited(&self, interest: Interest) -> bool {
        let reason = if interest == Interest::Write { Wait::Writable } else { Wait::Readable };
        self.ready().socket.attempt(interest, reason, None, |fd| is_ready(fd, interest)).is_ok()
    }

    async fn is_awaited_async(&self, interest: Interest) -> bool {
        let socket = &self.ready().socket;
        Box::pin(socket.attempt_async(interest, None, move |fd| is_ready(fd, interest))).await.is_ok()
    }

    /// Whether the file is not ready, and a call would wait for that.
    fn is_to_be_awaited(&self, interest: Interest, why: NotNow) -> bool {
        why != NotNow::Plain
            && !world::is_simulated()
            && is_ready(self.as_fd_of_file(), interest) == Err(Errno::AGAIN)
            && self.is_in_blocking_mode()
    }

    /// In the other mode a call says that it would wait.
    fn is_in_blocking_mode(&self) -> bool {
        fcntl_getfl(&self.file).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
    }

    /// What a call at the cursor of a FIFO is made with.
    fn twin(&self, why: NotNow, from: Option<u64>) -> Option<&Socket<Arc<std::fs::File>>> {
        if why != NotNow::Untold || from.is_some() || world::is_simulated() {
            return None;
        }
        let ready = self.ready();
        (ready.is_twin && self.is_in_blocking_mode()).then_some(&ready.socket)
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            Box::new(match twin_of_fifo(&self.file) {
                Some(twin) => Ready { socket: Socket::new(Arc::new(twin.into())), is_twin: true },
                None => Ready { socket: Socket::new(self.file.clone()), is_twin: false },
            })
        })
    }
}
