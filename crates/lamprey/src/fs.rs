//! Files without blocking the worker: [`File`], with the interface of [`std::fs::File`].
//!
//! A disk has no readiness: a read either finds its pages in memory or waits. So each read and write is first
//! tried with `RWF_NOWAIT`, which costs as much as the plain call; only when the kernel would have to wait,
//! or its file system cannot tell, is it left to the kernel's io_uring, or, where the runtime has none
//! ([`Io`](crate::Io)), to the pool for files. Files opened with `O_DIRECT` always wait.
//!
//! FIFOs, terminals, timers and devices are files as well, and may keep a caller for ever. Of what the kernel can poll, a call that would
//! wait waits in the event loop: it takes no kernel thread, and can be cancelled. The rest (a file server that is gone, a
//! device that cannot be polled) waits on a thread of the pool that soon does not count against the pool's limit
//! ([`file_threads`](crate::RuntimeBuilder::file_threads)). So neither holds up the calls of other files.
//!
//! | to do | call |
//! |---|---|
//! | a whole file | [`read`](read()), [`read_to_string`], [`write`](write()), [`copy`] |
//! | parts of one | [`File`], [`OpenOptions`] |
//! | what is known of it | [`metadata`], [`symlink_metadata`], [`exists`], [`set_permissions`], [`File::set_times`] |
//! | its names | [`rename`], [`remove_file`], [`hard_link`], [`symlink`], [`read_link`], [`canonicalize`] |
//! | directories | [`read_dir`], [`DirBuilder`], [`create_dir`], [`create_dir_all`], [`remove_dir`], [`remove_dir_all`] |
//! | exclude other processes | [`File::lock`] |
//!
//! Each call `x` that waits has an awaitable form `x_async`. Any of these is an event by
//! [`future_evt`](crate::event::future_evt), for a choice; mind that the one that is not chosen may have had its effect, as
//! the section *Cancellation* of each says:
//!
//! ```
//! use lamprey::event::{Event, choose, future_evt, timeout};
//! use std::time::Duration;
//!
//! let text = lamprey::run(|| {
//!     let read = future_evt(lamprey::fs::read_to_string_async("Cargo.toml")).wrap(Result::ok);
//!     choose((read, timeout(Duration::from_secs(60)).wrap(|()| None))).sync()
//! });
//! assert!(text.unwrap().contains("lamprey"));
//! ```
//!
//! For what is left, such as `std::os::unix::fs::chown`, run the standard library's call on the pool:
//! `lamprey::block(|| chown(path, uid, gid))`, or, in async code, `lamprey::block_async(..)`.
//!
//! In a simulation ([`sim`](crate::sim)) all of it works on the simulated disk of the caller's machine
//! ([`sim::Disk`](crate::sim::Disk)).

mod at_offset;
mod attributes;
mod batch;
mod chunks;
mod cursor;
mod dir_entry;
mod direct;
mod entire;
mod fifo;
mod file_type;
mod future;
mod hints;
mod links;
mod lock;
mod metadata;
mod names;
mod open;
mod perform;
mod read_dir;
mod ready;
mod simulated;
mod trees;
mod whole;

pub use self::attributes::{FileTimes, set_permissions, set_permissions_async};
pub use self::dir_entry::DirEntry;
pub use self::entire::{
    copy, copy_async, read, read_async, read_to_string, read_to_string_async, write, write_async,
};
pub use self::file_type::FileType;
pub use self::hints::Advice;
pub use self::links::{
    canonicalize, canonicalize_async, hard_link, hard_link_async, read_link, read_link_async, symlink,
    symlink_async,
};
pub use self::metadata::{
    Metadata, exists, exists_async, metadata, metadata_async, symlink_metadata, symlink_metadata_async,
};
pub use self::names::{
    create_dir, create_dir_async, remove_dir, remove_dir_async, remove_file, remove_file_async, rename,
    rename_async,
};
pub use self::open::OpenOptions;
pub use self::read_dir::{ReadDir, read_dir, read_dir_async};
pub use self::trees::{
    DirBuilder, create_dir_all, create_dir_all_async, remove_dir_all, remove_dir_all_async,
};

