//! Connecting: `connect(2)`, repeated until it reports that the connection is made or refused.
//!
//! Repeating `connect` is the one check that a stray edge cannot mislead: it distinguishes "made", "in
//! progress" and "failed, for this reason", while `SO_ERROR` is 0 for the first two.

use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, SocketAddrUnix, addr::SocketAddrArg};

use crate::driver::readiness::Interest;
use crate::driver::uring::here::here;
use crate::driver::uring::op;
use crate::io::socket::Socket;
use crate::sched::{Wait, coop};
use crate::time::pauses::Pauses;
use crate::world;

/// The pauses while the queue of a Unix socket is full: the kernel sends no event when there is room again.
pub(super) fn pauses() -> Pauses {
    Pauses::new(Duration::from_millis(1), Duration::from_millis(50))
}

/// Connects an internet socket.
pub(super) fn connect<S: AsFd>(
    socket: &Socket<S>,
    to: &impl SocketAddrArg,
    timeout: Option<Duration>,
) -> io::Result<()> {
    if let Some(here) = here().filter(|_| !socket.options.nonblocking()) {
        coop::call(coop::SYSTEM);
        let deadline = timeout.and_then(|timeout| world::now().checked_add(timeout));
        if op::connect::connect(here, socket.as_fd(), to, deadline)?.is_some() {
            return Ok(());
        }
    }
    socket.attempt(Interest::Write, Wait::Connect, timeout, |fd| ask(fd, to))
}

/// The awaitable form of [`connect`].
pub(super) fn connect_async<S: AsFd>(
    socket: &Socket<S>,
    to: &impl SocketAddrArg,
    timeout: Option<Duration>,
) -> impl Future<Output = io::Result<()>> {
    socket.attempt_async(Interest::Write, timeout, move |fd| ask(fd, to))
}

/// `EAGAIN` while the connection is in progress.
fn ask(fd: BorrowedFd<'_>, to: &impl SocketAddrArg) -> Result<(), Errno> {
    match net::connect(fd, to) {
        Ok(()) | Err(Errno::ISCONN) => Ok(()),
        Err(Errno::INPROGRESS | Errno::ALREADY) => Err(Errno::AGAIN),
        Err(error) => Err(error),
    }
}

/// Connects a Unix socket: `connect` succeeds at once, or fails while the listener's queue is full.
pub(super) fn connect_unix<S: AsFd>(socket: &Socket<S>, to: &SocketAddrUnix) -> io::Result<()> {
    let mut pauses = pauses();
    while !ask_unix(socket, to)? {
        socket.pause(Wait::Connect, pauses.next())?;
    }
    Ok(())
}

/// The awaitable form of [`connect_unix`].
pub(super) async fn connect_unix_async<S: AsFd>(socket: &Socket<S>, to: &SocketAddrUnix) -> io::Result<()> {
    let mut pauses = pauses();
    while !ask_unix(socket, to)? {
        socket.pause_async(pauses.next()).await?;
    }
    Ok(())
}

/// False while the listener's queue is full.
fn ask_unix(socket: impl AsFd, to: &SocketAddrUnix) -> io::Result<bool> {
    loop {
        match net::connect(&socket, to) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}
