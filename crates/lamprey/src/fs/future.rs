//! The awaitable forms of the calls of [`File`]. ([`File`] says what a dropped future may have done.)

use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::io::{ReadWriteFlags, preadv2, pwritev2};

use super::{AlignedBuf, CHUNK, CURSOR, File, Metadata, OpenOptions, ask_to_close, metadata, would_wait};
use crate::driver::block_async;
use crate::driver::uring::op::{close, read, sync, write};
use crate::driver::uring::ring::here;
use crate::io::offset::check_offset;
use crate::io::socket::TURN;
use crate::io::socket::future::take_a_turn_async;
use crate::io::whole::reads_and_writes_whole;

reads_and_writes_whole!(File);

/// The weight of a read or write of `length` bytes in the count of operations before a yield ([`TURN`]).
fn weight(length: usize) -> u32 {
    if length < CHUNK { 1 } else { TURN / 2 }
}

/// The bytes that one call transfers. (A call that waits works on a copy, because the caller's buffer may be
/// freed with the future; one with an [`AlignedBuf`] has the buffer itself.)
fn first_chunk(buf: &[u8]) -> &[u8] {
    &buf[..buf.len().min(CHUNK)]
}

fn first_chunk_mut(buf: &mut [u8]) -> &mut [u8] {
    let length = buf.len().min(CHUNK);
    &mut buf[..length]
}

impl File {
    /// The awaitable form of [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// use lamprey::fs::File;
    ///
    /// let text = lamprey::run(|| {
    ///     lamprey::wait(async {
    ///         let mut text = String::new();
    ///         File::open_async("Cargo.toml").await?.read_to_string_async(&mut text).await?;
    ///         std::io::Result::Ok(text)
    ///     })
    /// })?;
    /// assert!(text.contains("lamprey"));
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// A dropped future has no effect.
    pub async fn open_async(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open_async(path).await
    }

    /// The awaitable form of [`create`](Self::create).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The file may have been created or truncated.
    pub async fn create_async(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open_async(path).await
    }

    /// The awaitable form of [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The file may have been created or truncated, if `options` say so.
    pub async fn open_with_async(options: &std::fs::OpenOptions, path: impl AsRef<Path>) -> io::Result<Self> {
        let (options, path) = (options.clone(), path.as_ref().to_owned());
        block_async(move || options.open(path)).await.map(Self::from)
    }

    /// The awaitable form of [`metadata`](Self::metadata).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// A dropped future has no effect.
    pub async fn metadata_async(&self) -> io::Result<Metadata> {
        metadata::of_file_async(&self.file).await
    }

    /// The awaitable form of [`set_len`](Self::set_len).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The file may have its new length.
    pub async fn set_len_async(&self, size: u64) -> io::Result<()> {
        self.on_pool(move |file| file.set_len(size)).await
    }

    /// The awaitable form of [`sync_all`](Self::sync_all).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The sync may still run; it has no other effect.
    pub async fn sync_all_async(&self) -> io::Result<()> {
        self.sync_async(false).await
    }

    /// The awaitable form of [`sync_data`](Self::sync_data).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The sync may still run; it has no other effect.
    pub async fn sync_data_async(&self) -> io::Result<()> {
        self.sync_async(true).await
    }

    async fn sync_async(&self, only_data: bool) -> io::Result<()> {
        let begun = here().map(|here| sync::begin(here, self.file.clone(), only_data));
        if let Some(begun) = begun
            && let (_, answer) = begun.await
            && !answer.is_given_up()
        {
            return answer.value().map(drop);
        }
        self.on_pool(move |file| if only_data { file.sync_data() } else { file.sync_all() }).await
    }