pub use crate::memory::aligned::AlignedBuf;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::driver::uring::here::here;
use crate::driver::uring::op::{close, sync};
use crate::sched::{coop, must_not_block};
use crate::world::disk::{Call, Key};
use perform::block;
use perform::perform;
use simulated::on_disk;

/// An open file: [`std::fs::File`] that blocks only the calling host.
///
/// # Examples
/// ```
/// use std::io::Read;
/// let text = lamprey::run(|| -> std::io::Result<String> {
///     let mut text = String::new();
///     lamprey::fs::File::open("Cargo.toml")?.read_to_string(&mut text)?;
///     Ok(text)
/// })?;
/// assert!(text.contains("lamprey"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Cancellation
/// Not interruptible while a call is on the pool for files, or the kernel is in the middle of it. A cancelled host
/// unwinds only before anything is read or written; also while it waits for a FIFO, a terminal or a timer to have something, or room.
///
/// # Blocking
/// A read or write at the cursor transfers at most 1 MiB, in one system call; other threads may run before
/// the next. The [module](self) says which calls wait, and for whom. Plain OS threads make the calls
/// themselves.
///
/// With io_uring, calls at the cursor through a shared reference (`&File`) are still left to the pool: io_uring
/// does not take the kernel's lock of the cursor, so two of them could read the same bytes. Those through a
/// `&mut File` are not; so use the cursor of a duplicated descriptor from one thread at a time.
///
/// # In async code
/// Each call has an awaitable form. If its future is dropped while it waits, the call may still be made, and its
/// result is lost: so a `read_async` that is dropped may have moved the file's cursor, and a `write_async` may
/// have written. Converting the file into another type waits for such a call. A `read_async` that waits for a FIFO or
/// a timer loses nothing when it is dropped.
///
/// # FIFOs
/// The mode of an open file is left alone, because others may share it. A FIFO is opened once more, in non-blocking mode, when a call
/// first has to wait; the second descriptor is closed with the `File`. Where that is refused (no `/proc`, no permission) such calls are made on
/// the pool. In a FIFO that the program has opened with `O_NONBLOCK` calls fail with `WouldBlock`.
pub struct File {
    /// Before `file`, which it has registered with an event loop; made by the first call that has to wait.
    ready: OnceLock<Box<ready::Ready>>,
    file: Arc<std::fs::File>,
    kind: Kind,
    /// Shared with the clones, which have the same cursor; made by the first clone.
    clones: OnceLock<Arc<()>>,
}

