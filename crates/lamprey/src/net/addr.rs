//! Addresses and names. A literal address is parsed on the calling thread; a name is looked up on the
//! pool for lookups.

use std::future::{Future, ready};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::{option, slice, vec};

use super::simulated;
use crate::driver::pool::{Class, block_async_in, block_in};

/// The addresses that sockets can be bound or connected to: [`std::net::ToSocketAddrs`] without blocking the
/// worker.
///
/// It is implemented for the same types. Names (in `"host:port"` and `("host", port)`) are looked up on the
/// pool for lookups; literal addresses are parsed in place.
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
    /// As for [`lookup`].
    ///
    /// # Blocking
    /// For a name: as [`lookup`].
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;

    /// The awaitable form of [`to_socket_addrs`](Self::to_socket_addrs).
    ///
    /// # Errors
    /// As for `to_socket_addrs`.
    ///
    /// # Cancellation
    /// As for [`lookup_async`].
    fn to_socket_addrs_async(&self) -> impl Future<Output = io::Result<Self::Iter>> + Send;
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
/// A literal address is parsed at once. For a name the host waits for a thread of the pool for lookups (see
/// [`block`](crate::block)); an OS thread makes the call itself.
///
/// # Cancellation
/// Not interruptible while the lookup runs.
#[doc(alias = "lookup_host")]
#[doc(alias = "getaddrinfo")]
#[doc(alias = "LookupHost")]
pub fn lookup(host_port: &str) -> io::Result<Vec<SocketAddr>> {
    match parse(host_port)? {
        Ok(address) => Ok(vec![address]),
        Err((host, port)) => look_up_host(host, port),
    }
}

/// The awaitable form of [`lookup`].
///
/// # Examples
/// ```
/// let addresses = lamprey::wait(lamprey::net::lookup_async("127.0.0.1:80"))?;
/// assert_eq!(addresses, [([127, 0, 0, 1], 80).into()]);
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// As for `lookup`.
///
/// # Cancellation
/// The result is dropped. A lookup that has begun occupies its pool thread until the system answers.
///
/// # Blocking
/// As for [`block_async`](crate::block_async).
#[doc(alias = "lookup_host")]
#[doc(alias = "getaddrinfo")]
#[doc(alias = "LookupHost")]
pub async fn lookup_async(host_port: &str) -> io::Result<Vec<SocketAddr>> {
    match parse(host_port)? {
        Ok(address) => Ok(vec![address]),
        Err((host, port)) => look_up_host_async(host, port).await,
    }
}

/// The literal address in `host_port`, or else its name and port.
fn parse(host_port: &str) -> io::Result<Result<SocketAddr, (&str, u16)>> {
    if let Ok(address) = host_port.parse() {
        return Ok(Ok(address));
    }
    let split = || {
        let (host, port) = host_port.rsplit_once(':')?;
        Some((host, port.parse().ok()?))
    };
    split().map(Err).ok_or_else(|| {
        let text = format!("\"{host_port}\" is not host:port with a port from 0 to 65535");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })
}

fn look_up_host(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host.parse::<IpAddr>() {
        Ok(ip) => Ok(vec![SocketAddr::new(ip, port)]),
        Err(_) => simulated::look_up(host, port)
            .unwrap_or_else(|| block_in(Class::Lookups, || ask_the_system(host, port))),
    }
}

async fn look_up_host_async(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host.parse::<IpAddr>() {
        Ok(ip) => Ok(vec![SocketAddr::new(ip, port)]),
        Err(_) => {
            if let Some(found) = simulated::look_up(host, port) {
                return found;
            }
            let host = host.to_owned();
            block_async_in(Class::Lookups, move || ask_the_system(&host, port)).await
        }
    }
}

/// Blocks the kernel thread.
fn ask_the_system(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect).map_err(|error| {
        // The resolver's error does not contain the name.
        io::Error::new(error.kind(), format!("cannot look up \"{host}\": {error}"))
    })
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
    Err(failed.unwrap_or_else(no_address))
}

/// The error for an empty list of addresses.
pub(super) fn no_address() -> io::Error {
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
        look_up_host(self.0, self.1).map(Vec::into_iter)
    }
    async fn to_socket_addrs_async(&self) -> io::Result<Self::Iter> {
        look_up_host_async(self.0, self.1).await.map(Vec::into_iter)
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        look_up_host(&self.0, self.1).map(Vec::into_iter)
    }
    async fn to_socket_addrs_async(&self) -> io::Result<Self::Iter> {
        look_up_host_async(&self.0, self.1).await.map(Vec::into_iter)
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
