//! Sockets with the interface of [`std::net`] and [`std::os::unix::net`], for hosts and for plain OS threads.
//!
//! A call that would block a kernel thread in the standard library blocks only the calling host. Deliberate
//! differences from the standard library:
//!
//! * A read or write that exceeds its timeout fails with [`TimedOut`](std::io::ErrorKind::TimedOut), not with
//!   [`WouldBlock`](std::io::ErrorKind::WouldBlock), which here always means "this operation may not wait":
//!   after `set_nonblocking(true)`, or on a host that is unwinding.
//! * Timeouts belong to the value, not to the kernel's socket: `try_clone` copies them.
//! * Names are looked up on a pool of threads and kept for some seconds ([`lookup`]), so [`ToSocketAddrs`] is a trait of this
//!   module.
//! * Every socket has a `close(&self)`, which makes its operations fail with [`Closed`], including those that
//!   wait.
//! * `accept` and `incoming` on Linux may run out of descriptors: see [`TcpListener::accept_with_backoff`].
//! * Writing to a peer that has disconnected gives [`BrokenPipe`](std::io::ErrorKind::BrokenPipe), never a
//!   `SIGPIPE`.
//!
//! # Several threads on one socket
//! Any number of hosts and OS threads, of any runtime, may use a socket at once, also in the same direction.
//! When it becomes ready, all threads that wait for this direction are woken and try; those that get `EAGAIN`
//! wait again.
//!
//! # In async code
//! Each call that may block has an awaitable form with the same arguments and results: `read_async`,
//! `accept_async`, `connect_async` and so on. It works in a parasite and in a task of any executor and of any
//! runtime, and futures and threads may share a socket. Timeouts and `close` hold for them as well. Like the
//! blocking forms they try first and wait only if they have to; every so often they yield even if they need
//! not wait. Dropping the future cancels the operation.
//!
//! ```
//! use lamprey::net::{TcpListener, TcpStream};
//!
//! lamprey::run(|| -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     let server = lamprey::parasite(async move {
//!         let (stream, _) = listener.accept_async().await?;
//!         stream.write_all_async(b"hello").await
//!     });
//!     let mut text = String::new();
//!     std::io::Read::read_to_string(&mut TcpStream::connect(address)?, &mut text)?; // a host, and a parasite
//!     assert_eq!(text, "hello");
//!     server.join().unwrap()
//! })?;
//! # std::io::Result::Ok(())
//! ```
//!
//! # Blocking
//! A socket is registered with the event loop of the worker on which an operation first had to wait. A plain
//! OS thread waits in `poll(2)`. Futures that are polled outside of every worker have an event loop of their
//! own, on a kernel thread that is started when the first of them has to wait.
//!
//! # Cancellation
//! A host that is cancelled while it waits in a socket operation unwinds from there; that operation has then
//! not happened. (A `write_all` is several operations.)

mod addr;
mod common;
mod connect;
mod datagram;
#[cfg(feature = "hickory")]
mod dns;
mod events;
mod eyeballs;
mod kind;
mod listen;
mod names;
mod option;
mod peer_cred;
pub(crate) mod serve;
mod simulated;
mod stream_async;
mod stream_poll;
mod tcp;
mod tcp_socket;
mod transfer;
mod udp;
mod unix;
mod unix_address;
mod unix_datagram;

pub use crate::driver::{Epoll, Uring};
pub use crate::io::closed::Closed;
pub use addr::ToSocketAddrs;
#[cfg(feature = "hickory")]
pub use dns::Dns;
pub use listen::Incoming;
pub use names::{LookupCache, forget_lookups, lookup, lookup_async, lookup_evt, set_lookup_cache};
pub use peer_cred::PeerCred;
pub use serve::{HeldUp, Listener, Serving};
pub use tcp::{TcpListener, TcpStream};
pub use tcp_socket::TcpSocket;
pub use udp::UdpSocket;
pub use unix::{UnixListener, UnixStream};
pub use unix_datagram::UnixDatagram;

pub use std::net::{
    AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6,
};
