//! Why new connections wait, told at most once in [`REPEAT`].

use crate::world;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// How often a condition that lasts is told.
pub(super) const REPEAT: Duration = Duration::from_secs(10);

/// Why a server takes no more connections for now: new ones wait in the kernel's queue. The observer of
/// [`Serving::on_held_up`](super::Serving::on_held_up) gets it.
#[derive(Debug)]
#[non_exhaustive]
pub enum HeldUp<'a> {
    /// So many connections are open, which is the [limit](super::Serving::limit).
    Full(u32),
    /// All servers that [share a limit](super::Serving::share_limit) have as many connections as that allows.
    AllFull,
    /// The process has no descriptor left, or the machine no memory. It is tried again, less and less often.
    Exhausted(&'a io::Error),
}

impl fmt::Display for HeldUp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeldUp::Full(limit) => {
                write!(f, "{limit} connections are open, which is the limit: new ones wait")
            }
            HeldUp::AllFull => {
                f.write_str("as many connections are open as these servers may have together: new ones wait")
            }
            HeldUp::Exhausted(error) => write!(f, "cannot take a connection: {error}; new ones wait"),
        }
    }
}

/// The program's observer.
pub(super) type Observer<'a> = Box<dyn FnMut(&HeldUp<'_>) + Send + 'a>;

/// Tells the observer, if there is one.
pub(super) struct Reports<'a> {
    observer: Option<Observer<'a>>,
    last: Option<Instant>,
}

impl<'a> Reports<'a> {
    pub(super) fn new(observer: Option<Observer<'a>>) -> Self {
        Self { observer, last: None }
    }

    pub(super) fn say(&mut self, why: &HeldUp<'_>) {
        let Some(observer) = &mut self.observer else { return };
        let now = world::now();
        if self.last.is_none_or(|last| now.saturating_duration_since(last) >= REPEAT) {
            self.last = Some(now);
            observer(why);
        }
    }
}
