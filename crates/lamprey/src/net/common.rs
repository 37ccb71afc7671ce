//! What the socket types share, as macros: settings, conversions, and the traits of streams.

/// Conversions and the trait implementations that every socket type has.
macro_rules! owns_descriptor {
    ($name:ident, $std:ty) => {
        impl $name {
            /// Takes a socket of the standard library, and puts it in non-blocking mode.
            ///
            /// # Errors
            /// `InvalidInput` if it is no such socket (the standard library makes one of any descriptor); the system's, when the
            /// mode of the socket cannot be set or its options cannot be read.
            pub fn from_std(socket: $std) -> ::std::io::Result<Self> {
                $crate::net::kind::check_type(
                    ::std::os::fd::AsFd::as_fd(&socket),
                    $crate::net::kind::Kind::$name,
                )?;
                Self::adopt(socket)
            }

            /// Takes a descriptor of any owner, such as an [`OwnedFd`](::std::os::fd::OwnedFd) or a `socket2::Socket`, and puts
            /// it in non-blocking mode. Timeouts of the kernel's socket are kept.
            ///
            /// # Examples
            /// With the crate `socket2`, for the options that Lamprey has no call for. They can be set later, too:
            /// `socket2::SockRef` borrows from any socket here.
            /// ```
            /// use lamprey::net::{TcpListener, UdpSocket};
            /// use socket2::{Domain, SockRef, Socket, Type};
            ///
            /// let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
            /// socket.set_reuse_port(true)?;
            /// socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into())?;
            /// let socket = UdpSocket::from_fd(socket)?;
            /// SockRef::from(&socket).set_mark(0).or_else(|error| match error.kind() {
            ///     std::io::ErrorKind::PermissionDenied => Ok(()),
            ///     _ => Err(error),
            /// })?;
            ///
            /// // Of the wrong kind:
            /// let error = TcpListener::from_fd(socket).unwrap_err();
            /// assert!(error.to_string().ends_with("cannot be a TcpListener: it is a datagram socket"));
            /// # std::io::Result::Ok(())
            /// ```
            ///
            /// # Errors
            /// `InvalidInput` if it is not such a socket; the system's.
            #[doc(alias = "socket2")]
            pub fn from_fd(fd: impl Into<::std::os::fd::OwnedFd>) -> ::std::io::Result<Self> {
                let fd = fd.into();
                $crate::net::kind::check(::std::os::fd::AsFd::as_fd(&fd), $crate::net::kind::Kind::$name)?;
                Self::adopt(fd.into())
            }

            /// The same socket for the standard library, in blocking mode.
            ///
            /// The mode belongs to the kernel's socket: clones from [`try_clone`](Self::try_clone) share it,
            /// so do not use such a clone afterwards.
            ///
            /// # Errors
            /// The system's, when the mode of the socket cannot be set; the socket is then closed.
            pub fn into_std(self) -> ::std::io::Result<$std> {
                self.release()
            }

            /// Makes every operation on this socket fail, now and later, with [`Closed`](crate::net::Closed);
            /// threads that wait in one are woken and fail. Calling it again has no effect.
            ///
            /// The descriptor is closed when the value is dropped, because other threads may still borrow it.
            /// Streams and listeners are shut down at once, so that the peer sees the end; one with a zero-copy write under way is reset. Clones from
            /// [`try_clone`](Self::try_clone) are separate sockets and stay open (but shut down).
            pub fn close(&self) {
                self.0.close();
                self.shut_down_for_close();
            }

            /// Returns and clears the pending error of the kernel's socket.
            ///
            /// # Errors
            /// The system's.
            pub fn take_error(&self) -> ::std::io::Result<Option<::std::io::Error>> {
                $crate::sched::coop::look();
                let simulated =
                    || $crate::io::simulated::take_error(::std::os::fd::AsFd::as_fd(self)).map(Into::into);
                Ok(self.0.get().take_error()?.or_else(simulated))
            }

            /// With `true`, blocking calls that would have to wait fail with `WouldBlock` instead. The `_async` and `_evt`
            /// forms wait as before. This is a setting of the value (the kernel's socket never blocks anyway); clones
            /// copy it.
            ///
            /// # Errors
            /// None; it returns a `Result` as in the standard library.
            pub fn set_nonblocking(&self, nonblocking: bool) -> ::std::io::Result<()> {
                self.0.options.set_nonblocking(nonblocking);
                Ok(())
            }

            /// A second socket value for the same kernel socket, with its own descriptor and copies of the
            /// settings.
            ///
            /// # Errors
            /// The system's, for example when no descriptors are left.
            pub fn try_clone(&self) -> ::std::io::Result<Self> {
                let cloned =
                    $crate::sched::coop::looked(self.0.get().try_clone(), ::std::result::Result::is_err);
                let clone = $crate::io::socket::Socket::new(cloned?);
                clone.options.copy_from(&self.0.options);
                clone.share_ahead(&self.0);
                Ok(Self(clone))
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.get().fmt(f)
            }
        }

        impl ::std::os::fd::AsFd for $name {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl ::std::os::fd::AsRawFd for $name {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                ::std::os::fd::AsRawFd::as_raw_fd(self.0.get())
            }
        }

        impl ::std::os::fd::IntoRawFd for $name {
            /// The descriptor, in non-blocking mode.
            fn into_raw_fd(self) -> ::std::os::fd::RawFd {
                ::std::os::fd::IntoRawFd::into_raw_fd(self.0.into_inner())
            }
        }

        impl From<$name> for ::std::os::fd::OwnedFd {
            /// The descriptor, in non-blocking mode.
            fn from(socket: $name) -> Self {
                socket.0.into_inner().into()
            }
        }

        impl TryFrom<::std::os::fd::OwnedFd> for $name {
            type Error = ::std::io::Error;
            fn try_from(fd: ::std::os::fd::OwnedFd) -> ::std::io::Result<Self> {
                Self::from_fd(fd)
            }
        }

        impl TryFrom<$std> for $name {
            type Error = ::std::io::Error;
            fn try_from(socket: $std) -> ::std::io::Result<Self> {
                Self::from_std(socket)
            }
        }

        impl TryFrom<$name> for $std {
            type Error = ::std::io::Error;
            fn try_from(socket: $name) -> ::std::io::Result<Self> {
                socket.into_std()
            }
        }
    };
}
pub(super) use owns_descriptor;

