//! The awaitable forms of the calls that all streams have.

/// Adds them to a type that has `is_stream`.
macro_rules! is_stream_async {
    ($name:ident) => {
        $crate::io::whole::reads_whole!($name);
        $crate::io::whole::writes_whole!($name);

        impl $name {
            /// The awaitable form of [`Read::read`](::std::io::Read::read): waits until there is data and
            /// reads what there is; 0 at the end of the stream.
            ///
            /// # Errors
            /// The system's; `TimedOut` after the read timeout; [`Closed`](crate::net::Closed).
            ///
            /// # Cancellation
            /// A future that is dropped before it is ready has read nothing.
            pub fn read_async(
                &self,
                buf: &mut [u8],
            ) -> impl Future<Output = ::std::io::Result<usize>> + Send {
                self.0.recv_async(buf, ::rustix::net::RecvFlags::empty())
            }

            /// [`read_async`](Self::read_async) into several buffers, one after the other.
            ///
            /// # Errors
            /// As for `read_async`.
            ///
            /// # Cancellation
            /// As for `read_async`.
            pub fn read_vectored_async(
                &self,
                bufs: &mut [::std::io::IoSliceMut<'_>],
            ) -> impl Future<Output = ::std::io::Result<usize>> + Send {
                self.0.recv_vectored_async(bufs)
            }

            /// The awaitable form of [`peek`](Self::peek).
            ///
            /// # Errors
            /// As for reading.
            ///
            /// # Cancellation
            /// Harmless: nothing is taken out of the socket.
            pub fn peek_async(
                &self,
                buf: &mut [u8],
            ) -> impl Future<Output = ::std::io::Result<usize>> + Send {
                self.0.recv_async(buf, ::rustix::net::RecvFlags::PEEK)
            }

            /// The awaitable form of [`Write::write`](::std::io::Write::write): waits until there is room and
            /// writes what fits.
            ///
            /// # Errors
            /// The system's; `TimedOut` after the write timeout; [`Closed`](crate::net::Closed).
            ///
            /// # Cancellation
            /// A future that is dropped before it is ready has written nothing.
            pub fn write_async(&self, buf: &[u8]) -> impl Future<Output = ::std::io::Result<usize>> + Send {
                self.0.send_async(buf)
            }

            /// [`write_async`](Self::write_async) from several buffers, one after the other.
            ///
            /// # Errors
            /// As for `write_async`.
            ///
            /// # Cancellation
            /// As for `write_async`.
            pub fn write_vectored_async(
                &self,
                bufs: &[::std::io::IoSlice<'_>],
            ) -> impl Future<Output = ::std::io::Result<usize>> + Send {
                self.0.send_vectored_async(bufs)
            }

            /// The awaitable form of [`sendfile`](Self::sendfile).
            ///
            /// # Errors
            /// As for `sendfile`; and the system's, when no descriptors are left: a chunk that is not in the
            /// page cache is sent through duplicates of both descriptors, which the pool for files may use
            /// after this future is dropped.
            ///
            /// # Cancellation
            /// Some of the bytes may have been sent, and a chunk of up to 256 KiB may still be sent
            /// afterwards.
            ///
            /// # Blocking
            /// As for `sendfile`.
            pub async fn sendfile_async(
                &self,
                file: impl ::std::os::fd::AsFd,
                offset: u64,
                len: u64,
            ) -> ::std::io::Result<u64> {
                self.0.sendfile_async(file.as_fd(), offset, len).await
            }
        }
    };
}
pub(super) use is_stream_async;
