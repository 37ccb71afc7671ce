//! Small files in memory, for a short time.
//!
//! Invariant: a file that [`Cache::look`] calls fresh was compared with the disk less than `fresh` ago, so a
//! change on disk is seen within that time. From half of it on, one asker at a time is sent to compare while
//! the others still get what is there: a busy file costs one comparison per half of `fresh`, and nobody waits
//! in a crowd.
//!
//! The lock is held for a lookup only, never across a switch or a call that blocks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::file::{Content, File};

/// What is known of a file.
pub(crate) enum Lookup {
    /// Answer with it.
    Fresh(Arc<File>),
    /// Compare it with the disk, then [`Cache::put`] or [`Cache::forget`] it.
    Old(Arc<File>),
    Unknown,
}

/// Files by their name in the folder.
pub(crate) struct Cache {
    fresh: Duration,
    room: u64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<Box<[u8]>, Entry>,
    used: u64,
    swept: Option<Instant>,
}

struct Entry {
    file: Arc<File>,
    /// When the comparison with the disk began.
    checked: Instant,
    /// Somebody is comparing.
    checking: bool,
}

impl Cache {
    /// Trusts a file for `fresh`, and keeps at most `room` bytes.
    pub(crate) fn new(fresh: Duration, room: u64) -> Cache {
        Cache { fresh, room, inner: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of `name` at the time `now`.
    pub(crate) fn look(&self, name: &[u8], now: Instant) -> Lookup {
        let mut inner = self.lock();
        let Some(entry) = inner.entries.get_mut(name) else { return Lookup::Unknown };
        let age = now.saturating_duration_since(entry.checked);
        let file = entry.file.clone();
        if age < self.fresh / 2 || (age < self.fresh && entry.checking) {
            return Lookup::Fresh(file);
        }
        entry.checking = true;
        Lookup::Old(file)
    }

    /// Keeps `file`, which was compared with the disk at `checked`, if it is in memory and there is room.
    pub(crate) fn put(&self, name: &[u8], file: &Arc<File>, checked: Instant) {
        let weight = weigh(name, file);
        let mut inner = self.lock();
        inner.remove(name);
        if matches!(file.content, Content::Open(_)) {
            return;
        }
        if inner.used + weight > self.room {
            inner.sweep(checked, self.fresh);
        }
        if inner.used + weight <= self.room {
            inner.used += weight;
            inner.entries.insert(name.into(), Entry { file: file.clone(), checked, checking: false });
        }
    }

    /// Drops what is known of `name`: it is gone.
    pub(crate) fn forget(&self, name: &[u8]) {
        self.lock().remove(name);
    }
}

impl Inner {
    fn remove(&mut self, name: &[u8]) {
        if let Some(old) = self.entries.remove(name) {
            self.used -= weigh(name, &old.file);
        }
    }

    /// Drops the files that nobody asked for lately. It looks at every entry, so at most once in `fresh`.
    fn sweep(&mut self, now: Instant, fresh: Duration) {
        if self.swept.is_some_and(|swept| now.saturating_duration_since(swept) < fresh) {
            return;
        }
        self.swept = Some(now);
        self.entries.retain(|_, entry| now.saturating_duration_since(entry.checked) < fresh);
        self.used = self.entries.iter().map(|(name, entry)| weigh(name, &entry.file)).sum();
    }
}

fn weigh(name: &[u8], file: &File) -> u64 {
    file.weight() + (name.len() + size_of::<Entry>()) as u64
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
