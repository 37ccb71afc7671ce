//! [`Pauses`]: how long to wait before something of which nobody tells the end is tried again.

use std::time::Duration;

/// Pauses that double, up to a longest one.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let longer = (self.next * 2).min(self.longest);
        std::mem::replace(&mut self.next, longer)
    }
}
