//! The awaitable forms of the calls of [`File`]. ([`File`] says what a dropped future may have done.)

mod at_offset;
mod cursor;

use super::chunks::CHUNK;
use super::perform::block_async;
use super::perform::perform_async;
use super::simulated::{on_disk_async, refuse_foreign_options};
use super::{AlignedBuf, File, Metadata, OpenOptions, ask_to_close, ask_to_sync, metadata};
use crate::driver::uring::op::{close, sync};
use crate::io::whole::{reads_whole, writes_whole};
use crate::sched::coop_async::TURN;
use crate::world::disk::Call;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

reads_whole!(File);
writes_whole!(File);

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

/// A copy for a call that waits, which may outlive the caller's buffer.
fn copy_of(buf: &[u8]) -> io::Result<AlignedBuf> {
    let mut copy = AlignedBuf::new(buf.len())?;
    copy.copy_from_slice(buf);
    Ok(copy)
}

/// What a call has read to a buffer of its own.
fn copy_back(buf: &mut [u8], (count, copy): (io::Result<usize>, AlignedBuf)) -> io::Result<usize> {
    let count = count?;
    buf[..count].copy_from_slice(&copy[..count]);
    Ok(count)
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

    /// The awaitable form of [`create_new`](Self::create_new).
    ///
    /// # Errors
    /// The system's; `AlreadyExists`.
    ///
    /// # Cancellation
    /// The file may have been created.
    pub async fn create_new_async(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open_async(path).await
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
        refuse_foreign_options(&path)?;
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
        match self.key() {
            Some(key) => on_disk_async(key.machine(), Call::Read, self.stat_simulated(key)).await,
            None => metadata::of_file_async(&self.file).await,
        }
    }

    /// The awaitable form of [`set_len`](Self::set_len).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The file may have its new length.
    pub async fn set_len_async(&self, size: u64) -> io::Result<()> {
        match self.key() {
            Some(key) => on_disk_async(key.machine(), Call::Write, self.set_len_simulated(key, size)).await,
            None => self.on_pool(move |file| file.set_len(size)).await,
        }
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
        if let Some(key) = self.key() {
            return on_disk_async(key.machine(), Call::Sync, self.sync_simulated(key)).await;
        }
        match perform_async((), |here, ()| sync::begin(here, self.file.clone(), only_data)).await {
            Ok((_, answer)) => answer.value().map(drop),
            Err(()) => self.on_pool(move |file| ask_to_sync(file, only_data)).await,
        }
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
        match perform_async(fd, close::begin).await {
            Ok((_, answer)) => close::closed(answer),
            Err(fd) => block_async(move || ask_to_close(fd)).await,
        }
    }
}
