//! The calls of programs.

use super::fate::Fate;
use super::inode::Stat;
use super::volume::{Listed, Volume};
use super::{Call, Disks, Key, WRITE_BACK};
use crate::world::{Chance, MachineId, World};
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, fstat, ftruncate, seek};
use rustix::io::{Errno, pread, pwrite, read, write};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Those flags of `open(2)` that the descriptor keeps. (`O_DIRECT` is left out: nothing here is past the memory.)
const KEPT: OFlags = OFlags::ACCMODE.union(OFlags::APPEND).union(OFlags::DSYNC).union(OFlags::SYNC);

impl Volume {
    /// The inode of an open file; an error if it was opened before the machine has failed.
    pub(super) fn of(&self, key: Key) -> Result<u32, Errno> {
        if key.epoch == self.epoch { Ok(key.ino) } else { Err(Errno::IO) }
    }
}

/// The bytes of the largest file: as on ext4, whose blocks have numbers of 32 bits.
const LARGEST: u64 = (1 << 44) - 4096;

/// Refuses what is no path, before a disk is asked, with the error of the standard library. It is no system's, and has no code.
pub(super) fn without_zero(path: &Path) -> io::Result<()> {
    if !path.as_os_str().as_bytes().contains(&0) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "file name contained an unexpected NUL byte"))
}

fn size_of(file: BorrowedFd<'_>) -> Result<u64, Errno> {
    fstat(file).map(|found| found.st_size.cast_unsigned())
}

/// How many of `length` bytes a call transfers.
fn share(chance: &Chance, volume: &Volume, length: usize) -> usize {
    if length > 1 && chance.happens(volume.settings.short) {
        return 1 + chance.below(u32::try_from(length - 1).unwrap_or(u32::MAX)) as usize;
    }
    length
}

impl Disks {
    pub(crate) fn open(
        &self,
        (world, at): (&World, MachineId),
        path: &Path,
        flags: i32,
        mode: u32,
    ) -> io::Result<(OwnedFd, Key)> {
        without_zero(path)?;
        let flags = OFlags::from_bits_retain(flags.cast_unsigned());
        self.perform((world, at, Call::Open), format_args!("open {path:?}"), |volume| {
            let ino = volume.open(path, flags, mode, world.system_time())?;
            let fd = volume.inode(ino)?.content.open(flags & KEPT)?;
            Ok(((fd, Key { machine: at, epoch: volume.epoch, ino }), ino.into()))
        })
    }

    pub(crate) fn stat_path(&self, world: &World, at: MachineId, path: &Path) -> io::Result<Stat> {
        without_zero(path)?;
        self.perform((world, at, Call::Read), format_args!("stat {path:?}"), |volume| {
            let ino = volume.find(path)?;
            Ok((volume.stat(ino)?, ino.into()))
        })
    }

    pub(crate) fn stat(&self, world: &World, key: Key, file: BorrowedFd<'_>) -> io::Result<Stat> {
        let what = format_args!("stat inode {}", key.ino);
        self.perform((world, key.machine, Call::Read), what, |volume| {
            let stat = Stat { len: size_of(file)?, ..volume.stat(volume.of(key)?)? };
            Ok((stat, stat.len))
        })
    }

    /// Reads at an offset, or at the cursor.
    pub(crate) fn read(
        &self,
        (world, key): (&World, Key),
        file: BorrowedFd<'_>,
        buf: &mut [u8],
        at: Option<u64>,
    ) -> io::Result<usize> {
        let what = format_args!("read {} bytes of inode {} {}", buf.len(), key.ino, Shown(at));
        self.perform((world, key.machine, Call::Read), what, |volume| {
            let ino = volume.of(key)?;
            if volume.inode(ino)?.is_directory {
                return Err(Errno::ISDIR);
            }
            let length = share(&world.chance, volume, buf.len());
            let buf = &mut buf[..length];
            let count = match at {
                Some(at) => pread(file, buf, at)?,
                None => read(file, buf)?,
            };
            Ok((count, count as u64))
        })
    }

