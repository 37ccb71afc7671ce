//! TLS by [`rustls`] over Lamprey's sockets: one stream for blocking code and for async code.
//!
//! [`TlsStream`] is [`Read`](std::io::Read) and [`Write`](std::io::Write), also by reference, so that one host reads while
//! another one writes; it has the poll forms that Lamprey's sockets have; and [`Async`](crate::Async) gives it the traits of other
//! libraries, as it does for sockets. Configurations are rustls's own, with the provider of cryptography that you choose.
//!
//! # Examples
//! ```
//! use std::io::{Read, Write};
//! use std::sync::Arc;
//! use lamprey::net::{TcpListener, TcpStream};
//! use lamprey_compat::rustls::TlsStream;
//! use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
//!
//! // A certificate for "localhost", which the client trusts.
//! let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
//! let certificate = made.cert.der().clone();
//! let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
//! let provider = Arc::new(rustls::crypto::ring::default_provider());
//! let server = rustls::ServerConfig::builder_with_provider(provider.clone())
//!     .with_safe_default_protocol_versions()?
//!     .with_no_client_auth()
//!     .with_single_cert(vec![certificate.clone()], key)?;
//! let mut roots = rustls::RootCertStore::empty();
//! roots.add(certificate)?;
//! let client = rustls::ClientConfig::builder_with_provider(provider)
//!     .with_safe_default_protocol_versions()?
//!     .with_root_certificates(roots)
//!     .with_no_client_auth();
//!
//! lamprey::run(|| -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     lamprey::spawn(move || -> std::io::Result<()> {
//!         let mut stream = TlsStream::accept(listener.accept()?.0, Arc::new(server))?;
//!         stream.write_all(b"hello")?;
//!         stream.close_notify()
//!     });
//!     let name = ServerName::try_from("localhost").unwrap();
//!     let mut stream = TlsStream::connect(TcpStream::connect(address)?, Arc::new(client), name)?;
//!     let mut text = String::new();
//!     stream.read_to_string(&mut text)?;
//!     assert_eq!(text, "hello");
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocking;
mod duplex;
mod incoming;
mod poll;
mod state;
mod waiters;
mod wrapped;

pub use self::duplex::Duplex;

use self::state::State;
use self::waiters::Waiters;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Connection, ProtocolVersion, ServerConfig, ServerConnection};

/// A TLS connection over a socket `S`.
///
/// # Halves
/// `&TlsStream` reads and writes, so a host may read while another one writes, for example with an `Arc` each. What one of
/// them does holds up the other one while it computes, not while it waits for the socket. Threads that want the same direction
/// take turns.
///
/// # The end
/// A peer that is done sends `close_notify`, and reading returns 0. A connection that ends without, for example because
/// somebody has cut it, is an `UnexpectedEof`; one whose peer breaks the protocol is an `InvalidData`. Reading returns what has
/// arrived before, then the error, then the same error again. A stream that is dropped sends none, so that what a panic or a cancellation has cut
/// off does not look complete: call [`close_notify`](Self::close_notify).
///
/// # Memory
/// Beside what rustls needs, 4 KiB for what has been received, up to 64 KiB while much is received.
///
/// # Callbacks
/// What a configuration calls back (verifiers, resolvers of certificates, stores of sessions) must not wait: it runs while the
/// stream is locked. To wait before a configuration is chosen, for example for a certificate of the name that the client asks
/// for, use [`rustls::server::Acceptor`] and [`TlsStream::new`].
pub struct TlsStream<S> {
    socket: S,
    /// Of `std`, because it is never held while a thread waits for the socket.
    state: Mutex<State>,
    waiters: Waiters,
    reading: lamprey::sync::Mutex<()>,
    writing: lamprey::sync::Mutex<()>,
    limits: Mutex<Limits>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    read: Option<Duration>,
    write: Option<Duration>,
}

