//! What accepts the connections of a server.

use crate::io::Async;
use lamprey::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use std::fmt;
use std::future::Future;
use std::io;

/// What accepts connections for [`serve`](super::serve()): Lamprey's listeners, or one of the program (for example one that
/// makes a TLS stream of each connection).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no listener of `lamprey_compat::axum::serve`",
    note = "a socket of tokio's or of `std` is bound by Lamprey instead: `lamprey::net::TcpListener::bind(address)?`"
)]
pub trait Listener: Send + Sync + 'static {
    /// A connection.
    type Io: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static;
    /// Who made it.
    type Address: fmt::Debug + Clone + Send + Sync + 'static;

    /// The next connection. What belongs to one connection only (a handshake) is left to the connection's own reads: this call
    /// holds up all that come after it.
    ///
    /// # Errors
    /// Only those after which no call will succeed: the server ends with them.
    ///
    /// # Cancellation
    /// A future that is dropped before it is ready has accepted nothing.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Io, Self::Address)>> + Send;

    /// The address that it listens on.
    ///
    /// # Errors
    /// The system's.
    fn local_addr(&self) -> io::Result<Self::Address>;
}

/// `TCP_NODELAY` is set on each connection, as Go's servers do: hyper writes whole messages.
impl Listener for TcpListener {
    type Io = Async<TcpStream>;
    type Address = std::net::SocketAddr;

    async fn accept(&self) -> io::Result<(Self::Io, Self::Address)> {
        let (stream, address) = self.accept_with_backoff_async().await?;
        // It fails if the peer has gone already: the first read tells.
        let _ = stream.set_nodelay(true);
        Ok((Async::new(stream), address))
    }

    fn local_addr(&self) -> io::Result<Self::Address> {
        self.local_addr()
    }
}

impl Listener for UnixListener {
    type Io = Async<UnixStream>;
    type Address = std::os::unix::net::SocketAddr;

    async fn accept(&self) -> io::Result<(Self::Io, Self::Address)> {
        let (stream, address) = self.accept_with_backoff_async().await?;
        Ok((Async::new(stream), address))
    }

    fn local_addr(&self) -> io::Result<Self::Address> {
        self.local_addr()
    }
}
