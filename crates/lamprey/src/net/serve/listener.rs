//! What a server needs of its listener, and the calls that a listener has for it.

use crate::net::listen::AcceptBackoff;
use std::fmt;
use std::future::Future;
use std::io;

/// What accepts connections: [`TcpListener`](crate::net::TcpListener) and [`UnixListener`](crate::net::UnixListener).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a listener of `lamprey::net`",
    label = "not a `lamprey::net::TcpListener` or `UnixListener`",
    note = "one of `std` or of another runtime blocks its worker: bind one of `lamprey::net` in its place"
)]
pub trait Listener: Listens {}

impl<L: Listens> Listener for L {}

/// What [`Serving`] needs of a listener. Outside of this crate it cannot be named, and so not implemented.
pub trait Listens: Sync {
    /// A connection.
    type Stream: Send + 'static;
    /// Who made it.
    type Address: fmt::Debug + Clone + Send + 'static;

    #[doc(hidden)]
    fn accept_one(&self) -> io::Result<(Self::Stream, Self::Address)>;

    #[doc(hidden)]
    fn accept_one_async(&self) -> impl Future<Output = io::Result<(Self::Stream, Self::Address)>> + Send;

    #[doc(hidden)]
    fn back_off(&self, backoff: &mut AcceptBackoff, error: io::Error) -> io::Result<()>;

    #[doc(hidden)]
    fn back_off_async(
        &self,
        backoff: &mut AcceptBackoff,
        error: io::Error,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

/// The calls of a listener that make it a server.
macro_rules! serves {
    ($name:ident, $stream:ty, $address:ty) => {
        impl $name {
            /// A server in one line: accepts connections and calls `handler` for each, on a host of its own in `scope`,
            /// until the listener is [closed](Self::close) or the scope is cancelled.
            /// [`serving`](Self::serving) has the options, and [`Serving::serve`](crate::net::Serving::serve) the details.
            ///
            /// # Errors
            /// As for `Serving::serve`.
            ///
            /// # Panics
            /// A panic of a handler ends its connection only.
            ///
            /// # Cancellation
            /// As for `Serving::serve`.
            ///
            /// # Blocking
            /// A host or stackful parasite switches away.
            #[track_caller]
            pub fn serve<'scope, F>(
                &self,
                scope: &'scope $crate::Scope<'scope, '_>,
                handler: F,
            ) -> ::std::io::Result<()>
            where
                F: Fn($stream, $address) + Send + Sync + 'scope,
            {
                self.serving().serve(scope, handler)
            }

            /// A server with options.
            #[track_caller]
            pub fn serving(&self) -> $crate::net::Serving<'_, Self> {
                $crate::net::Serving::new(self)
            }
        }

        impl $crate::net::serve::listener::Listens for $name {
            type Stream = $stream;
            type Address = $address;

            fn accept_one(&self) -> ::std::io::Result<($stream, $address)> {
                self.accept()
            }

            fn accept_one_async(
                &self,
            ) -> impl Future<Output = ::std::io::Result<($stream, $address)>> + Send {
                self.accept_async()
            }

            fn back_off(
                &self,
                backoff: &mut $crate::net::listen::AcceptBackoff,
                error: ::std::io::Error,
            ) -> ::std::io::Result<()> {
                backoff.wait_after(&self.0, error)
            }

            fn back_off_async(
                &self,
                backoff: &mut $crate::net::listen::AcceptBackoff,
                error: ::std::io::Error,
            ) -> impl Future<Output = ::std::io::Result<()>> + Send {
                backoff.wait_after_async(&self.0, error)
            }
        }
    };
}
pub(in crate::net) use serves;
