//! [`Content`]: the bytes of a file, as programs see them, and as they are on the disk.
//!
//! What programs see is in a file of the kernel's that is in memory only (`memfd_create(2)`), so that an open file of a
//! simulated disk is a descriptor as any other. The kernel is asked for it when the file is opened for the first time. Where it
//! refuses, it is a nameless file in the folder for temporary files.
//!
//! # Invariants
//! 1. `durable` is what a machine finds that starts after a failure in which nothing else reached the disk. It changes by
//!    syncs, by what the system writes back on its own account, and by failures.
//! 2. A sector is dirty if what programs see of it differs from `durable`: so a write by whatever way counts, also one by
//!    the descriptor itself, or through a mapping.
//! 3. A sector of [`SECTOR`] bytes reaches the disk as a whole, or not at all; several in any order.
//! 4. `lost` has the sectors that a failed sync was to write, until they are written again: no sync writes them.

use super::fate::Fate;
use rustix::fs::{MemfdFlags, Mode, OFlags, fstat, ftruncate, memfd_create, open};
use rustix::io::{Errno, pread, pwrite};
use std::collections::BTreeSet;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes of a file that can be synced: a file with a hole of a terabyte is none of this machine's memory.
const LONGEST: u64 = 1 << 30;

/// What a disk writes as a whole.
pub(super) const SECTOR: usize = 512;

/// Device and inode of the kernel.
pub(super) type Number = (u64, u64);

#[derive(Default)]
pub(super) struct Content {
    /// What programs see, with the kernel's device and number of it; `None`: what is durable.
    seen: Option<(OwnedFd, Number)>,
    durable: Vec<u8>,
    lost: BTreeSet<usize>,
}

impl Content {
    pub(super) fn new(durable: Vec<u8>) -> Self {
        Self { durable, ..Self::default() }
    }

    pub(super) fn durable(&self) -> &[u8] {
        &self.durable
    }

    /// What programs see, as a file of the kernel's.
    fn file(&mut self) -> Result<&OwnedFd, Errno> {
        if self.seen.is_none() {
            let file = memfd_create("lamprey-disk", MemfdFlags::CLOEXEC).or_else(|_| without_name())?;
            write_all(&file, &self.durable, 0)?;
            let number = number_of(&file)?;
            self.seen = Some((file, number));
        }
        self.seen.as_ref().map(|(file, _)| file).ok_or(Errno::IO)
    }