    /// Writes at an offset, or at the cursor.
    pub(crate) fn write(
        &self,
        (world, key): (&World, Key),
        file: BorrowedFd<'_>,
        buf: &[u8],
        at: Option<u64>,
    ) -> io::Result<usize> {
        let what = format_args!("write {} bytes of inode {} {}", buf.len(), key.ino, Shown(at));
        self.perform((world, key.machine, Call::Write), what, |volume| {
            let ino = volume.of(key)?;
            let (chance, free, flags) = (&world.chance, volume.free(), fcntl_getfl(file)?);
            let mut length = share(chance, volume, buf.len());
            let inode = volume.inode(ino)?;
            // It may have no name any more, and so no content of its own.
            let size = size_of(file)?;
            let begin = match at {
                _ if flags.contains(OFlags::APPEND) => size,
                Some(at) => at,
                None => seek(file, SeekFrom::Current(0))?,
            };
            let most = |end: u64| usize::try_from(end.saturating_sub(begin)).unwrap_or(usize::MAX);
            let (allowed, fits) = (most(LARGEST), most(size.saturating_add(free)));
            if length != 0 && allowed.min(fits) == 0 {
                return Err(if allowed == 0 { Errno::FBIG } else { Errno::NOSPC });
            }
            length = length.min(allowed).min(fits);
            let bytes = &buf[..length];
            let count = at.map_or_else(|| write(file, bytes), |at| pwrite(file, bytes, at))?;
            inode.modified = world.system_time();
            inode.content.has_written(begin..begin + count as u64);
            if flags.intersects(OFlags::DSYNC) {
                volume.sync(ino)?;
            } else if chance.happens(WRITE_BACK) {
                inode.content.settle(Fate::some(chance))?;
            }
            Ok((count, count as u64))
        })
    }

    pub(crate) fn set_len(&self, world: &World, key: Key, file: BorrowedFd<'_>, len: u64) -> io::Result<()> {
        // The standard library refuses such a length before the system is asked.
        i64::try_from(len).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let what = format_args!("set the length of inode {} to {len}", key.ino);
        self.perform((world, key.machine, Call::Write), what, |volume| {
            let ino = volume.of(key)?;
            if len > LARGEST {
                return Err(Errno::FBIG);
            }
            ftruncate(file, len)?;
            volume.inode(ino)?.modified = world.system_time();
            Ok(((), 0))
        })
    }

    /// Makes durable what has been written; if it fails, that counts as lost.
    pub(crate) fn sync(&self, world: &World, key: Key) -> io::Result<()> {
        self.perform((world, key.machine, Call::Sync), format_args!("sync inode {}", key.ino), |volume| {
            let ino = volume.of(key)?;
            if world.chance.happens(volume.settings.sync_errors) {
                volume.inode(ino)?.content.fail_to_sync(Fate::some(&world.chance).or_none())?;
                return Err(Errno::IO);
            }
            volume.sync(ino).map(|()| ((), 0))
        })
    }

    pub(crate) fn rename(&self, (world, at): (&World, MachineId), from: &Path, to: &Path) -> io::Result<()> {
        without_zero(from).and_then(|()| without_zero(to))?;
        self.perform((world, at, Call::Write), format_args!("rename {from:?} to {to:?}"), |volume| {
            volume.rename(from, to).map(|ino| ((), ino.into()))
        })
    }

    /// Removes a file, or an empty directory.
    pub(crate) fn remove(
        &self,
        (world, at): (&World, MachineId),
        path: &Path,
        directory: bool,
    ) -> io::Result<()> {
        without_zero(path)?;
        self.perform((world, at, Call::Write), format_args!("remove {path:?}"), |volume| {
            volume.remove(path, directory).map(|ino| ((), ino.into()))
        })
    }

    pub(crate) fn create_directory(
        &self,
        (world, at): (&World, MachineId),
        path: &Path,
        mode: u32,
    ) -> io::Result<()> {
        without_zero(path)?;
        self.perform((world, at, Call::Write), format_args!("create the directory {path:?}"), |volume| {
            volume.create_directory(path, mode, world.system_time()).map(|ino| ((), ino.into()))
        })
    }

    /// What is in a directory, in alphabetical order.
    pub(crate) fn list(&self, (world, at): (&World, MachineId), path: &Path) -> io::Result<Vec<Listed>> {
        without_zero(path)?;
        self.perform((world, at, Call::Read), format_args!("list {path:?}"), |volume| {
            volume.list(path).map(|names| {
                let count = names.len() as u64;
                (names, count)
            })
        })
    }
}

/// Where a call reads or writes, for the log.
struct Shown(Option<u64>);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(at) => write!(f, "at {at}"),
            None => f.write_str("at the cursor"),
        }
    }
}
