//! The awaitable forms of the provided methods of `std::io::Read` and `Write`: reading to the end, writing
//! all.

/// Repeats `$call`, which goes on after `$done` bytes, until it has transferred `$len` bytes; `$at_end` is the error if
/// it transfers none. (A macro, because the call may be an `await`.)
macro_rules! repeat_until_all {
    ($len:expr, |$done:ident| $call:expr, $at_end:expr) => {{
        let mut $done = 0;
        while $done < $len {
            match $call {
                Ok(0) => return Err($at_end),
                Ok(count) => $done += count,
                Err(error) if error.kind() == ::std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }};
}
pub(crate) use repeat_until_all;

/// Space at the end of a vector, to read into. On drop the vector is cut to what has been read, also when the
/// read is abandoned.
pub(crate) struct Tail<'a> {
    bytes: &'a mut Vec<u8>,
    filled: usize,
    before: usize,
}

impl<'a> Tail<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>) -> Self {
        let filled = bytes.len();
        Self { bytes, filled, before: filled }
    }

    /// The space for the next read; never empty.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.filled == self.bytes.len() {
            let more = (self.filled - self.before).clamp(32, 1 << 20);
            self.bytes.reserve(more);
            self.bytes.resize(self.bytes.capacity().min(self.filled + 2 * more), 0);
        }
        &mut self.bytes[self.filled..]
    }

    pub(crate) fn fill(&mut self, count: usize) {
        self.filled += count;
    }

    /// How many bytes have been read.
    pub(crate) fn read(&self) -> usize {
        self.filled - self.before
    }
}

impl Drop for Tail<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.filled);
    }
}

/// Adds the calls that consist of several reads to a type with `read_async`.
macro_rules! reads_whole {
    ($name:ident) => {
        impl $name {
            /// The awaitable form of [`Read::read_exact`](::std::io::Read::read_exact): fills all of `buf`.
            ///
            /// # Errors
            /// As for `read_async`; `UnexpectedEof` when the end comes first.
            ///
            /// # Cancellation
            /// The bytes read so far are in `buf`, but their number is lost.
            pub async fn read_exact_async(&self, buf: &mut [u8]) -> ::std::io::Result<()> {
                $crate::io::whole::repeat_until_all!(
                    buf.len(),
                    |done| self.read_async(&mut buf[done..]).await,
                    {
                        let text = format!("the end came after {done} of {} bytes", buf.len());
                        ::std::io::Error::new(::std::io::ErrorKind::UnexpectedEof, text)
                    }
                )
            }

            /// The awaitable form of [`Read::read_to_end`](::std::io::Read::read_to_end): appends everything
            /// up to the end to `bytes`, and returns the number of bytes appended.
            ///
            /// # Errors
            /// As for `read_async`; what was read before is in `bytes`.
            ///
            /// # Cancellation
            /// What has been read is in `bytes`.
            pub async fn read_to_end_async(&self, bytes: &mut Vec<u8>) -> ::std::io::Result<usize> {
                let mut tail = $crate::io::whole::Tail::new(bytes);
                loop {
                    match self.read_async(tail.space()).await {
                        Ok(0) => return Ok(tail.read()),
                        Ok(count) => tail.fill(count),
                        Err(error) if error.kind() == ::std::io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
            }

            /// The awaitable form of [`Read::read_to_string`](::std::io::Read::read_to_string): appends
            /// everything up to the end to `text`, and returns the number of bytes appended.
            ///
            /// # Errors
            /// As for `read_async`; `InvalidData` when it is not UTF-8. `text` is then unchanged.
            ///
            /// # Cancellation
            /// What has been read is lost.
            pub async fn read_to_string_async(&self, text: &mut String) -> ::std::io::Result<usize> {
                let mut bytes = Vec::new();
                self.read_to_end_async(&mut bytes).await?;
                let more = ::std::str::from_utf8(&bytes)
                    .map_err(|error| ::std::io::Error::new(::std::io::ErrorKind::InvalidData, error))?;
                text.push_str(more);
                Ok(more.len())
            }
        }
    };
}
pub(crate) use reads_whole;

/// Adds the calls that consist of several writes to a type with `write_async`.
macro_rules! writes_whole {
    ($name:ident) => {
        impl $name {
            /// The awaitable form of [`Write::write_all`](::std::io::Write::write_all): writes all of `buf`.
            ///
            /// # Errors
            /// As for `write_async`; some of the bytes may have been written.
            ///
            /// # Cancellation
            /// Some of the bytes may have been written.
            pub async fn write_all_async(&self, buf: &[u8]) -> ::std::io::Result<()> {
                $crate::io::whole::repeat_until_all!(
                    buf.len(),
                    |done| self.write_async(&buf[done..]).await,
                    ::std::io::ErrorKind::WriteZero.into()
                )
            }
        }
    };
}
pub(crate) use writes_whole;
