//! Reading and writing at an offset until all is done, as [`FileExt`](std::os::unix::fs::FileExt) has it.

use super::File;
use std::io::{self, ErrorKind};

impl File {
    /// Fills all of `buf` from `offset` on, without using the cursor.
    ///
    /// # Errors
    /// As for [`read_at`](Self::read_at); `UnexpectedEof` when the end comes first.
    ///
    /// # Cancellation
    /// The number of bytes read so far is lost.
    pub fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(buf, offset) {
                Ok(0) => return Err(too_short(offset)),
                Ok(count) => {
                    buf = &mut buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `buf` from `offset` on, without using the cursor.
    ///
    /// # Errors
    /// As for [`write_at`](Self::write_at); some of the bytes may have been written.
    ///
    /// # Cancellation
    /// Some of the bytes may have been written.
    pub fn write_all_at(&self, mut buf: &[u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.write_at(buf, offset) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    buf = &buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The awaitable form of [`read_exact_at`](Self::read_exact_at).
    ///
    /// # Errors
    /// As for `read_exact_at`.
    ///
    /// # Cancellation
    /// As for `read_exact_at`.
    pub async fn read_exact_at_async(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at_async(buf, offset).await {
                Ok(0) => return Err(too_short(offset)),
                Ok(count) => {
                    buf = &mut buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The awaitable form of [`write_all_at`](Self::write_all_at).
    ///
    /// # Errors
    /// As for `write_all_at`.
    ///
    /// # Cancellation
    /// As for `write_all_at`.
    pub async fn write_all_at_async(&self, mut buf: &[u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.write_at_async(buf, offset).await {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    buf = &buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn too_short(end: u64) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, format!("the file ends at {end}, before the buffer is full"))
}