/// Timeouts, for the types that have them; and `adopt` and `release`, which transfer them.
macro_rules! has_timeouts {
    ($name:ident, $std:ty) => {
        impl $name {
            fn adopt(socket: $std) -> ::std::io::Result<Self> {
                let socket = $crate::io::socket::Socket::adopt(socket)?;
                let (read, write) = (socket.get().read_timeout()?, socket.get().write_timeout()?);
                socket.import_timeouts(read, write)?;
                Ok(Self(socket))
            }

            fn release(self) -> ::std::io::Result<$std> {
                let (read, write) = (self.0.options.read_timeout.get(), self.0.options.write_timeout.get());
                let socket = self.0.release()?;
                socket.set_read_timeout(read)?;
                socket.set_write_timeout(write)?;
                Ok(socket)
            }

            /// How long a read may wait before it fails with `TimedOut`; `None`, the default, means for ever.
            ///
            /// # Errors
            /// `InvalidInput` for a timeout of zero.
            pub fn set_read_timeout(&self, timeout: Option<::std::time::Duration>) -> ::std::io::Result<()> {
                self.0.options.read_timeout.set(timeout)
            }

            /// How long a write may wait before it fails with `TimedOut`; `None`, the default, means for
            /// ever.
            ///
            /// # Errors
            /// `InvalidInput` for a timeout of zero.
            pub fn set_write_timeout(&self, timeout: Option<::std::time::Duration>) -> ::std::io::Result<()> {
                self.0.options.write_timeout.set(timeout)
            }

            /// The value that [`set_read_timeout`](Self::set_read_timeout) has set.
            ///
            /// # Errors
            /// None; it returns a `Result` as in the standard library.
            pub fn read_timeout(&self) -> ::std::io::Result<Option<::std::time::Duration>> {
                Ok(self.0.options.read_timeout.get())
            }

            /// The value that [`set_write_timeout`](Self::set_write_timeout) has set.
            ///
            /// # Errors
            /// None; it returns a `Result` as in the standard library.
            pub fn write_timeout(&self) -> ::std::io::Result<Option<::std::time::Duration>> {
                Ok(self.0.options.write_timeout.get())
            }
        }
    };
}
pub(super) use has_timeouts;

