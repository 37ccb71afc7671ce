//! [`DirEntry`]: what a directory says of one of its names.

use super::{FileType, Metadata, symlink_metadata, symlink_metadata_async};
use crate::world::disk::Listed;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A name in a directory: [`std::fs::DirEntry`].
#[derive(Debug, Clone)]
pub struct DirEntry {
    directory: Arc<Path>,
    name: OsString,
    ino: u64,
    /// `None`: the directory does not keep it, and the file has gone since.
    kind: Option<FileType>,
}

impl DirEntry {
    /// Of an entry that has just been read. Asks the file, if the directory does not keep what it is.
    pub(super) fn new(directory: &Arc<Path>, entry: &std::fs::DirEntry) -> Self {
        let kind = entry.file_type().ok().map(FileType::from);
        Self { directory: directory.clone(), name: entry.file_name(), ino: entry.ino(), kind }
    }

    pub(super) fn simulated(directory: &Arc<Path>, (name, ino, is_directory): Listed) -> Self {
        let kind = if is_directory { FileType::DIRECTORY } else { FileType::FILE };
        Self { directory: directory.clone(), name, ino: ino.into(), kind: Some(kind) }
    }

    /// The name alone.
    pub fn file_name(&self) -> OsString {
        self.name.clone()
    }

    /// The path: that of [`read_dir`](super::read_dir), with the name.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The number of the file in its file system.
    pub fn ino(&self) -> u64 {
        self.ino
    }

    /// What it is, as the directory has it; of a symbolic link itself.
    ///
    /// # Errors
    /// Only where the directory does not keep that: the file's, which [`symlink_metadata`] finds.
    ///
    /// # Cancellation
    /// As for [`metadata`](super::metadata).
    ///
    /// # Blocking
    /// Only where the directory does not keep it: as for [`metadata`](super::metadata).
    pub fn file_type(&self) -> io::Result<FileType> {
        match self.kind {
            Some(kind) => Ok(kind),
            None => Ok(self.metadata()?.file_type()),
        }
    }

    /// What the file system knows of it; of a symbolic link itself. It is found by its [`path`](Self::path).
    ///
    /// # Errors
    /// Those of [`symlink_metadata`].
    ///
    /// # Cancellation
    /// As for [`metadata`](super::metadata).
    ///
    /// # Blocking
    /// As for [`metadata`](super::metadata).
    pub fn metadata(&self) -> io::Result<Metadata> {
        symlink_metadata(self.path())
    }

    /// The awaitable form of [`metadata`](Self::metadata).
    ///
    /// # Errors
    /// As for `metadata`.
    ///
    /// # Cancellation
    /// A dropped future has no effect.
    pub async fn metadata_async(&self) -> io::Result<Metadata> {
        symlink_metadata_async(self.path()).await
    }
}
