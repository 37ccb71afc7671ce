//! A progress bar on standard error, if that is a terminal. Its own, because a crate for it would be the largest that a
//! program gets by depending on Lamprey.

use crate::sync_shim::watched::Mutex;
use std::io::{IsTerminal, Write, stderr};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Columns of the bar.
const WIDTH: u64 = 30;
/// Between two changes.
const PERIOD: Duration = Duration::from_millis(100);

pub(super) struct Progress {
    all: u64,
    begin: Instant,
    /// When it was last shown; `None` if it is not to be shown.
    shown: Option<Mutex<Instant>>,
}

impl Progress {
    pub(super) fn new(all: u64) -> Self {
        let begin = Instant::now();
        Self { all, begin, shown: stderr().is_terminal().then(|| Mutex::new(begin)) }
    }

    /// Shows it, if it has not been for a while.
    pub(super) fn show(&self, runs: u64, different: u64) {
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() < PERIOD {
            return;
        }
        *shown = Instant::now();
        let full = (runs * WIDTH / self.all.max(1)).min(WIDTH) as usize;
        let rate = runs as f64 / self.begin.elapsed().as_secs_f64();
        let bar = "#".repeat(full) + &".".repeat(WIDTH as usize - full);
        // A terminal that is gone does not matter.
        let _ = write!(stderr(), "\r[{bar}] {runs}/{} runs, {different} different, {rate:.0}/s ", self.all);
    }

    /// Removes it.
    pub(super) fn end(&self) {
        if self.shown.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
