//! Sockets in choices: each awaitable form as an event. An operation that is not chosen has had no effect:
//! the poll that finds the socket ready performs the operation.

use crate::driver::readiness::Interest;
use crate::io::ready::is_ready;
use crate::io::socket::Socket;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll};

use rustix::io::Errno;

/// Ready when `socket` is ready for `interest`; transfers nothing.
pub(super) fn ready<S: AsFd>(socket: &Socket<S>, interest: Interest) -> impl Future<Output = io::Result<()>> {
    socket.attempt_async(interest, None, move |fd| ready_now(socket, fd, interest))
}

/// The poll form of [`ready`].
pub(super) fn poll_ready<S: AsFd>(
    socket: &Socket<S>,
    interest: Interest,
    context: &Context<'_>,
) -> Poll<io::Result<()>> {
    socket.poll_attempt(interest, context, |fd| ready_now(socket, fd, interest))
}

fn ready_now<S: AsFd>(socket: &Socket<S>, fd: BorrowedFd<'_>, interest: Interest) -> Result<(), Errno> {
    if interest == Interest::Read
        && let Some(ahead) = socket.bytes_ahead()
    {
        return ahead.attempt(fd, |_| (), || Ok(()), || is_ready(fd, interest));
    }
    is_ready(fd, interest)
}

/// The events of all sockets that carry data.
macro_rules! readiness_events {
    ($name:ident) => {
        impl $name {
            /// The event that a read would not wait: there is data, the peer has ended the stream, or there
            /// is an error. It reads nothing; another thread may take the data before the read.
            /// [`close`](Self::close) makes it fail.
            pub fn readable_evt(
                &self,
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<()>> + Send> {
                let ready = $crate::net::events::ready(&self.0, $crate::driver::readiness::Interest::Read);
                $crate::events::future_evt(ready)
            }

            /// The event that a write would not wait. It writes nothing.
            pub fn writable_evt(
                &self,
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<()>> + Send> {
                let ready = $crate::net::events::ready(&self.0, $crate::driver::readiness::Interest::Write);
                $crate::events::future_evt(ready)
            }

            /// The poll form of [`readable_evt`](Self::readable_evt): ready when a read would not wait. Of several tasks that
            /// poll for reading, the last one is woken.
            ///
            /// # Errors
            /// The system's; [`Closed`](crate::net::Closed).
            pub fn poll_readable(
                &self,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                $crate::net::events::poll_ready(&self.0, $crate::driver::readiness::Interest::Read, cx)
            }

            /// The poll form of [`writable_evt`](Self::writable_evt): ready when a write would not wait. Of several tasks that
            /// poll for writing, the last one is woken.
            ///
            /// # Errors
            /// As for `poll_readable`.
            pub fn poll_writable(
                &self,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                $crate::net::events::poll_ready(&self.0, $crate::driver::readiness::Interest::Write, cx)
            }

            /// [`readable_evt`](Self::readable_evt) that owns a handle of the socket, so that a function can return it.
            pub fn readable_owned_evt(
                self: &::std::sync::Arc<Self>,
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<()>> + Send + use<>> {
                let this = self.clone();
                $crate::events::future_evt(async move {
                    $crate::net::events::ready(&this.0, $crate::driver::readiness::Interest::Read).await
                })
            }

            /// [`writable_evt`](Self::writable_evt) that owns a handle of the socket, so that a function can return it.
            pub fn writable_owned_evt(
                self: &::std::sync::Arc<Self>,
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<()>> + Send + use<>> {
                let this = self.clone();
                $crate::events::future_evt(async move {
                    $crate::net::events::ready(&this.0, $crate::driver::readiness::Interest::Write).await
                })
            }
        }
    };
}

/// The events of all streams.
macro_rules! stream_events {
    ($name:ident) => {
        $crate::net::events::readiness_events!($name);

        impl $name {
            /// [`Read::read`](::std::io::Read::read) as an event, to choose between it and others. If another
            /// is chosen, nothing has been read.
            ///
            /// # Examples
            /// ```
            /// use std::time::Duration;
            /// use lamprey::event::{Event, choose, timeout};
            /// use lamprey::net::UnixStream;
            /// use std::io::Write;
            ///
            /// # lamprey::run(|| -> std::io::Result<()> {
            /// let (here, mut there) = UnixStream::pair()?;
            /// let mut buf = [0; 8];
            /// let mut read = |limit| choose((here.read_evt(&mut buf), timeout(limit).wrap(|()| Ok(99)))).sync();
            /// assert_eq!(read(Duration::from_millis(1))?, 99);
            /// there.write_all(b"late")?;
            /// assert_eq!(read(Duration::from_secs(60))?, 4);
            /// # Ok(())
            /// # })?;
            /// # std::io::Result::Ok(())
            /// ```
            pub fn read_evt(
                &self,
                buf: &mut [u8],
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<usize>> + Send> {
                $crate::events::future_evt(self.read_async(buf))
            }

            /// [`Write::write`](::std::io::Write::write) as an event, which commits when some of `buf` has
            /// been written. If another is chosen, nothing has been written.
            pub fn write_evt(
                &self,
                buf: &[u8],
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<usize>> + Send> {
                $crate::events::future_evt(self.write_async(buf))
            }
        }
    };
}

/// The events of all listeners.
macro_rules! listener_events {
    ($name:ident, $stream:ty, $address:ty) => {
        impl $name {
            /// [`accept`](Self::accept) as an event, to choose between it and others. If another is chosen,
            /// nothing has been accepted, and the connection stays in the listener's queue.
            ///
            /// # Examples
            /// ```
            /// use std::time::Duration;
            /// use lamprey::event::{Event, choose, timeout};
            /// use lamprey::net::TcpListener;
            ///
            /// # lamprey::run(|| -> std::io::Result<()> {
            /// let listener = TcpListener::bind("127.0.0.1:0")?;
            /// let nobody = choose((
            ///     listener.accept_evt().wrap(Some),
            ///     timeout(Duration::from_millis(1)).wrap(|()| None),
            /// ));
            /// assert!(nobody.sync().is_none());
            /// # Ok(())
            /// # })?;
            /// # std::io::Result::Ok(())
            /// ```
            pub fn accept_evt(
                &self,
            ) -> $crate::events::FutureEvt<impl Future<Output = ::std::io::Result<($stream, $address)>> + Send>
            {
                $crate::events::future_evt(self.accept_async())
            }
        }
    };
}

pub(super) use {listener_events, readiness_events, stream_events};
