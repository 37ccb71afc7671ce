//! [`Inode`]: a file or a directory, without its name.

use super::content::Content;
use std::time::SystemTime;

/// A file or a directory.
pub(super) struct Inode {
    /// Of a directory it is empty, and there only to be opened.
    pub(super) content: Content,
    pub(super) is_directory: bool,
    pub(super) mode: u32,
    pub(super) created: SystemTime,
    pub(super) modified: SystemTime,
    /// When it was made, until the program says otherwise: reads do not count, as with the option `noatime`.
    pub(super) accessed: SystemTime,
    /// Programs see a name of it.
    pub(super) has_name: bool,
}

/// What a file system knows of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) ino: u32,
    pub(crate) is_directory: bool,
    pub(crate) mode: u32,
    pub(crate) len: u64,
    pub(crate) created: SystemTime,
    pub(crate) modified: SystemTime,
    pub(crate) accessed: SystemTime,
    pub(crate) names: u32,
}

impl Inode {
    pub(super) fn new(is_directory: bool, mode: u32, now: SystemTime) -> Self {
        let content = Content::default();
        Self { content, is_directory, mode, created: now, modified: now, accessed: now, has_name: true }
    }
}
