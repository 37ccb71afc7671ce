//! Opening a file that lies in the folder, whatever its name and the links on the way say.
//!
//! Invariant: what [`Root::open_file`] opens was reached from the folder without ever leaving it. The kernel
//! walks the name with `RESOLVE_BENEATH`: links may point anywhere inside, and one that leaves (or is
//! absolute) is refused. Where `openat2` is missing (Linux before 5.6, or a sandbox that hides it) the name
//! is walked here, part by part, and every link is refused.
//!
//! The folder itself is found by its path each time: a site that is built anew, or switched by a link, is
//! seen.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Non-blocking, so that opening a named pipe does not wait for its writer.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// A place to start from; needs no right to list it.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The folder whose files are served.
pub(crate) struct Root {
    path: PathBuf,
    kernel_walks: bool,
}

impl Root {
    /// # Errors
    /// If `path` is no folder, or cannot be entered.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        let path = std::path::absolute(path)?;
        let dir = rustix::fs::open(&path, FOLDER, Mode::empty())?;
        let kernel_walks = match resolve_beneath(&dir, b".") {
            Ok(_) => true,
            // EPERM is what sandboxes say to calls they do not know; a folder that may not be read says
            // EACCES.
            Err(Errno::NOSYS | Errno::PERM) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(Root { path, kernel_walks })
    }

    /// Opens the file `name` (parts joined by single slashes, see `path`) for reading. It may turn out to be
    /// a folder.
    ///
    /// # Blocking
    /// Waits for the disk: call it on the blocking pool.
    pub(crate) fn open_file(&self, name: &[u8]) -> Result<OwnedFd, Errno> {
        let dir = rustix::fs::open(&self.path, FOLDER, Mode::empty())?;
        if self.kernel_walks { resolve_beneath(&dir, name) } else { walk(dir, name) }
    }
}

fn resolve_beneath(dir: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let rules = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..16 {
        match rustix::fs::openat2(dir, name, READ, Mode::empty(), rules) {
            // EAGAIN: something was renamed meanwhile, so the kernel cannot vouch for the walk.
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

fn walk(mut dir: OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
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
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder with a secret next to it, and links of every kind.
    fn site() -> (tempfile::TempDir, [Root; 2]) {
        let temp = tempfile::tempdir().unwrap();
        let site = temp.path().join("site");
        std::fs::create_dir_all(site.join("sub")).unwrap();
        std::fs::write(temp.path().join("secret"), "secret").unwrap();
        std::fs::write(site.join("sub/a"), "a").unwrap();
        symlink("sub/a", site.join("inside")).unwrap();
        symlink("../secret", site.join("outside")).unwrap();
        symlink(temp.path().join("secret"), site.join("absolute")).unwrap();
        symlink(site.join("sub/a"), site.join("absolute-inside")).unwrap();
        symlink("..", site.join("up")).unwrap();
        symlink("loop", site.join("loop")).unwrap();
        symlink("/proc/self/fd/0", site.join("magic")).unwrap();
        symlink("nowhere", site.join("dangling")).unwrap();
        let kernel = Root::open(&site).unwrap();
        let own = Root { path: kernel.path.clone(), kernel_walks: false };
        (temp, [kernel, own])
    }

    #[test]
    fn plain_files_open() {
        let (_temp, roots) = site();
        for root in roots {
            assert!(root.open_file(b"sub/a").is_ok());
            assert!(root.open_file(b"sub").is_ok());
            assert_eq!(root.open_file(b"nope").unwrap_err(), Errno::NOENT);
            assert_eq!(root.open_file(b"sub/a/b").unwrap_err(), Errno::NOTDIR);
            assert_eq!(root.open_file(&[b'x'; 300]).unwrap_err(), Errno::NAMETOOLONG);
        }
    }

    #[test]
    fn links_out_are_refused_by_both_walks() {
        let (_temp, roots) = site();
        for root in roots {
            for name in [
                "outside",
                "absolute",
                "absolute-inside",
                "up/secret",
                "loop",
                "magic",
                "../secret",
                "/etc/passwd",
                "sub/../../secret",
            ] {
                assert!(
                    root.open_file(name.as_bytes()).is_err(),
                    "{name}, kernel_walks {}",
                    root.kernel_walks
                );
            }
        }
    }

    #[test]
    fn links_inside_work_where_the_kernel_walks() {
        let (_temp, [kernel, own]) = site();
        assert!(!kernel.kernel_walks || kernel.open_file(b"inside").is_ok());
        assert!(own.open_file(b"inside").is_err());
    }

    #[test]
    fn a_pipe_does_not_hang() {
        let (_temp, roots) = site();
        let path = roots[0].path.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        for root in roots {
            assert!(root.open_file(b"pipe").is_ok());
        }
    }

    #[test]
    fn a_folder_built_anew_is_seen() {
        let (_temp, [root, _]) = site();
        std::fs::remove_dir_all(&root.path).unwrap();
        assert_eq!(root.open_file(b"sub/a").unwrap_err(), Errno::NOENT);
        std::fs::create_dir_all(root.path.join("sub")).unwrap();
        std::fs::write(root.path.join("sub/a"), "b").unwrap();
        assert!(root.open_file(b"sub/a").is_ok());
    }

    #[test]
    fn a_file_or_nothing_is_no_root() {
        let (temp, _) = site();
        assert_eq!(
            Root::open(&temp.path().join("secret")).err().unwrap().kind(),
            io::ErrorKind::NotADirectory
        );
        assert_eq!(Root::open(&temp.path().join("nope")).err().unwrap().kind(), io::ErrorKind::NotFound);
    }
}