/// `Read` and `Write`, for the stream and for a reference to it; and the calls that all streams have.
macro_rules! is_stream {
    ($name:ident) => {
        impl $name {
            /// Same as [`Read::read`](::std::io::Read::read), but the data stays in the socket.
            ///
            /// # Errors
            /// As for reading.
            ///
            /// # Cancellation
            /// The commit point is the system call that finds the socket ready. A thread that is cancelled
            /// before that unwinds from here, and has taken nothing.
            ///
            /// # Blocking
            /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
            pub fn peek(&self, buf: &mut [u8]) -> ::std::io::Result<usize> {
                self.0.recv(buf, ::rustix::net::RecvFlags::PEEK)
            }

            /// With `true`, the kernel may receive bytes before a call asks for them, where io_uring is behind the sockets
            /// ([`Io`](crate::Io)); elsewhere this has no effect. Reads then take them without a system call, at the price of
            /// a copy. It begins with the first read that finds nothing, and keeps up to 64 KiB. All awaitable forms,
            /// `peek` and clones made by [`try_clone`](Self::try_clone) see the same bytes; what else uses the
            /// descriptor does not: [`into_std`](Self::into_std) fails (`ResourceBusy`) while bytes might be lost, and
            /// a conversion into a descriptor loses them. Set it before the first `try_clone`. With `false`, what has been
            /// received is still read first.
            ///
            /// While a stream that is dropped on another worker than the one that waited for it last is still known to that
            /// worker's ring, for some milliseconds at most, its peer does not see the end.
            ///
            /// Measure whether it pays: between 0.85 and 1.2 times the time of a message without it, in an echo server
            /// (`lamprey-bench run echo`, `hosts_ahead` beside `hosts_uring`). It is best where reads are small and
            /// mostly have to wait.
            ///
            /// A thread that unwinds reads only what has been received: it does not wait.
            ///
            /// # Examples
            /// ```
            /// use lamprey::net::UnixStream;
            /// use std::io::{Read, Write};
            ///
            /// lamprey::run(|| {
            ///     let (mut here, mut there) = UnixStream::pair()?;
            ///     there.set_read_ahead(true);
            ///     let echo = lamprey::spawn(move || {
            ///         let mut bytes = [0; 5];
            ///         there.read_exact(&mut bytes)?; // the ring may have them already
            ///         there.write_all(&bytes)
            ///     });
            ///     here.write_all(b"hello")?;
            ///     let mut bytes = [0; 5];
            ///     here.read_exact(&mut bytes)?;
            ///     assert_eq!(&bytes, b"hello");
            ///     echo.join().unwrap()
            /// })
            /// # .unwrap();
            /// ```
            #[doc(alias = "multishot")]
            pub fn set_read_ahead(&self, on: bool) {
                self.0.set_read_ahead(on);
            }

            /// Shuts down one direction, or both. After `Write` the peer reads the end of the stream; after
            /// `Read` reads here return 0 bytes. Threads that wait in that direction are woken. (Of a Unix stream a thread that waits for
            /// room at a clone hears of it when there is room: the kernel tells it nothing.)
            ///
            /// # Errors
            /// The system's, for example when the stream is no longer connected.
            pub fn shutdown(&self, how: ::std::net::Shutdown) -> ::std::io::Result<()> {
                $crate::net::simulated::shut_down(self, how)?;
                self.0.get().shutdown(how)?;
                // Of a Unix stream the kernel says nothing to those that wait for room.
                self.0.retry_all();
                Ok(())
            }

            /// Sends `len` bytes of `file` from `offset` on, inside the kernel, and waits for room when there
            /// is none. Returns how many were sent: less than `len` only when the file ends before, or when
            /// an error occurred after some bytes were sent (the next call reports it).
            ///
            /// # Errors
            /// As for writing; and the system's for a file that cannot be sent (such as a pipe or a
            /// directory).
            ///
            /// # Blocking
            /// The worker does not wait for the disk: the pool for files sends chunks that are not in the page
            /// cache. Only the first and the last page of a chunk of 256 KiB are checked, so the worker waits
            /// for a page between them that the kernel has evicted. The write timeout counts anew for each
            /// chunk.
            ///
            /// The kernel has no way to send a file without a `SIGPIPE` when the peer has disconnected.
            /// Programs whose `main` is Rust's ignore that signal; in others the first call of this function
            /// makes the process ignore it, if its action is the default one.
            ///
            /// # Cancellation
            /// Some of the bytes may have been sent.
            pub fn sendfile(
                &self,
                file: impl ::std::os::fd::AsFd,
                offset: u64,
                len: u64,
            ) -> ::std::io::Result<u64> {
                self.0.sendfile(file.as_fd(), offset, len)
            }

            fn shut_down_for_close(&self) {
                // Fails when the stream is no longer connected, and then there is nothing to shut down.
                let _ = self.shutdown(::std::net::Shutdown::Both);
                if self.0.in_place.is_under_way() {
                    // The kernel has memory of a write until the peer, which may never read, has acknowledged it: end the connection.
                    // Fails when it has ended.
                    let _ = ::rustix::net::connect_unspec(self);
                }
            }
        }

        impl ::std::io::Read for &$name {
            #[inline]
            fn read(&mut self, buf: &mut [u8]) -> ::std::io::Result<usize> {
                self.0.read(buf)
            }
            fn read_vectored(&mut self, bufs: &mut [::std::io::IoSliceMut<'_>]) -> ::std::io::Result<usize> {
                self.0.recv_vectored(bufs)
            }
        }

        impl ::std::io::Write for &$name {
            #[inline]
            fn write(&mut self, buf: &[u8]) -> ::std::io::Result<usize> {
                self.0.write(buf)
            }
            fn write_vectored(&mut self, bufs: &[::std::io::IoSlice<'_>]) -> ::std::io::Result<usize> {
                self.0.send_vectored(bufs)
            }
            fn flush(&mut self) -> ::std::io::Result<()> {
                Ok(())
            }
        }

        impl ::std::io::Read for $name {
            #[inline]
            fn read(&mut self, buf: &mut [u8]) -> ::std::io::Result<usize> {
                (&*self).read(buf)
            }
            fn read_vectored(&mut self, bufs: &mut [::std::io::IoSliceMut<'_>]) -> ::std::io::Result<usize> {
                (&*self).read_vectored(bufs)
            }
        }

        impl ::std::io::Write for $name {
            #[inline]
            fn write(&mut self, buf: &[u8]) -> ::std::io::Result<usize> {
                (&*self).write(buf)
            }
            fn write_vectored(&mut self, bufs: &[::std::io::IoSlice<'_>]) -> ::std::io::Result<usize> {
                (&*self).write_vectored(bufs)
            }
            fn flush(&mut self) -> ::std::io::Result<()> {
                Ok(())
            }
        }
    };
}
pub(super) use is_stream;