    /// A descriptor with a cursor of its own.
    pub(super) fn open(&mut self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/self/fd/{}", self.file()?.as_raw_fd());
        open(path, flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// True if descriptors of this file of the kernel's show this content.
    pub(super) fn is(&self, number: Number) -> bool {
        self.seen.as_ref().is_some_and(|(_, own)| *own == number)
    }

    pub(super) fn len(&self) -> u64 {
        let seen = self.seen.as_ref().and_then(|(file, _)| fstat(file).ok());
        seen.map_or(self.durable.len() as u64, |found| found.st_size.cast_unsigned())
    }

    /// All that programs see.
    pub(super) fn seen(&self) -> Result<Vec<u8>, Errno> {
        let Some((file, _)) = &self.seen else { return Ok(self.durable.clone()) };
        if self.len() > LONGEST {
            return Err(Errno::FBIG);
        }
        let mut bytes = vec![0; self.len() as usize];
        let mut done = 0;
        while done < bytes.len() {
            match pread(file, &mut bytes[done..], done as u64)? {
                0 => break,
                count => done += count,
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    }

    pub(super) fn truncate(&mut self) -> Result<(), Errno> {
        ftruncate(self.file()?, 0)
    }

    /// These bytes have been written.
    pub(super) fn has_written(&mut self, range: Range<u64>) {
        if !self.lost.is_empty() && !range.is_empty() {
            let sectors = range.start as usize / SECTOR..=(range.end - 1) as usize / SECTOR;
            self.lost.retain(|sector| !sectors.contains(sector));
        }
    }

    /// Writes to the disk what is dirty.
    pub(super) fn sync(&mut self) -> Result<(), Errno> {
        let seen = self.seen()?;
        self.write_back(&seen, Fate::All);
        self.durable.resize(seen.len(), 0);
        Ok(())
    }

    /// A sync fails: what has not reached the disk is lost.
    pub(super) fn fail_to_sync(&mut self, fate: Fate) -> Result<(), Errno> {
        let seen = self.seen()?;
        self.write_back(&seen, fate);
        let dirty: Vec<_> = self.dirty(&seen).collect();
        self.lost.extend(dirty);
        Ok(())
    }

    /// The system writes dirty sectors on its own account.
    pub(super) fn settle(&mut self, fate: Fate) -> Result<(), Errno> {
        let seen = self.seen()?;
        self.write_back(&seen, fate);
        Ok(())
    }

    /// Replaces all that programs see.
    pub(super) fn replace(&mut self, bytes: Vec<u8>) -> Result<(), Errno> {
        if let Some((file, _)) = &self.seen {
            ftruncate(file, 0)?;
            write_all(file, &bytes, 0)?;
        }
        *self = Self { seen: self.seen.take(), ..Self::new(bytes) };
        Ok(())
    }

    /// The machine fails. Whoever has the file open keeps what is not the disk's any more. `fate` is asked for if there is
    /// something to lose.
    pub(super) fn crash(&mut self, fate: impl FnOnce() -> Fate) {
        // What cannot be read counts as not written.
        if let Ok(seen) = self.seen()
            && seen != self.durable
        {
            let (before, fate) = (self.durable.len(), fate());
            self.write_back(&seen, fate);
            let length = fate.length([seen.len(), before, self.durable.len()]);
            self.durable.resize(length, 0);
        }
        *self = Self::new(std::mem::take(&mut self.durable));
    }

    /// Nobody finds the file any more: what programs see is left to those who have it open.
    pub(super) fn let_go(&mut self) {
        self.seen = None;
    }

    /// Changes what is durable and what is seen of a sector.
    pub(super) fn corrupt(&mut self, sector: usize, mask: u64) -> Result<(), Errno> {
        let flip =
            |bytes: &mut [u8]| bytes.iter_mut().zip(mask.to_le_bytes()).for_each(|(byte, by)| *byte ^= by);
        let at = sector * SECTOR;
        flip(self.durable.get_mut(at..).unwrap_or_default());
        if let Some((file, _)) = &self.seen {
            let mut bytes = [0; 8];
            let count = pread(file, &mut bytes, at as u64)?;
            flip(&mut bytes[..count]);
            write_all(file, &bytes[..count], at as u64)?;
        }
        Ok(())
    }

    fn write_back(&mut self, seen: &[u8], fate: Fate) {
        let dirty: Vec<_> = self.dirty(seen).filter(|sector| fate.takes(*sector)).collect();
        for sector in dirty.into_iter().filter(|sector| !self.lost.contains(sector)) {
            let range = sector * SECTOR..seen.len().min((sector + 1) * SECTOR);
            let length = self.durable.len().max(range.end);
            self.durable.resize(length, 0);
            self.durable[range.clone()].copy_from_slice(&seen[range.clone()]);
            // A sector at the end of a file is filled up with zeros.
            let end = self.durable.len().min((sector + 1) * SECTOR);
            self.durable[range.end..end].fill(0);
        }
    }

    /// The sectors of `seen` that are not so on the disk.
    fn dirty<'a>(&'a self, seen: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        seen.chunks(SECTOR).enumerate().filter_map(|(sector, bytes)| {
            let durable = self.durable.get(sector * SECTOR..).unwrap_or_default();
            (!durable.starts_with(bytes)).then_some(sector)
        })
    }
}

/// A file of a disk that has no name: where memory files are refused.
fn without_name() -> Result<OwnedFd, Errno> {
    open(std::env::temp_dir(), OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
}

/// Which file of the kernel's it is.
pub(super) fn number_of(file: impl AsFd) -> Result<Number, Errno> {
    let found = fstat(file)?;
    Ok((found.st_dev, found.st_ino))
}

fn write_all(file: impl AsFd, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let count = pwrite(&file, bytes, at)?;
        bytes = &bytes[count..];
        at += count as u64;
    }
    Ok(())
}
