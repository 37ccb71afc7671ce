//! [`OpenOptions`]: how a file is opened.

use super::File;
use super::fifo::{Opened, PATIENCE, can_wait, finish, may_wait, open_unless_it_waits};
use super::metadata::c_path;
use super::perform::{block, block_async, perform, perform_async};
use super::simulated::{machine, on_disk, on_disk_async, opened};
use crate::driver::uring::op::open;
use crate::parasite::wait;
use crate::sched::coop;
use crate::world::disk::{Call, Disks, Key};
use crate::world::{MachineId, World};
use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;

/// How a file is opened: [`std::fs::OpenOptions`], whose settings io_uring could not be told.
///
/// # Examples
/// ```
/// use lamprey::fs::OpenOptions;
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join(format!("lamprey-open-{}", std::process::id()));
/// let written = lamprey::run(|| -> std::io::Result<u64> {
///     let mut log = OpenOptions::new().append(true).create(true).open(&path)?;
///     log.write_all(b"a line\n")?;
///     log.metadata().map(|found| found.len())
/// })?;
/// std::fs::remove_file(&path)?;
/// assert_eq!(written, 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    mode: Option<u32>,
    custom_flags: i32,
}

/// A setting that is a `bool`, as in the standard library.
macro_rules! settings {
    ($($(#[$docs:meta])* $name:ident)*) => {
        $($(#[$docs])*
        pub fn $name(&mut self, $name: bool) -> &mut Self {
            self.$name = $name;
            self
        })*
    };
}

impl OpenOptions {
    /// Nothing is set: at least one of `read`, `write`, `append` must be.
    pub fn new() -> Self {
        Self::default()
    }

    settings! {
        /// To read.
        read
        /// To write.
        write
        /// To write at the end, wherever that is then.
        append
        /// What is there goes.
        truncate
        /// Makes the file if there is none.
        create
        /// Makes the file, and fails if there is one.
        create_new
    }

    /// The permissions of a file that is made. Default: 0o666, less what the process's mask takes away.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Further flags of `open(2)`, such as `O_DIRECT`; those that say whether it is read or written are ignored.
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.custom_flags = flags;
        self
    }

    /// Opens a file.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for settings that contradict each other, or a path with a zero byte.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here before the kernel, or a pool thread, has begun.
    ///
    /// # Blocking
    /// A host waits for the kernel (io_uring) or a thread of the pool; an OS thread opens it itself.
    ///
    /// The open of a FIFO waits until the other end is opened, which may be never. A host waits in the ring (io_uring), or looks
    /// for the other end now and then, at least every 64 ms; it can be cancelled all the while. An open that a pool
    /// thread has begun cannot: of a device, of a file whose server is gone. Such a call does not take a thread from others for
    /// long: see [`file_threads`](crate::RuntimeBuilder::file_threads).
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        if let Some(at) = machine() {
            return on_disk(at, Call::Open, self.on_disk(at, path.as_ref())?).map(opened);
        }
        let (path, flags, mode) = (c_path(path.as_ref())?, self.flags()?, self.permissions());
        let patience = may_wait(flags).then_some(PATIENCE);
        let by_ring =
            |here, (): &mut ()| Ok(open::open(here, &path, flags, mode, patience)?.map(Opened::File));
        let opened = if can_wait() {
            match perform((), by_ring, |()| open_unless_it_waits(&path, flags, mode))? {
                Opened::File(fd) => fd,
                fifo => wait(finish(fifo, path, flags, mode))?,
            }
        } else {
            block(|| ask(&path, flags, mode))?
        };
        Ok(std::fs::File::from(opened).into())
    }

    /// The awaitable form of [`open`](Self::open).
    ///
    /// # Errors
    /// As for `open`.
    ///
    /// # Cancellation
    /// The file may have been made or truncated, if the settings say so.
    pub async fn open_async(&self, path: impl AsRef<Path>) -> io::Result<File> {
        if let Some(at) = machine() {
            return on_disk_async(at, Call::Open, self.on_disk(at, path.as_ref())?).await.map(opened);
        }
        let (path, flags, mode) = (c_path(path.as_ref())?, self.flags()?, self.permissions());
        let opened = match perform_async(path, |here, path| open::begin(here, path, flags, mode)).await {
            Ok((_, answer)) => open::opened(answer),
            Err(path) => {
                let call = move || (open_unless_it_waits(&path, flags, mode), path);
                let (opened, path) = block_async(call).await;
                finish(opened?, path, flags, mode).await
            }
        };
        opened.map(|fd| std::fs::File::from(fd).into())
    }

    /// The call of a simulated disk.
    fn on_disk(
        &self,
        at: MachineId,
        path: &Path,
    ) -> io::Result<impl FnOnce(&World, &Disks) -> io::Result<(OwnedFd, Key)>> {
        let (flags, mode) = (self.flags()?, self.permissions());
        Ok(move |world: &World, disks: &Disks| disks.open((world, at), path, flags, mode))
    }

    fn permissions(&self) -> u32 {
        self.mode.unwrap_or(0o666)
    }

    /// The flags of `open(2)`.
    fn flags(&self) -> io::Result<i32> {
        coop::looked(self.checked_flags(), Result::is_err)
    }

    fn checked_flags(&self) -> io::Result<i32> {
        let invalid = |text| Err(io::Error::new(ErrorKind::InvalidInput, text));
        let access = match (self.read, self.write || self.append) {
            (true, false) => libc::O_RDONLY,
            (false, true) => libc::O_WRONLY,
            (true, true) => libc::O_RDWR,
            (false, false) => {
                return invalid("a file is opened to read, write or append, and none of them is set");
            }
        };
        let changes = self.truncate || self.create || self.create_new;
        if changes && !(self.write || self.append) {
            return invalid("`truncate`, `create` and `create_new` need `write` or `append`");
        }
        if self.append && self.truncate && !self.create_new {
            return invalid("`append` and `truncate` contradict each other");
        }
        let creation = match (self.create, self.truncate, self.create_new) {
            (.., true) => libc::O_CREAT | libc::O_EXCL,
            (true, true, _) => libc::O_CREAT | libc::O_TRUNC,
            (true, false, _) => libc::O_CREAT,
            (false, true, _) => libc::O_TRUNC,
            _ => 0,
        };
        let append = if self.append { libc::O_APPEND } else { 0 };
        Ok(access | creation | append | libc::O_CLOEXEC | self.custom_flags & !libc::O_ACCMODE)
    }
}

/// The system call.
pub(super) fn ask(path: &CStr, flags: i32, mode: u32) -> io::Result<OwnedFd> {
    loop {
        // SAFETY: the path ends with a zero.
        let fd = unsafe { libc::open(path.as_ptr(), flags, mode as libc::c_uint) };
        if fd >= 0 {
            // SAFETY: just opened, and nobody else's.
            return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
