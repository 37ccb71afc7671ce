//! ureq over Lamprey's sockets: a blocking HTTP client whose requests hold up only the host that makes them.
//!
//! [`agent`] makes an [`ureq::Agent`] that looks up names, connects, reads and writes through Lamprey. All else is ureq's: its
//! pool, redirects, proxies by `CONNECT`, time limits. An agent is shared by any number of hosts; clones share the pool.
//!
//! `https` needs the feature `rustls` of this crate, and a provider of cryptography of your choice. [`agent`] has ureq's connector for
//! rustls over the same sockets, and is configured by ureq's `TlsConfig`: a provider, by `unversioned_rustls_crypto_provider` or for
//! the process by rustls's `install_default`, and roots, which are those of Mozilla unless you name others. `agent_with_tls` takes a
//! configuration of rustls in its place. The guide's chapter on TLS has a program for each.
//!
//! [`LampreyConnector`] and [`LampreyResolver`] are the parts, for chains of connectors of your own. They implement traits which
//! ureq calls unversioned: a new minor version of ureq may change them.
//!
//! # Examples
//! ```
//! use std::io::{Read, Write};
//!
//! lamprey::run(|| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//!     let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     lamprey::spawn(move || -> std::io::Result<()> {
//!         let (mut stream, _) = listener.accept()?;
//!         let mut request = [0; 1024];
//!         let _ = stream.read(&mut request)?;
//!         stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
//!     });
//!     let agent = lamprey_compat::ureq::agent(ureq::config::Config::default());
//!     let text = agent.get(format!("http://{address}/")).call()?.body_mut().read_to_string()?;
//!     assert_eq!(text, "hello");
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # Errors
//! Beside ureq's own: `Io` of kind `WouldBlock` on a host that is unwinding, as it cannot wait for the server. A destructor that is to make a
//! request gives it to another host ([`lamprey::spawn`]).
//!
//! # Cancellation
//! A host that is cancelled during a request unwinds from it, and the connection is closed.

#[cfg(feature = "rustls")]
mod checked;
#[cfg(feature = "rustls")]
mod tls;

#[cfg(feature = "rustls")]
pub use tls::agent_with_tls;

use crate::wait::now_or_wait;
use lamprey::net::{Shutdown, TcpStream};
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::{Arc, Weak};

use rustix::io::Errno;
use rustix::net::RecvFlags;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
#[cfg(feature = "rustls")]
use ureq::unversioned::transport::RustlsConnector;
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout,
    ShutdownHandle, Transport,
};
use ureq::{Agent, Error};

/// An agent whose requests block only the calling host.
///
/// # Errors
/// Of a request for `https`, also of one that a server has redirected: `Tls`, which says what is missing, if there is no provider of
/// cryptography, or if the roots are those of the platform (that takes `agent_with_tls`); `Tls` or `Rustls` if the client's key cannot
/// be used, or is not that of its certificate.
pub fn agent(config: Config) -> Agent {
    let connector = ();
    #[cfg(feature = "rustls")]
    let connector = connector.chain(checked::Checked);
    let connector = connector.chain(ConnectProxyConnector::default()).chain(LampreyConnector::default());
    #[cfg(feature = "rustls")]
    let connector = connector.chain(RustlsConnector::default());
    Agent::with_parts(config, connector.chain(NoClearText), LampreyResolver::default())
}

/// Looks up names by [`lamprey::net::lookup`].
#[derive(Debug, Clone, Copy, Default)]
pub struct LampreyResolver {
    _private: (),
}

impl Resolver for LampreyResolver {
    /// # Errors
    /// `HostNotFound` if there is no address of the family that is wanted, `Timeout`, and as for `lookup`.
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host_port = uri
            .scheme()
            .zip(uri.authority())
            .and_then(|(scheme, authority)| DefaultResolver::host_and_port(scheme, authority));
        let Some(host_port) = host_port else {
            return Err(Error::BadUri(format!("{uri}: no host, or a scheme without a known port")));
        };
        let found = within(timeout, lamprey::net::lookup_async(&host_port))?;
        let mut addresses = self.empty();
        for address in config.ip_family().keep_wanted(found.into_iter()).take(MOST_ADDRESSES) {
            addresses.push(address);
        }
        if addresses.is_empty() { Err(Error::HostNotFound) } else { Ok(addresses) }
    }
}

/// The capacity of ureq's list.
const MOST_ADDRESSES: usize = 16;

/// Connects by [`TcpStream::connect`]: addresses of both families take turns, each attempt has 250 ms before the next one starts
/// beside it.
#[derive(Debug, Clone, Copy, Default)]
pub struct LampreyConnector {
    _private: (),
}

impl<In: Transport> Connector<In> for LampreyConnector {
    type Out = Either<In, LampreyTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        if let Some(chained) = chained {
            return Ok(Some(Either::A(chained))); // a proxy's
        }
        let stream = within(details.timeout, TcpStream::connect_async(&details.addrs[..]))?;
        if details.config.no_delay() {
            stream.set_nodelay(true)?;
        }
        let socket = Arc::new(Socket(stream));
        let shutdown: Weak<dyn ShutdownHandle> = Arc::<Socket>::downgrade(&socket);
        (details.register_shutdown)(shutdown)?;
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(LampreyTransport { socket, buffers })))
    }
}

/// A connection of [`LampreyConnector`].
pub struct LampreyTransport {
    socket: Arc<Socket>,
    buffers: LazyBuffers,
}

struct Socket(TcpStream);

impl ShutdownHandle for Socket {
    fn shutdown(&self) {
        // Fails when it is shut down already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Transport for LampreyTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        within(timeout.for_write(), self.socket.0.write_all_async(&self.buffers.output()[..amount]))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let read = within(timeout.for_read(), self.socket.0.read_async(self.buffers.input_append_buf()))?;
        self.buffers.input_appended(read);
        Ok(read > 0)
    }

    /// Between two requests nothing is to be read: neither the end nor bytes that nobody has asked for. A system call of its own,
    /// because calls of Lamprey may let other hosts run, and ureq's pool holds a lock of `std` here.
    fn is_open(&mut self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        rustix::net::recv(&self.socket.0, &mut [0], flags).is_err_and(|error| error == Errno::WOULDBLOCK)
    }
}

impl fmt::Debug for LampreyTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LampreyTransport").field(&self.socket.0).finish()
    }
}

/// Ends the chain: a request for `https` never goes out in clear text.
#[derive(Debug)]
struct NoClearText;

impl<In: Transport> Connector<In> for NoClearText {
    type Out = In;

    fn connect(&self, details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, Error> {
        match &chained {
            Some(transport) if details.needs_tls() && !transport.is_tls() => Err(Error::Tls(
                "this agent has no TLS for https: enable lamprey-compat's feature rustls, and its provider in ureq's TlsConfig",
            )),
            _ => Ok(chained),
        }
    }
}

/// Waits for a socket call as long as ureq allows. A host that unwinds must not wait: `WouldBlock`, as for sockets.
fn within<T>(timeout: NextTimeout, call: impl Future<Output = io::Result<T>>) -> Result<T, Error> {
    const WHAT: &str = "a server of HTTP";
    if timeout.after.is_not_happening() {
        return Ok(now_or_wait(WHAT, call)??);
    }
    match now_or_wait(WHAT, lamprey::with_timeout_async(*timeout.after, call))? {
        Ok(done) => Ok(done?),
        Err(lamprey::TimedOut) => Err(Error::Timeout(timeout.reason)),
    }
}
