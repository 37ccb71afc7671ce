//! The calls of programs that concern what a disk keeps of a file beside its bytes: permissions, times, locks.
//!
//! Permissions are kept, and forbid nothing. Neither they nor the times are lost when the machine fails.

use super::calls::without_zero;
use super::{Call, Disks, Key};
use crate::world::{MachineId, World};
use rustix::fs::{FlockOperation, flock};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::SystemTime;

/// Those bits of `st_mode` that are not the type.
const PERMISSIONS: u32 = 0o7777;

impl Disks {
    pub(crate) fn set_mode(
        &self,
        (world, at): (&World, MachineId),
        path: &Path,
        mode: u32,
    ) -> io::Result<()> {
        without_zero(path)?;
        let what = format_args!("set the permissions of {path:?} to {mode:o}");
        self.perform((world, at, Call::Write), what, |volume| {
            let ino = volume.find(path)?;
            volume.inode(ino)?.mode = mode & PERMISSIONS;
            Ok(((), ino.into()))
        })
    }

    pub(crate) fn set_mode_of(&self, world: &World, key: Key, mode: u32) -> io::Result<()> {
        let what = format_args!("set the permissions of inode {} to {mode:o}", key.ino);
        self.perform((world, key.machine, Call::Write), what, |volume| {
            let ino = volume.of(key)?;
            volume.inode(ino)?.mode = mode & PERMISSIONS;
            Ok(((), 0))
        })
    }

    pub(crate) fn set_times(
        &self,
        world: &World,
        key: Key,
        [accessed, modified]: [Option<SystemTime>; 2],
    ) -> io::Result<()> {
        let what = format_args!("set the times of inode {}", key.ino);
        self.perform((world, key.machine, Call::Write), what, |volume| {
            let ino = volume.of(key)?;
            let inode = volume.inode(ino)?;
            inode.accessed = accessed.unwrap_or(inode.accessed);
            inode.modified = modified.unwrap_or(inode.modified);
            Ok(((), 0))
        })
    }

    /// Locks or unlocks an open file, by the kernel's own locks of the file in memory that it is; waits for nothing.
    pub(crate) fn lock(
        &self,
        world: &World,
        key: Key,
        file: BorrowedFd<'_>,
        operation: FlockOperation,
    ) -> io::Result<()> {
        let what = format_args!("{operation:?} of inode {}", key.ino);
        self.perform((world, key.machine, Call::Lock), what, |volume| {
            volume.of(key)?;
            Ok((flock(file, operation)?, 0))
        })
    }
}
