//! [`Async`]: the one wrapper, by which the traits of other libraries are implemented.

use super::transport::{Direct, Driver, Transport};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A socket, pipe, file or standard stream of `lamprey` that reads and writes by the traits of other libraries: each feature
/// adds its library's.
///
/// It may be polled by any executor, on any thread: on workers their event loop wakes it, elsewhere a kernel thread of Lamprey's.
/// It dereferences to what it wraps.
///
/// | what | read, write | close (`poll_close`, `poll_shutdown`) |
/// |---|---|---|
/// | [`TcpStream`](lamprey::net::TcpStream), [`UnixStream`](lamprey::net::UnixStream), and an `Arc` of these, for halves | at once or when ready | shuts down writing; fine if the peer is gone |
///
/// # Examples
/// ```
/// use lamprey::net::UnixStream;
/// use lamprey_compat::Async;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let (here, _there) = UnixStream::pair()?;
/// let here = Async::new(here);
/// here.set_read_timeout(None)?; // its own calls are there
/// let _socket: UnixStream = here.into_inner();
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct Async<T: Transport>(T::Driver);

impl<T: Transport> Async<T> {
    /// Wraps it.
    pub fn new(inner: T) -> Self {
        Self(T::Driver::new(inner))
    }

    /// What it wraps.
    pub fn get_ref(&self) -> &T {
        self.0.get()
    }

    /// What it wraps.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    pub(crate) fn driver(&mut self) -> &mut T::Driver {
        &mut self.0
    }
}

impl<T: Transport<Driver = Direct<T>>> Async<T> {
    /// What it wraps.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0.0
    }
}

impl<T: Transport> From<T> for Async<T> {
    fn from(inner: T) -> Self {
        Self::new(inner)
    }
}

impl<T: Transport> Deref for Async<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get_ref()
    }
}

impl<T> Clone for Async<Arc<T>>
where
    Arc<T>: Transport,
{
    /// Another owner of the same socket.
    fn clone(&self) -> Self {
        Self::new(self.get_ref().clone())
    }
}

impl<T: Transport + fmt::Debug> fmt::Debug for Async<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Async").field(self.get_ref()).finish()
    }
}
