//! The awaitable reads and writes at the file's cursor.

use super::{copy_back, copy_of, first_chunk, first_chunk_mut, weight};
use crate::fs::chunks::CURSOR;
use crate::fs::{AlignedBuf, File};
use crate::sched::coop_async::take_a_turn_async;
use std::io::{self, Read, Seek, SeekFrom, Write};

impl File {
    /// The awaitable form of [`Read::read`]: reads at the cursor; 0 at the end of the file.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The cursor may have moved, and the bytes read are lost. [`read_at_async`](Self::read_at_async) can be
    /// repeated.
    pub async fn read_async(&self, buf: &mut [u8]) -> io::Result<usize> {
        take_a_turn_async(weight(buf.len())).await;
        let buf = first_chunk_mut(buf);
        if let Ok(done) = self.read_when_ready(buf, CURSOR).await {
            return done;
        }
        if let Some(key) = self.key() {
            return self.read_simulated_async(key, buf, None).await;
        }
        let mut copy = AlignedBuf::new(buf.len())?;
        copy_back(buf, self.on_pool(move |mut file| (file.read(&mut copy), copy)).await)
    }

    /// The awaitable form of [`Write::write`]: writes at the cursor.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The bytes may have been written, and the cursor may have moved.
    pub async fn write_async(&self, buf: &[u8]) -> io::Result<usize> {
        take_a_turn_async(weight(buf.len())).await;
        let buf = first_chunk(buf);
        if let Ok(done) = self.write_when_ready(buf, CURSOR).await {
            return done;
        }
        if let Some(key) = self.key() {
            return self.write_simulated_async(key, buf, None).await;
        }
        let copy = copy_of(buf)?;
        self.on_pool(move |mut file| file.write(&copy)).await
    }

    /// The awaitable form of [`Seek::seek`].
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The cursor may have moved.
    pub async fn seek_async(&self, to: SeekFrom) -> io::Result<u64> {
        self.on_pool(move |mut file| file.seek(to)).await
    }
}
