//! The awaitable reads and writes at an offset.

use super::{copy_back, copy_of, first_chunk, first_chunk_mut, weight};
use crate::driver::uring::op::{read, write};
use crate::fs::chunks::NotNow;
use crate::fs::direct::Transfer;
use crate::fs::{AlignedBuf, File};
use crate::io::offset::check_offset;
use crate::sched::coop_async::take_a_turn_async;
use std::io;
use std::os::unix::fs::FileExt;

impl File {
    /// The awaitable form of [`read_at`](Self::read_at).
    ///
    /// # Errors
    /// As for `read_at`.
    ///
    /// # Cancellation
    /// A dropped future has no effect: the cursor does not move.
    pub async fn read_at_async(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        take_a_turn_async(weight(buf.len())).await;
        let buf = first_chunk_mut(buf);
        let why = match self.read_when_ready(buf, offset).await {
            Ok(done) => return done,
            Err(why) => why,
        };
        copy_back(buf, self.read_waiting_async(AlignedBuf::new(buf.len())?, offset, why).await)
    }

    /// Reads at `offset` to the beginning of `buffer`, and returns the number of bytes and the buffer: without a copy,
    /// where [`read_at_async`](Self::read_at_async) has one, for files opened with `O_DIRECT`.
    ///
    /// # Examples
    /// ```
    /// use lamprey::fs::{AlignedBuf, File};
    ///
    /// let text = lamprey::run(|| {
    ///     lamprey::wait(async {
    ///         let file = File::open_async("Cargo.toml").await?;
    ///         let (count, buffer) = file.read_to_async(AlignedBuf::new(4096)?, 0).await;
    ///         std::io::Result::Ok(String::from_utf8_lossy(&buffer[..count?]).into_owned())
    ///     })
    /// })?;
    /// assert!(text.contains("lamprey"));
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// As for `read_at`.
    ///
    /// # Cancellation
    /// A dropped future has no effect, and the buffer is freed when the kernel has done with it.
    pub async fn read_to_async(
        &self,
        mut buffer: AlignedBuf,
        offset: u64,
    ) -> (io::Result<usize>, AlignedBuf) {
        if let Err(error) = check_offset(offset) {
            return (Err(error), buffer);
        }
        take_a_turn_async(weight(buffer.len())).await;
        match self.read_when_ready(&mut buffer, offset).await {
            Ok(done) => (done, buffer),
            Err(why) => self.read_waiting_async(buffer, offset, why).await,
        }
    }

    /// The awaitable form of [`write_at`](Self::write_at).
    ///
    /// # Errors
    /// As for `write_at`.
    ///
    /// # Cancellation
    /// Some or all of the bytes may have been written.
    pub async fn write_at_async(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        check_offset(offset)?;
        take_a_turn_async(weight(buf.len())).await;
        let buf = first_chunk(buf);
        match self.write_when_ready(buf, offset).await {
            Ok(done) => done,
            Err(why) => self.write_waiting_async(copy_of(buf)?, offset, why).await.0,
        }
    }

    /// Writes `buffer` at `offset`, and returns the number of bytes and the buffer: without a copy, where
    /// [`write_at_async`](Self::write_at_async) has one, for files opened with `O_DIRECT`.
    ///
    /// # Errors
    /// As for `write_at`.
    ///
    /// # Cancellation
    /// Some or all of the bytes may have been written.
    pub async fn write_from_async(&self, buffer: AlignedBuf, offset: u64) -> (io::Result<usize>, AlignedBuf) {
        if let Err(error) = check_offset(offset) {
            return (Err(error), buffer);
        }
        take_a_turn_async(weight(buffer.len())).await;
        match self.write_when_ready(&buffer, offset).await {
            Ok(done) => (done, buffer),
            Err(why) => self.write_waiting_async(buffer, offset, why).await,
        }
    }

    async fn read_waiting_async(
        &self,
        mut buffer: AlignedBuf,
        offset: u64,
        why: NotNow,
    ) -> (io::Result<usize>, AlignedBuf) {
        if let Some(key) = self.key() {
            let done = self.read_simulated_async(key, &mut buffer, Some(offset)).await;
            return (done, buffer);
        }
        let what = Transfer::of(&buffer, offset);
        let begin = move |here, file, buffer| read::begin(here, file, buffer, offset);
        let on_pool = move |file: &std::fs::File, buffer: &mut AlignedBuf| file.read_at(buffer, offset);
        if why == NotNow::Untold {
            return self.on_pool(move |file| (on_pool(file, &mut buffer), buffer)).await;
        }
        let (done, buffer) = self.perform_async(buffer, begin, on_pool).await;
        (self.explained(done, what), buffer)
    }

    async fn write_waiting_async(
        &self,
        mut buffer: AlignedBuf,
        offset: u64,
        why: NotNow,
    ) -> (io::Result<usize>, AlignedBuf) {
        if let Some(key) = self.key() {
            let done = self.write_simulated_async(key, &buffer, Some(offset)).await;
            return (done, buffer);
        }
        let what = Transfer::of(&buffer, offset);
        let begin = move |here, file, buffer| write::begin(here, file, buffer, offset);
        let on_pool = move |file: &std::fs::File, buffer: &mut AlignedBuf| file.write_at(buffer, offset);
        if why == NotNow::Untold {
            return self.on_pool(move |file| (on_pool(file, &mut buffer), buffer)).await;
        }
        let (done, buffer) = self.perform_async(buffer, begin, on_pool).await;
        (self.explained(done, what), buffer)
    }
}