/// How the calls of a file are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Without waiting, if that is possible.
    Plain,
    /// It was opened with `O_DIRECT`: each call waits for the disk.
    Direct,
    /// It is on the disk of a simulation.
    Simulated(Key),
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing, and truncates it.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path)
    }

    /// Makes a file for reading and writing, and fails if there is one.
    ///
    /// # Errors
    /// The system's; `AlreadyExists`.
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    }

    /// The same as [`OpenOptions::new`].
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// A second descriptor of the same open file: both have the same cursor, and the same lock.
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    /// let (mut one, mut other) = ([0; 4], [0; 4]);
    /// lamprey::run(|| -> std::io::Result<()> {
    ///     let mut file = lamprey::fs::File::open("Cargo.toml")?;
    ///     let mut clone = file.try_clone()?;
    ///     file.read_exact(&mut one)?;
    ///     clone.read_exact(&mut other)
    /// })?;
    /// assert_eq!([one, other].concat(), std::fs::read("Cargo.toml")?[..8]);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's, if the process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let file = Arc::new(coop::looked(self.file.try_clone(), Result::is_err)?);
        let clones = OnceLock::from(self.clones.get_or_init(Arc::default).clone());
        Ok(Self { ready: OnceLock::new(), file, kind: self.kind, clones })
    }

    /// True if a clone may use the cursor at the same time.
    fn has_clones(&self) -> bool {
        self.clones.get().is_some_and(|clones| Arc::strong_count(clones) > 1)
    }

    /// Opens a file with the options of the standard library ([`std::fs::OpenOptions`]), on the pool for files. For this
    /// crate's own, which the ring can open with, call [`OpenOptions::open`].
    ///
    /// # Errors
    /// The system's.
    pub fn open_with(options: &std::fs::OpenOptions, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        simulated::refuse_foreign_options(path)?;
        block(|| options.open(path)).map(Self::from)
    }

    /// The file's metadata.
    ///
    /// # Errors
    /// The system's.
    pub fn metadata(&self) -> io::Result<Metadata> {
        match self.key() {
            Some(key) => on_disk(key.machine(), Call::Read, self.stat_simulated(key)),
            None => metadata::of_file(&self.file),
        }
    }

    /// Truncates the file to `size` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// The system's.
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        match self.key() {
            Some(key) => on_disk(key.machine(), Call::Write, self.set_len_simulated(key, size)),
            None => block(|| self.file.set_len(size)),
        }
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_all(&self) -> io::Result<()> {
        self.sync(false)
    }

    /// Waits until all that was written is on the disk, but not what else the file system keeps of the file (such as
    /// times), unless it is needed to find the bytes.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_data(&self) -> io::Result<()> {
        self.sync(true)
    }

    fn sync(&self, only_data: bool) -> io::Result<()> {
        if let Some(key) = self.key() {
            return on_disk(key.machine(), Call::Sync, self.sync_simulated(key));
        }
        let by_ring = |here, (): &mut ()| sync::sync(here, self.as_fd_of_file(), only_data);
        perform((), by_ring, |()| ask_to_sync(&self.file, only_data).map(|()| 0)).map(drop)
    }

    /// Closes the file and says whether its file system had something to report, which a drop does not. (What the
    /// kernel has not written to the disk yet is no part of that: see [`sync_all`](Self::sync_all).) A future of this
    /// file that was dropped is waited for.
    ///
    /// # Errors
    /// The file system's: what was written may be lost. The file is closed all the same.
    pub fn close(self) -> io::Result<()> {
        let fd = OwnedFd::from(self);
        let closed = match here() {
            Some(here) => close::close(here, fd),
            None => Err(fd),
        };
        closed.unwrap_or_else(|fd| block(|| ask_to_close(fd)))
    }

    fn as_fd_of_file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The system call.
fn ask_to_sync(file: &std::fs::File, only_data: bool) -> io::Result<()> {
    if only_data { file.sync_data() } else { file.sync_all() }
}

/// The system call. An interrupted one has closed the descriptor, too.
fn ask_to_close(fd: OwnedFd) -> io::Result<()> {
    let fd = fd.into_raw_fd();
    // SAFETY: the descriptor is this call's own.
    if unsafe { libc::close(fd) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        let is_direct = || rustix::fs::fcntl_getfl(&file).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
        let kind = simulated::kind_of(&file);
        let kind = kind.unwrap_or_else(|| if is_direct() { Kind::Direct } else { Kind::Plain });
        Self { ready: OnceLock::new(), file: Arc::new(file), kind, clones: OnceLock::new() }
    }
}

impl From<File> for std::fs::File {
    fn from(File { ready, mut file, .. }: File) -> Self {
        drop(ready);
        loop {
            match Arc::try_unwrap(file) {
                Ok(file) => return file,
                // A future was dropped, or forgotten, before its call has ended: rare and short.
                Err(shared) => file = shared,
            }
            if must_not_block() {
                // The call ends only when this worker goes on. Another descriptor of the same open file, then.
                return file
                    .try_clone()
                    .expect("a descriptor for a file that is in use while its thread unwinds");
            }
            crate::sleep(Duration::from_millis(1));
        }
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> Self {
        std::fs::File::from(file).into()
    }
}
