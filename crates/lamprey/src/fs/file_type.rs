//! [`FileType`]: what a name is of.

use super::Metadata;
use std::os::unix::fs::FileTypeExt;

/// What a name is of: [`std::fs::FileType`], which only the standard library can make.
///
/// # Examples
/// ```
/// let found = lamprey::run(|| lamprey::fs::metadata("Cargo.toml"))?;
/// assert!(found.file_type().is_file());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileType(libc::mode_t);

impl FileType {
    /// True for a regular file.
    pub fn is_file(&self) -> bool {
        self.0 == libc::S_IFREG
    }

    /// True for a directory.
    pub fn is_dir(&self) -> bool {
        self.0 == libc::S_IFDIR
    }

    /// True for a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.0 == libc::S_IFLNK
    }

    /// True for a named pipe.
    pub fn is_fifo(&self) -> bool {
        self.0 == libc::S_IFIFO
    }

    /// True for a socket.
    pub fn is_socket(&self) -> bool {
        self.0 == libc::S_IFSOCK
    }

    /// True for a device of blocks.
    pub fn is_block_device(&self) -> bool {
        self.0 == libc::S_IFBLK
    }

    /// True for a device of characters.
    pub fn is_char_device(&self) -> bool {
        self.0 == libc::S_IFCHR
    }

    pub(super) const DIRECTORY: Self = Self(libc::S_IFDIR);
    pub(super) const FILE: Self = Self(libc::S_IFREG);
}

impl Metadata {
    /// What it is of.
    pub fn file_type(&self) -> FileType {
        FileType(self.mode() & libc::S_IFMT)
    }
}

impl From<std::fs::FileType> for FileType {
    fn from(found: std::fs::FileType) -> Self {
        Self(match () {
            () if found.is_file() => libc::S_IFREG,
            () if found.is_dir() => libc::S_IFDIR,
            () if found.is_symlink() => libc::S_IFLNK,
            () if found.is_fifo() => libc::S_IFIFO,
            () if found.is_socket() => libc::S_IFSOCK,
            () if found.is_block_device() => libc::S_IFBLK,
            () if found.is_char_device() => libc::S_IFCHR,
            // A kind that no system has had so far.
            () => 0,
        })
    }
}
