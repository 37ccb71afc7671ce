//! Small files in memory, for a short time.
//!
//! Invariant: a file that [`Cache::look`] calls fresh was compared with the disk less than `fresh` ago, so a
//! change on disk is seen within that time. After half of it, one request at a time compares again while the
//! others still get the cached file: a busy file costs one comparison per half of `fresh`, and no request
//! waits for the comparison of another.
//!
//! The lock is held for a lookup only, never during a comparison.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lamprey::sync::{Mutex, MutexGuard};

use crate::file::{Content, File};

/// What the cache has of a file.
pub(crate) enum Lookup {
    /// It can be the answer.
    Fresh(Arc<File>),
    /// Compare it with the disk, then [`Cache::put`] or [`Cache::forget`] it.
    Old(Arc<File>),
    Unknown,
}

/// Files by their name in the folder.
pub(crate) struct Cache {
    fresh: Duration,
    room: u64,
    table: Mutex<CacheTable>,
}

#[derive(Default)]
struct CacheTable {
    entries: HashMap<Box<[u8]>, CacheEntry>,
    used: u64,
    /// The last time that old entries were dropped.
    swept: Option<Instant>,
}

struct CacheEntry {
    file: Arc<File>,
    /// When the comparison with the disk began.
    checked: Instant,
    /// A request is comparing it again.
    checking: bool,
}

impl Cache {
    /// Trusts a file for `fresh`, and keeps at most `room` bytes.
    pub(crate) fn new(fresh: Duration, room: u64) -> Cache {
        Cache { fresh, room, table: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, CacheTable> {
        // A poisoned table is used all the same: a panic of another holder leaves at worst a wrong `used`.
        let locked = self.table.lock().or_else(|error| error.into_guard().ok_or(()));
        locked.expect("no destructor uses the cache, so its lock is never taken while unwinding")
    }

    /// What the cache has of `name` at the time `now`.
    pub(crate) fn look(&self, name: &[u8], now: Instant) -> Lookup {
        let mut table = self.lock();
        let Some(entry) = table.entries.get_mut(name) else { return Lookup::Unknown };
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
        let memory = memory_of(name, file);
        let mut table = self.lock();
        table.remove(name);
        if matches!(file.content, Content::Open(_)) {
            return;
        }
        if table.used + memory > self.room {
            table.sweep(checked, self.fresh);
        }
        if table.used + memory <= self.room {
            table.used += memory;
            table.entries.insert(name.into(), CacheEntry { file: file.clone(), checked, checking: false });
        }
    }

    /// Drops `name`: the file is gone.
    pub(crate) fn forget(&self, name: &[u8]) {
        self.lock().remove(name);
    }
}

impl CacheTable {
    fn remove(&mut self, name: &[u8]) {
        if let Some(old) = self.entries.remove(name) {
            self.used -= memory_of(name, &old.file);
        }
    }

    /// Drops the files that were not compared within `fresh`: no request asked for them. It visits every
    /// entry, so it does nothing if it ran less than `fresh` ago.
    fn sweep(&mut self, now: Instant, fresh: Duration) {
        if self.swept.is_some_and(|swept| now.saturating_duration_since(swept) < fresh) {
            return;
        }
        self.swept = Some(now);
        self.entries.retain(|_, entry| now.saturating_duration_since(entry.checked) < fresh);
        self.used = self.entries.iter().map(|(name, entry)| memory_of(name, &entry.file)).sum();
    }
}

/// How many bytes of memory an entry takes, roughly.
fn memory_of(name: &[u8], file: &File) -> u64 {
    file.memory() + (name.len() + size_of::<CacheEntry>()) as u64
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
