//! Listeners, whose connections come wrapped.

use super::transport::{Direct, Transport};
use super::wrapper::Async;
use lamprey::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::SocketAddr as UnixAddr;
use std::task::{Context, Poll};

macro_rules! listener {
    ($listener:ident, $stream:ident, $address:ty) => {
        impl Transport for $listener {
            type Driver = Direct<Self>;
        }

        impl Async<$listener> {
            /// Waits for a connection. It pauses while the process has no descriptors left, and skips connections that broke before they
            /// were accepted, so that a loop over it goes on:
            #[doc = concat!("[`", stringify!($listener), "::accept_with_backoff_async`].")]
            ///
            /// # Errors
            /// As for that call.
            ///
            /// # Cancellation
            /// Dropped before it is ready, it has accepted nothing.
            pub async fn accept(&self) -> io::Result<(Async<$stream>, $address)> {
                let (stream, address) = self.get_ref().accept_with_backoff_async().await?;
                Ok((Async::new(stream), address))
            }

            /// The poll form of accepting, without pauses: see
            #[doc = concat!("[`", stringify!($listener), "::poll_accept`].")]
            ///
            /// # Errors
            /// As for that call.
            pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Async<$stream>, $address)>> {
                self.get_ref().poll_accept(cx).map_ok(|(stream, address)| (Async::new(stream), address))
            }
        }
    };
}

listener!(TcpListener, TcpStream, SocketAddr);
listener!(UnixListener, UnixStream, UnixAddr);
