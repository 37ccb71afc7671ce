//! The poll forms of the calls that all streams have: for the traits of other libraries.

/// Adds them to a type that has `is_stream`.
macro_rules! is_stream_poll {
    ($name:ident) => {
        /// The poll forms, for `poll` functions and for the traits of other libraries. Of several tasks that poll one
        /// direction of one socket, the last one is woken; futures of the `_async` forms and threads are not affected. The
        /// time-outs of the socket do not apply. Each form now and then wakes its task and is pending once, so that a socket
        /// that is always ready does not keep the worker to itself.
        impl $name {
            /// The poll form of [`read_async`](Self::read_async).
            ///
            /// # Examples
            /// ```
            /// use std::future::poll_fn;
            /// use std::io::Write;
            /// use lamprey::net::UnixStream;
            ///
            /// # lamprey::run(|| -> std::io::Result<()> {
            /// let (reader, mut writer) = UnixStream::pair()?;
            /// lamprey::spawn(move || writer.write_all(b"hello").unwrap());
            /// let mut buf = [0; 8];
            /// let read = lamprey::wait(poll_fn(|cx| reader.poll_read(cx, &mut buf)))?;
            /// assert_eq!(&buf[..read], b"hello");
            /// # Ok(())
            /// # })?;
            /// # std::io::Result::Ok(())
            /// ```
            ///
            /// # Errors
            /// The system's; [`Closed`](crate::net::Closed).
            pub fn poll_read(
                &self,
                cx: &mut ::std::task::Context<'_>,
                buf: &mut [u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll_read(cx, buf)
            }

            /// [`poll_read`](Self::poll_read) into memory that need not be initialised: returns the part of `buf`, from its
            /// beginning, that has been read and is initialised now.
            ///
            /// # Errors
            /// As for `poll_read`.
            pub fn poll_read_uninit<'b>(
                &self,
                cx: &mut ::std::task::Context<'_>,
                buf: &'b mut [::std::mem::MaybeUninit<u8>],
            ) -> ::std::task::Poll<::std::io::Result<&'b mut [u8]>> {
                self.0.poll_read_uninit(cx, buf)
            }

            /// The poll form of [`read_vectored_async`](Self::read_vectored_async).
            ///
            /// # Errors
            /// As for `poll_read`.
            pub fn poll_read_vectored(
                &self,
                cx: &mut ::std::task::Context<'_>,
                bufs: &mut [::std::io::IoSliceMut<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll_read_vectored(cx, bufs)
            }

            /// The poll form of [`write_async`](Self::write_async).
            ///
            /// # Errors
            /// As for `poll_read`.
            pub fn poll_write(
                &self,
                cx: &mut ::std::task::Context<'_>,
                buf: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll_write(cx, buf)
            }

            /// The poll form of [`write_vectored_async`](Self::write_vectored_async).
            ///
            /// # Errors
            /// As for `poll_read`.
            pub fn poll_write_vectored(
                &self,
                cx: &mut ::std::task::Context<'_>,
                bufs: &[::std::io::IoSlice<'_>],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                self.0.poll_write_vectored(cx, bufs)
            }
        }
    };
}
pub(super) use is_stream_poll;
