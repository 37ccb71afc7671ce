//! Addresses and names. A literal address never leaves the calling thread; a name is looked up on the blocking pool.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::{option, slice, vec};

use crate::io::block;

/// What sockets can be bound or connected to: [`std::net::ToSocketAddrs`] without blocking the worker.
///
/// It is implemented for the same types. Names (in `"host:port"` and `("host", port)`) are looked up on the blocking
/// pool; literal addresses are parsed in place.
///
/// # Examples
/// ```
/// use lamprey::net::ToSocketAddrs;
/// let mut addresses = "127.0.0.1:80".to_socket_addrs()?;
/// assert_eq!(addresses.next(), Some(([127, 0, 0, 1], 80).into()));
/// # std::io::Result::Ok(())
/// ```
pub trait ToSocketAddrs {
    /// The addresses, one after the other.
    type Iter: Iterator<Item = SocketAddr>;

    /// The addresses that this stands for.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not `host:port`; the system's, when a name cannot be looked up.
    ///
    /// # Blocking
    /// For a name: see [`lookup`].
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

/// The addresses of `host_port`, for example `"example.org:443"`, in the order of the system's resolver.
///
/// # Examples
/// ```
/// let addresses = lamprey::run(|| lamprey::net::lookup("localhost:80"))?;
/// assert!(addresses.iter().all(|address| address.port() == 80));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// `InvalidInput` for a text that is not `host:port`; the system's, when the name cannot be looked up.
///
/// # Blocking
/// A literal address is parsed at once. For a name the host waits for a thread of the blocking pool (see [`block`]); an
/// OS thread makes the call itself.
///
/// # Cancellation
/// Not interruptible while the lookup runs.
pub fn lookup(host_port: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host_port.parse() {
        return Ok(vec![address]);
    }
    let (host, port) = split(host_port).ok_or_else(|| {
        let text = format!("\"{host_port}\" is not host:port with a port from 0 to 65535");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    look_up_host(host, port)
}

fn split(host_port: &str) -> Option<(&str, u16)> {
    let (host, port) = host_port.rsplit_once(':')?;
    Some((host, port.parse().ok()?))
}

fn look_up_host(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    block(|| std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)).map_err(
        |error| {
            // The resolver's own text does not say which name it was.
            io::Error::new(error.kind(), format!("cannot look up \"{host}\": {error}"))
        },
    )
}

/// Tries the addresses of `to` one after the other; the last error counts.
pub(super) fn first_of<T>(
    to: impl ToSocketAddrs,
    mut attempt: impl FnMut(&SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failed = None;
    for address in to.to_socket_addrs()? {
        match attempt(&address) {
            Ok(done) => return Ok(done),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no address to try")))
}

macro_rules! literal {
    ($($kind:ty),*) => {$(
        impl ToSocketAddrs for $kind {
            type Iter = option::IntoIter<SocketAddr>;
            fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                Ok(Some(SocketAddr::from(*self)).into_iter())
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
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        look_up_host(self.0, self.1).map(Vec::into_iter)
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (&*self.0, self.1).to_socket_addrs()
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = std::iter::Copied<slice::Iter<'a, SocketAddr>>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().copied())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (**self).to_socket_addrs()
    }
}
