//! Reading and writing at an offset until all is done, as [`FileExt`](std::os::unix::fs::FileExt) has it.

use super::File;
use crate::io::whole::repeat_until_all;
use std::io::{self, ErrorKind};

impl File {
    /// Fills all of `buf` from `offset` on, without using the cursor.
    ///
    /// # Errors
    /// As for [`read_at`](Self::read_at); `UnexpectedEof` when the end comes first.
    ///
    /// # Cancellation
    /// The number of bytes read so far is lost.
    pub fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        repeat_until_all!(
            buf.len(),
            |done| self.read_at(&mut buf[done..], offset + done as u64),
            too_short(offset + done as u64)
        )
    }

    /// Writes all of `buf` from `offset` on, without using the cursor.
    ///
    /// # Errors
    /// As for [`write_at`](Self::write_at); some of the bytes may have been written.
    ///
    /// # Cancellation
    /// Some of the bytes may have been written.
    pub fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        repeat_until_all!(
            buf.len(),
            |done| self.write_at(&buf[done..], offset + done as u64),
            ErrorKind::WriteZero.into()
        )
    }

    /// The awaitable form of [`read_exact_at`](Self::read_exact_at).
    ///
    /// # Errors
    /// As for `read_exact_at`.
    ///
    /// # Cancellation
    /// As for `read_exact_at`.
    pub async fn read_exact_at_async(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        repeat_until_all!(
            buf.len(),
            |done| self.read_at_async(&mut buf[done..], offset + done as u64).await,
            too_short(offset + done as u64)
        )
    }

    /// The awaitable form of [`write_all_at`](Self::write_all_at).
    ///
    /// # Errors
    /// As for `write_all_at`.
    ///
    /// # Cancellation
    /// As for `write_all_at`.
    pub async fn write_all_at_async(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        repeat_until_all!(
            buf.len(),
            |done| self.write_at_async(&buf[done..], offset + done as u64).await,
            ErrorKind::WriteZero.into()
        )
    }
}

fn too_short(end: u64) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, format!("the file ends at {end}, before the buffer is full"))
}
