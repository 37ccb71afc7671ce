//! [`ReadDir`]: the names in a directory.

use super::simulated::{machine, on_disk, on_disk_async};
use crate::driver::{block, block_async};
use crate::world::disk::Call;
use std::ffi::OsString;
use std::io;
use std::iter::FusedIterator;
use std::path::Path;
use std::vec;

/// The names in a directory, in no order; without `.` and `..`.
///
/// They are what the directory had at one moment or another during the call, and are read as a whole before it returns.
///
/// # Examples
/// ```
/// let names: Vec<_> = lamprey::run(|| lamprey::fs::read_dir("."))?.collect();
/// assert!(names.iter().any(|name| name == "Cargo.toml"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A dropped or unwound call has no effect.
///
/// # Blocking
/// The directory is read on the blocking pool; only the calling host waits.
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let names = match machine() {
        Some(at) => on_disk(at, Call::Read, |world, disks| disks.list((world, at), path)),
        None => block(|| ask(path)),
    };
    names.map(|names| ReadDir(names.into_iter()))
}

/// The awaitable form of [`read_dir`].
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn read_dir_async(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let names = match machine() {
        Some(at) => on_disk_async(at, Call::Read, |world, disks| disks.list((world, at), &path)).await,
        None => block_async(move || ask(&path)).await,
    };
    names.map(|names| ReadDir(names.into_iter()))
}

fn ask(path: &Path) -> io::Result<Vec<OsString>> {
    std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// The names in a directory, as [`read_dir`] has found them.
#[derive(Debug)]
pub struct ReadDir(vec::IntoIter<OsString>);

impl Iterator for ReadDir {
    type Item = OsString;

    fn next(&mut self) -> Option<OsString> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for ReadDir {}
impl FusedIterator for ReadDir {}
