//! From a file to a socket inside the kernel.
//!
//! `sendfile` into a socket never waits for the socket, but it does wait for the disk. So each chunk is looked up in
//! the page cache first (a read that may not wait, of its first and its last byte); a cold one is sent by a
//! thread of the blocking pool, which also brings its pages in.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Once;

use rustix::io::{ReadWriteFlags, preadv2};

use super::readiness::Interest;
use super::socket::Socket;
use crate::sched::Wait;

/// The unit of looking up and sending: a few times the kernel's read-ahead.
const CHUNK: u64 = 256 * 1024;

impl<S: AsFd> Socket<S> {
    /// Sends `len` bytes of `file` from `offset` on; less only at the file's end, or before an error.
    pub(crate) fn sendfile(&self, file: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<u64> {
        ignore_broken_pipes();
        let mut sent = 0;
        while sent < len {
            match self.send_chunk(file, offset + sent, (len - sent).min(CHUNK)) {
                Ok(0) => break,
                Ok(more) => sent += more,
                Err(_) if sent != 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn send_chunk(&self, file: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<u64> {
        self.attempt(Interest::Write, Wait::SocketWrite, self.options.write_timeout.get(), |socket| {
            let send = || {
                let mut position = offset;
                rustix::fs::sendfile(socket, file, Some(&mut position), len as usize)
            };
            let sent = if is_cached(file, offset, len) { send() } else { super::block(send) };
            sent.map(|sent| sent as u64)
        })
    }
}

/// Are both ends of this part of `file` in memory (or beyond its end)? "No" also where the file system cannot tell.
fn is_cached(file: BorrowedFd<'_>, offset: u64, len: u64) -> bool {
    let at_hand = |position| {
        let mut byte = [0];
        preadv2(file, &mut [IoSliceMut::new(&mut byte)], position, ReadWriteFlags::NOWAIT).is_ok()
    };
    at_hand(offset) && (len <= 1 || at_hand(offset + len - 1))
}

/// `sendfile` has no flag against `SIGPIPE`. Rust's own start-up ignores that signal; a program that was not started by
/// it would end when a peer goes away.
fn ignore_broken_pipes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: an all-zero `sigaction` is a valid value, and the calls read and write only it. The action that is
        // set runs no code.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_DFL
            {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            }
        }
    });
}
