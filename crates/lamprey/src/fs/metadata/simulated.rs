//! Metadata of a simulated disk.

use super::{Metadata, c_path, of, of_async};
use crate::fs::simulated::{machine, on_disk, on_disk_async};
use crate::world::disk::{Call, Stat};
use rustix::fs::CWD;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::SystemTime;

/// The size of blocks in which files are best read and written.
const BLOCK: u32 = 4096;
/// In nanoseconds.
const SECOND: u32 = 1_000_000_000;

impl Metadata {
    pub(in crate::fs) fn simulated(stat: Stat) -> Self {
        // SAFETY: it is made of plain numbers, of which zeros are valid values.
        let mut found = unsafe { MaybeUninit::<libc::statx>::zeroed().assume_init() };
        let kind = if stat.is_directory { libc::S_IFDIR } else { libc::S_IFREG };
        // The kind and the permissions are 16 bits.
        found.stx_mode = (kind | stat.mode) as u16;
        found.stx_mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
        found.stx_size = stat.len;
        found.stx_blocks = stat.len.div_ceil(512);
        found.stx_blksize = BLOCK;
        found.stx_ino = stat.ino.into();
        found.stx_nlink = stat.names;
        found.stx_btime = timestamp(stat.created);
        found.stx_mtime = timestamp(stat.modified);
        found.stx_ctime = timestamp(stat.modified);
        found.stx_atime = timestamp(stat.accessed);
        Self(found)
    }
}

fn timestamp(at: SystemTime) -> libc::statx_timestamp {
    // Before 1970 the seconds are rounded down, as the kernel's are: what is added to them is never negative.
    let (seconds, nanoseconds) = match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => (since.as_secs().cast_signed(), since.subsec_nanos()),
        Err(before) => {
            let (whole, part) = (before.duration().as_secs().cast_signed(), before.duration().subsec_nanos());
            if part == 0 { (-whole, 0) } else { (-whole - 1, SECOND - part) }
        }
    };
    // SAFETY: as above.
    let mut stamp = unsafe { MaybeUninit::<libc::statx_timestamp>::zeroed().assume_init() };
    (stamp.tv_sec, stamp.tv_nsec) = (seconds, nanoseconds);
    stamp
}

/// Of what is at a path, in a simulation or outside of it.
pub(super) fn of_path(path: &Path, flags: i32) -> io::Result<Metadata> {
    match machine() {
        Some(at) => {
            on_disk(at, Call::Read, |world, disks| disks.stat_path(world, at, path)).map(Metadata::simulated)
        }
        None => of(CWD, &c_path(path)?, flags),
    }
}

/// The awaitable form of [`of_path`].
pub(super) async fn of_path_async(path: &Path, flags: i32) -> io::Result<Metadata> {
    let Some(at) = machine() else { return of_async(None, c_path(path)?, flags).await };
    let found = on_disk_async(at, Call::Read, |world, disks| disks.stat_path(world, at, path)).await;
    found.map(Metadata::simulated)
}
