//! What the kernel says of this process's threads, in `/proc/self/task`; nothing where there is no `/proc`.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

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

/// The thread of this number; `None` if there is none.
pub(crate) fn of(number: libc::pid_t) -> Option<Task> {
    let name = number.to_string();
    let line = fs::read_to_string(format!("/proc/self/task/{name}/stat")).ok()?;
    Some(Task { name: name.into(), line })
}

/// How long the thread has been ready and has waited for a processor. Zero where the kernel does not count that.
pub(crate) fn waited(number: libc::pid_t) -> Duration {
    let text = fs::read_to_string(format!("/proc/self/task/{number}/schedstat")).unwrap_or_default();
    // On a processor, waiting for one, how often.
    let waited = text.split_whitespace().nth(1).and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

/// True if the thread blocks this signal.
pub(crate) fn blocks(number: libc::pid_t, signal: libc::c_int) -> bool {
    let text = fs::read_to_string(format!("/proc/self/task/{number}/status")).unwrap_or_default();
    let blocked = text.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    blocked.is_some_and(|set| set & (1 << (signal - 1)) != 0)
}

impl Task {
    /// The letter of its state: `R` runs or is ready, `S` and `D` sleep in the kernel, `T` and `t` are stopped.
    pub(crate) fn state(&self) -> Option<char> {
        self.word(0)?.chars().next()
    }

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
