//! The error of a socket that this program has closed.

use std::io;

/// The error of an operation on a socket that this program has closed with `close`, inside an
/// [`std::io::Error`] of kind [`NotConnected`](io::ErrorKind::NotConnected).
///
/// # Examples
/// ```
/// let (a, _b) = lamprey::net::UnixStream::pair()?;
/// a.close();
/// let error = std::io::Read::read(&mut &a, &mut [0]).unwrap_err();
/// assert!(error.get_ref().is_some_and(|inner| inner.is::<lamprey::net::Closed>()));
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the socket was closed by `close` in this program")
    }
}

impl std::error::Error for Closed {}

impl From<Closed> for io::Error {
    fn from(closed: Closed) -> Self {
        io::Error::new(io::ErrorKind::NotConnected, closed)
    }
}

/// True if `error` is that of a closed socket.
pub(crate) fn is_closed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Closed>())
}