impl<S: Duplex> TlsStream<S> {
    /// Connects as a client: the handshake on `socket`, which is connected. `name` is what the server's certificate must be for.
    ///
    /// # Errors
    /// As for [`handshake`](Self::handshake).
    ///
    /// # Cancellation
    /// A thread that is cancelled while it waits unwinds from here, and the socket is closed.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn connect(socket: S, config: Arc<ClientConfig>, name: ServerName<'static>) -> io::Result<Self> {
        let stream = Self::client(socket, config, name)?;
        stream.handshake()?;
        Ok(stream)
    }

    /// The awaitable form of [`connect`](Self::connect).
    ///
    /// # Errors
    /// As for `connect`.
    ///
    /// # Cancellation
    /// The socket is closed.
    pub async fn connect_async(
        socket: S,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<Self> {
        let stream = Self::client(socket, config, name)?;
        stream.handshake_async().await?;
        Ok(stream)
    }

    /// Accepts a client: the handshake on `socket`, which a listener has returned. A peer that says nothing keeps the caller
    /// waiting: limit the time, by [`with_timeout`](lamprey::with_timeout) or [`set_write_timeout`](Self::set_write_timeout).
    ///
    /// # Errors
    /// As for [`handshake`](Self::handshake).
    ///
    /// # Cancellation
    /// As for [`connect`](Self::connect).
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn accept(socket: S, config: Arc<ServerConfig>) -> io::Result<Self> {
        let stream = Self::server(socket, config)?;
        stream.handshake()?;
        Ok(stream)
    }

    /// The awaitable form of [`accept`](Self::accept).
    ///
    /// # Errors
    /// As for `accept`.
    ///
    /// # Cancellation
    /// The socket is closed.
    pub async fn accept_async(socket: S, config: Arc<ServerConfig>) -> io::Result<Self> {
        let stream = Self::server(socket, config)?;
        stream.handshake_async().await?;
        Ok(stream)
    }

    /// A client whose handshake is done when it is first read or written.
    ///
    /// # Errors
    /// `InvalidInput` if `config` cannot be used, for example because it has no cipher suite for its versions.
    pub fn client(socket: S, config: Arc<ClientConfig>, name: ServerName<'static>) -> io::Result<Self> {
        ClientConnection::new(config, name).map(|made| Self::new(socket, made)).map_err(unusable)
    }

    /// A server's side whose handshake is done when it is first read or written.
    ///
    /// # Errors
    /// `InvalidInput` if `config` cannot be used.
    pub fn server(socket: S, config: Arc<ServerConfig>) -> io::Result<Self> {
        ServerConnection::new(config).map(|made| Self::new(socket, made)).map_err(unusable)
    }

    /// A stream of a connection that the caller has made, for what rustls can set on one before its handshake, and for those that
    /// [`rustls::server::Acceptor`] returns.
    pub fn new(socket: S, connection: impl Into<Connection>) -> Self {
        let (waiters, wakes_all) = Waiters::new();
        Self {
            socket,
            state: Mutex::new(State::new(connection.into(), wakes_all)),
            waiters,
            reading: lamprey::sync::Mutex::new(()),
            writing: lamprey::sync::Mutex::new(()),
            limits: Mutex::default(),
        }
    }

    /// The socket. What is written to it or read from it directly breaks the TLS connection.
    pub fn socket(&self) -> &S {
        &self.socket
    }

    /// Calls `look` with rustls's connection, for what this type has no function for, such as exported key material. It must not
    /// wait, because it keeps other threads from this stream, and not read, write or process anything.
    pub fn connection<R>(&self, look: impl FnOnce(&mut Connection) -> R) -> R {
        look(&mut self.state().conn)
    }

    /// The protocol that both sides have chosen by ALPN, such as `h2`; none before the handshake, or if they have not.
    pub fn alpn_protocol(&self) -> Option<Vec<u8>> {
        self.state().conn.alpn_protocol().map(<[u8]>::to_vec)
    }

    /// The peer's certificate and what it has sent to prove it; none before the handshake, or from a client that was not asked.
    pub fn peer_certificates(&self) -> Option<Vec<CertificateDer<'static>>> {
        self.state().conn.peer_certificates().map(<[_]>::to_vec)
    }

    /// The version of the protocol; none before the handshake.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.state().conn.protocol_version()
    }

    /// At a server, the name by which the client asks for it (SNI); none before the handshake, or if it has sent none.
    #[doc(alias = "SNI")]
    pub fn server_name(&self) -> Option<String> {
        match &self.state().conn {
            Connection::Server(server) => server.server_name().map(str::to_owned),
            Connection::Client(_) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // If a callback of the configuration has panicked, rustls's own state says so.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time limits of the blocking calls, each for one call. [`with_timeout`](lamprey::with_timeout) limits any number of calls.
impl<S> TlsStream<S> {
    /// Sets how long a read may wait.
    ///
    /// # Errors
    /// `InvalidInput` for 0, which would be a read that never succeeds.
    pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.limits().read = not_zero(limit)?;
        Ok(())
    }

    /// Sets how long a write, a flush, a handshake or a close may wait.
    ///
    /// # Errors
    /// `InvalidInput` for 0.
    pub fn set_write_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.limits().write = not_zero(limit)?;
        Ok(())
    }

    /// The limit that [`set_read_timeout`](Self::set_read_timeout) has set.
    pub fn read_timeout(&self) -> Option<Duration> {
        self.limits().read
    }

    /// The limit that [`set_write_timeout`](Self::set_write_timeout) has set.
    pub fn write_timeout(&self) -> Option<Duration> {
        self.limits().write
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: fmt::Debug> fmt::Debug for TlsStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream").field("socket", &self.socket).finish_non_exhaustive()
    }
}

fn not_zero(limit: Option<Duration>) -> io::Result<Option<Duration>> {
    match limit {
        Some(Duration::ZERO) => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "a time limit of 0: None is no limit"))
        }
        limit => Ok(limit),
    }
}

fn unusable(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}
