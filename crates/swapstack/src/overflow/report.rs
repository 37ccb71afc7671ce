//! The line on standard error, written with a fixed buffer and `write`, without allocation or lock.

use std::fmt;

const CAPACITY: usize = 1024;

/// The text buffer of [`Describe`](super::Describe): up to 1 KiB, the rest is cut off.
pub struct Report {
    text: [u8; CAPACITY],
    length: usize,
}

impl Report {
    pub(super) fn new() -> Self {
        Self { text: [0; CAPACITY], length: 0 }
    }

    /// Writes the line to standard error.
    pub(super) fn print(&self) {
        let mut rest = &self.text[..self.length];
        while !rest.is_empty() {
            // SAFETY: `rest` is initialised memory of that length.
            let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => rest = &rest[written..],
                // The error cannot be reported; the process aborts anyway.
                _ => return,
            }
        }
    }
}

impl fmt::Write for Report {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = CAPACITY - self.length;
        let fitting = &text.as_bytes()[..text.len().min(room)];
        self.text[self.length..self.length + fitting.len()].copy_from_slice(fitting);
        self.length += fitting.len();
        Ok(())
    }
}
