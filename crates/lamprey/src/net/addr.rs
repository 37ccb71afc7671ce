//! What can be resolved to addresses. A literal address is parsed on the calling thread; a name is looked up (`names`).

use std::future::{Future, ready};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::{option, slice, vec};

use super::names::{look_up, look_up_async, lookup, lookup_async};
use crate::sched::coop;

/// The addresses that sockets can be bound or connected to: [`std::net::ToSocketAddrs`] without blocking the
/// worker.
///
/// It is implemented for the same types. Names (in `"host:port"` and `("host", port)`) are looked up
/// ([`lookup`](super::lookup)); literal addresses are parsed in place.
///
/// # Examples
/// ```
/// use lamprey::net::ToSocketAddrs;
/// let mut addresses = "127.0.0.1:80".to_socket_addrs()?;
/// assert_eq!(addresses.next(), Some(([127, 0, 0, 1], 80).into()));
/// # std::io::Result::Ok(())
/// ```
pub trait ToSocketAddrs {
    /// The iterator over the addresses.
    type Iter: Iterator<Item = SocketAddr>;

    /// The addresses that this value resolves to.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not `host:port`; the system's, when a name cannot be looked up.
    ///
    /// # Cancellation
    /// As for [`lookup`](super::lookup).
    ///
    /// # Blocking
    /// For a name: as `lookup`.
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;

    /// The awaitable form of [`to_socket_addrs`](Self::to_socket_addrs).
    ///
    /// # Errors
    /// As for `to_socket_addrs`.
    ///
    /// # Cancellation
    /// As for [`lookup_async`](super::lookup_async).
    fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send;
}

/// Tries the addresses one after the other; returns the last error.
pub(super) fn first_of<T>(
    addresses: impl Iterator<Item = SocketAddr>,
    mut attempt: impl FnMut(&SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failed = None;
    for address in addresses {
        match attempt(&address) {
            Ok(done) => return Ok(done),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.map_or_else(no_address, |error| {
        coop::look();
        error
    }))
}

/// The error for an empty list of addresses.
pub(super) fn no_address() -> io::Error {
    coop::look();
    io::Error::new(io::ErrorKind::InvalidInput, "there is no address to try")
}

macro_rules! literal {
    ($($kind:ty),*) => {$(
        impl ToSocketAddrs for $kind {
            type Iter = option::IntoIter<SocketAddr>;
            fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                Ok(Some(SocketAddr::from(*self)).into_iter())
            }
            fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send {
                ready(self.to_socket_addrs())
            }
        }
    )*};
}

literal!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        lookup(self).map(Vec::into_iter)
    }
    async fn to_socket_addrs_async(&self) -> io::Result<Self::Iter> {
        lookup_async(self).await.map(Vec::into_iter)
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
    fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send {
        (**self).to_socket_addrs_async()
    }
}

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        look_up(self.0, self.1).map(Vec::into_iter)
    }
    async fn to_socket_addrs_async(&self) -> io::Result<Self::Iter> {
        look_up_async(self.0, self.1).await.map(Vec::into_iter)
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        look_up(&self.0, self.1).map(Vec::into_iter)
    }
    async fn to_socket_addrs_async(&self) -> io::Result<Self::Iter> {
        look_up_async(&self.0, self.1).await.map(Vec::into_iter)
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = std::iter::Copied<slice::Iter<'a, SocketAddr>>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().copied())
    }
    fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send {
        ready(self.to_socket_addrs())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
    fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send {
        (**self).to_socket_addrs_async()
    }
}
