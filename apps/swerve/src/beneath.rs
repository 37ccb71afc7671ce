//! Opening files that lie in the folder, whatever their names and the symbolic links in them are.
//!
//! Invariant: what [`Root::open_file`] opens was reached from the folder without leaving it. The kernel
//! resolves the name with `RESOLVE_BENEATH`: links may point anywhere inside, and one that leads out of the
//! folder (or is absolute) is refused. Where `openat2` is missing (Linux before 5.6, or a sandbox that denies
//! it) this file resolves the name, part by part, and refuses every link.
//!
//! The folder itself is opened by its path each time, so a site that is built anew, or switched by a link, is
//! seen.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Non-blocking, so that opening a named pipe does not wait for its writer.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// A folder to start from; the right to list it is not needed.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The folder whose files are served.
pub(crate) struct Root {
    path: PathBuf,
    /// Whether the kernel has `openat2`.
    kernel_resolves: bool,
}

impl Root {
    /// The folder `path`.
    ///
    /// # Errors
    /// If `path` is not a folder, or cannot be entered.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        let path = std::path::absolute(path)?;
        let dir = rustix::fs::open(&path, FOLDER, Mode::empty())?;
        let kernel_resolves = match resolve_beneath(&dir, b".") {
            Ok(_) => true,
            // Sandboxes answer calls that they do not know with one of these errors. EINVAL: the kernel does not know one of the
            // rules. EACCES: the folder may not be entered either, and then the older call says it, too.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::ACCESS) => {
                rustix::fs::openat(&dir, c".", READ, Mode::empty())?;
                false
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Root { path, kernel_resolves })
    }

    /// Opens the file `name` (parts joined by single slashes, as `path` gives it) for reading. What it opens
    /// may be a folder.
    ///
    /// # Blocking
    /// Waits for the disk: call it on the blocking pool.
    pub(crate) fn open_file(&self, name: &[u8]) -> Result<OwnedFd, Errno> {
        let dir = rustix::fs::open(&self.path, FOLDER, Mode::empty())?;
        if self.kernel_resolves { resolve_beneath(&dir, name) } else { resolve_here(dir, name) }
    }
}

fn resolve_beneath(dir: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let rules = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..16 {
        match rustix::fs::openat2(dir, name, READ, Mode::empty(), rules) {
            // EAGAIN: a part was renamed meanwhile, so the kernel does not know whether it left the folder.
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

fn resolve_here(mut dir: OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let mut parts = name.split(|&byte| byte == b'/').peekable();
    while let Some(part) = parts.next() {
        if matches!(part, b"" | b"." | b"..") {
            return Err(Errno::XDEV);
        }
        if parts.peek().is_none() {
            return rustix::fs::openat(&dir, part, READ | OFlags::NOFOLLOW, Mode::empty());
        }
        dir = rustix::fs::openat(&dir, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Err(Errno::NOENT)
}

#[cfg(test)]
#[path = "beneath_tests.rs"]
mod tests;
