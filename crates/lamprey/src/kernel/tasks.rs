//! What the kernel says of this process's threads, in `/proc/self/task`; nothing where there is no `/proc`.

use std::ffi::OsString;
use std::fs;

/// The kernel's line about a thread.
pub(crate) struct Task {
    /// Its number.
    pub(crate) name: OsString,
    line: String,
}

/// All threads of the process.
pub(crate) fn all() -> impl Iterator<Item = Task> {
    let folders = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    folders.filter_map(|folder| {
        let line = fs::read_to_string(folder.path().join("stat")).ok()?;
        Some(Task { name: folder.file_name(), line })
    })
}

impl Task {
    /// The word at this place behind the name that the thread was given, which may have spaces; the state is at 0.
    pub(crate) fn word(&self, place: usize) -> Option<&str> {
        self.line.rsplit_once(')')?.1.split_whitespace().nth(place)
    }

    /// A made-up one.
    #[cfg(test)]
    pub(crate) fn made_up(line: &str) -> Self {
        Self { name: OsString::new(), line: line.to_owned() }
    }
}
