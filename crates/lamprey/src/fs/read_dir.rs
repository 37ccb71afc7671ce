//! [`ReadDir`]: what is in a directory.
//!
//! # Invariants
//! 1. Entries that have been read are in `found`, in their order, until they are given to the program.
//! 2. The open directory is in `rest`: closed, at rest, or with a call on the pool. A future that is dropped leaves that
//!    call here, and whoever comes next waits for it: so no entry is lost, and none comes twice.

use super::DirEntry;
use super::simulated::{call, call_async};
use crate::driver::block;
use crate::driver::block_async;
use crate::world::disk::{Call, Listed};
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::iter::FusedIterator;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The most entries that one call on the pool reads.
const BATCH: usize = 256;

/// What is in a directory, in no order; without `.` and `..`.
///
/// The first 256 entries are read at once, further ones when they are needed. What is added or removed meanwhile may be
/// there or not, as in the standard library.
///
/// # Examples
/// ```
/// let names: Vec<_> = lamprey::run(|| {
///     let entries = lamprey::fs::read_dir(".")?;
///     entries.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<_>>()
/// })?;
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
/// The directory is opened and read on the blocking pool; only the calling host waits.
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    call(Call::Read, |at, disks| Ok(simulated(path, disks.list(at, path)?)), || open(path))
}

/// The awaitable form of [`read_dir`].
///
/// # Examples
/// ```
/// let count = lamprey::run(|| {
///     lamprey::wait(async {
///         let mut entries = lamprey::fs::read_dir_async(".").await?;
///         let mut count = 0;
///         while let Some(entry) = entries.next_entry_async().await? {
///             count += usize::from(entry.file_type()?.is_file());
///         }
///         std::io::Result::Ok(count)
///     })
/// })?;
/// assert!(count > 0);
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn read_dir_async(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let owned = path.to_owned();
    call_async(Call::Read, |at, disks| Ok(simulated(path, disks.list(at, path)?)), move || open(&owned)).await
}

fn open(path: &Path) -> io::Result<ReadDir> {
    let mut reader = Reader { entries: std::fs::read_dir(path)?, directory: path.into() };
    let found = reader.read();
    Ok(ReadDir { rest: Rest::after(&found, reader), found })
}

/// The list of a simulated disk is that of one moment.
fn simulated(path: &Path, list: Vec<Listed>) -> ReadDir {
    let directory = path.into();
    let found = list.into_iter().map(|listed| Ok(DirEntry::simulated(&directory, listed))).collect();
    ReadDir { found, rest: Rest::Over }
}

/// What is in a directory, as [`read_dir`] finds it: an iterator, and, for async code,
/// [`next_entry_async`](Self::next_entry_async) and [`poll_next_entry`](Self::poll_next_entry).
///
/// # Cancellation
/// In all its calls: nothing is lost by a host that is cancelled, or a future that is dropped. The next call gives the
/// entry that this one would have given.
///
/// # Blocking
/// In all its calls: one in 256 reads on the blocking pool; only the calling host waits.
pub struct ReadDir {
    found: Found,
    rest: Rest,
}

type Found = VecDeque<io::Result<DirEntry>>;

enum Rest {
    Over,
    AtRest(Reader),
    Reading(Pin<Box<dyn Future<Output = (Found, Reader)> + Send + Sync>>),
}

impl Rest {
    fn after(found: &Found, reader: Reader) -> Self {
        if found.len() < BATCH { Self::Over } else { Self::AtRest(reader) }
    }
}

/// An open directory.
struct Reader {
    entries: std::fs::ReadDir,
    directory: Arc<Path>,
}

impl Reader {
    /// The next entries; fewer than [`BATCH`] at the end.
    fn read(&mut self) -> Found {
        let Self { entries, directory } = self;
        let entries = entries.take(BATCH);
        entries.map(|entry| entry.map(|entry| DirEntry::new(directory, &entry))).collect()
    }
}

impl ReadDir {
    /// The next entry; `None` after the last.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// A dropped future loses no entry.
    pub async fn next_entry_async(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|context| self.poll_next_entry(context)).await.transpose()
    }

    /// [`next_entry_async`](Self::next_entry_async) as a poll, for those who write futures and streams:
    /// `futures::stream::poll_fn(move |context| entries.poll_next_entry(context))` is a stream.
    pub fn poll_next_entry(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<DirEntry>>> {
        loop {
            if let Some(entry) = self.found.pop_front() {
                return Poll::Ready(Some(entry));
            }
            match &mut self.rest {
                Rest::Over => return Poll::Ready(None),
                Rest::Reading(call) => {
                    let (found, reader) = ready!(call.as_mut().poll(context));
                    self.rest = Rest::after(&found, reader);
                    self.found = found;
                }
                Rest::AtRest(_) => self.begin(),
            }
        }
    }

    fn begin(&mut self) {
        if let Rest::AtRest(mut reader) = std::mem::replace(&mut self.rest, Rest::Over) {
            let read = block_async(move || (reader.read(), reader));
            self.rest = Rest::Reading(Box::pin(read));
        }
    }
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        if self.found.is_empty() {
            match &mut self.rest {
                Rest::Over => {}
                Rest::AtRest(reader) => {
                    self.found = block(|| reader.read());
                    if self.found.len() < BATCH {
                        self.rest = Rest::Over;
                    }
                }
                Rest::Reading(_) => {
                    return crate::parasite::wait(poll_fn(|context| self.poll_next_entry(context)));
                }
            }
        }
        self.found.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let found = self.found.len();
        (found, matches!(self.rest, Rest::Over).then_some(found))
    }
}

impl FusedIterator for ReadDir {}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").field("found", &self.found.len()).finish_non_exhaustive()
    }
}
