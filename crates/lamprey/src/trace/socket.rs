//! Sockets for threads: calls that block the thread alone, made of calls that do not block.
//!
//! The sockets must be set not to block ([`set_nonblocking`](std::net::TcpStream::set_nonblocking)).

use super::wait::{Interest, when_ready};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Reads what is there, as soon as something is, and returns how many bytes that are; zero at the end.
///
/// # Errors
/// The kernel's, and those of [`epoll_wait`](super::epoll_wait).
///
/// # Panics
/// If it is awaited outside of a [`Trace`](super::Trace)'s thread, as all system calls.
pub async fn read<S>(stream: &Arc<S>, buffer: &mut [u8]) -> io::Result<usize>
where
    S: AsFd + Send + Sync + 'static,
    for<'a> &'a S: Read,
{
    when_ready(stream, Interest::Read, || (&**stream).read(buffer)).await
}

/// Writes all bytes.
///
/// # Errors
/// The kernel's, and those of [`epoll_wait`](super::epoll_wait); [`WriteZero`](io::ErrorKind::WriteZero) if the
/// stream takes no more. Some bytes may have been written.
///
/// # Panics
/// If it is awaited outside of a [`Trace`](super::Trace)'s thread, as all system calls.
pub async fn write_all<S>(stream: &Arc<S>, mut bytes: &[u8]) -> io::Result<()>
where
    S: AsFd + Send + Sync + 'static,
    for<'a> &'a S: Write,
{
    while !bytes.is_empty() {
        match when_ready(stream, Interest::Write, || (&**stream).write(bytes)).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}