    /// The awaitable form of [`close`](Self::close).
    ///
    /// # Errors
    /// As for `close`.
    ///
    /// # Cancellation
    /// The file is closed all the same.
    ///
    /// # Blocking
    /// A call of this file whose future was dropped is waited for, by the thread.
    pub async fn close_async(self) -> io::Result<()> {
        let fd = OwnedFd::from(self);
        let begun = match here() {
            Some(here) => Ok(close::begin(here, fd)),
            None => Err(fd),
        };
        let fd = match begun {
            Err(fd) => fd,
            Ok(begun) => match begun.await {
                (closing, answer) if answer.is_not_begun() => closing.not_performed(),
                (_, answer) if answer.is_given_up() => return Ok(()),
                (_, answer) => return answer.value().map(drop),
            },
        };
        block_async(move || ask_to_close(fd)).await
    }

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
        if !self.is_direct {
            match preadv2(&*self.file, &mut [IoSliceMut::new(buf)], offset, ReadWriteFlags::NOWAIT) {
                Err(error) if would_wait(error) => {}
                done => return Ok(done?),
            }
        }
        let (count, copy) = self.read_waiting_async(AlignedBuf::new(buf.len())?, buf.len(), offset).await;
        let count = count?;
        buf[..count].copy_from_slice(&copy[..count]);
        Ok(count)
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
        if !self.is_direct {
            match preadv2(&*self.file, &mut [IoSliceMut::new(&mut buffer)], offset, ReadWriteFlags::NOWAIT) {
                Err(error) if would_wait(error) => {}
                done => return (done.map_err(io::Error::from), buffer),
            }
        }
        let len = buffer.len();
        self.read_waiting_async(buffer, len, offset).await
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
        if !self.is_direct {
            match pwritev2(&*self.file, &[IoSlice::new(buf)], offset, ReadWriteFlags::NOWAIT) {
                Err(error) if would_wait(error) => {}
                done => return Ok(done?),
            }
        }
        let mut copy = AlignedBuf::new(buf.len())?;
        copy.copy_from_slice(buf);
        self.write_waiting_async(copy, offset).await.0
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
        if !self.is_direct {
            match pwritev2(&*self.file, &[IoSlice::new(&buffer)], offset, ReadWriteFlags::NOWAIT) {
                Err(error) if would_wait(error) => {}
                done => return (done.map_err(io::Error::from), buffer),
            }
        }
        self.write_waiting_async(buffer, offset).await
    }

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
        match preadv2(&*self.file, &mut [IoSliceMut::new(buf)], CURSOR, ReadWriteFlags::NOWAIT) {
            Err(error) if would_wait(error) => self.read_on_pool(buf, |mut file, buf| file.read(buf)).await,
            done => Ok(done?),
        }
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
        match pwritev2(&*self.file, &[IoSlice::new(buf)], CURSOR, ReadWriteFlags::NOWAIT) {
            Err(error) if would_wait(error) => self.write_on_pool(buf, |mut file, buf| file.write(buf)).await,
            done => Ok(done?),
        }
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

    async fn on_pool<T: Send + 'static>(
        &self,
        call: impl FnOnce(&std::fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let file = self.file.clone();
        block_async(move || call(&file)).await
    }

    async fn read_on_pool(
        &self,
        buf: &mut [u8],
        read: impl FnOnce(&std::fs::File, &mut [u8]) -> io::Result<usize> + Send + 'static,
    ) -> io::Result<usize> {
        let mut bytes = vec![0; buf.len()];
        let bytes = self.on_pool(move |file| {
            let count = read(file, &mut bytes)?;
            bytes.truncate(count);
            Ok(bytes)
        });
        let bytes = bytes.await?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    async fn write_on_pool(
        &self,
        buf: &[u8],
        write: impl FnOnce(&std::fs::File, &[u8]) -> io::Result<usize> + Send + 'static,
    ) -> io::Result<usize> {
        let bytes = buf.to_vec();
        self.on_pool(move |file| write(file, &bytes)).await
    }

    /// Reads `len` bytes at an offset, by the ring or on the pool.
    async fn read_waiting_async(
        &self,
        mut buffer: AlignedBuf,
        len: usize,
        offset: u64,
    ) -> (io::Result<usize>, AlignedBuf) {
        let begun = match here() {
            Some(here) => Ok(read::begin(here, self.file.clone(), buffer, len, offset)),
            None => Err(buffer),
        };
        buffer = match begun {
            Err(buffer) => buffer,
            Ok(begun) => match begun.await {
                (buffer, answer) if answer.is_given_up() => buffer,
                (buffer, answer) => return (answer.value(), buffer),
            },
        };
        let file = self.file.clone();
        block_async(move || (file.read_at(&mut buffer[..len], offset), buffer)).await
    }

    /// Writes the buffer at an offset, by the ring or on the pool.
    async fn write_waiting_async(
        &self,
        mut buffer: AlignedBuf,
        offset: u64,
    ) -> (io::Result<usize>, AlignedBuf) {
        let len = buffer.len();
        let begun = match here() {
            Some(here) => Ok(write::begin(here, self.file.clone(), buffer, len, offset)),
            None => Err(buffer),
        };
        buffer = match begun {
            Err(buffer) => buffer,
            Ok(begun) => match begun.await {
                (buffer, answer) if answer.is_given_up() => buffer,
                (buffer, answer) => return (answer.value(), buffer),
            },
        };
        let file = self.file.clone();
        block_async(move || (file.write_at(&buffer, offset), buffer)).await
    }
}
