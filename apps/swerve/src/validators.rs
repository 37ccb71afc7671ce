//! What tells one version of a file from another: its entity tag and its date (RFC 9110, 8.8).
//!
//! Invariants:
//! 1. Two answers with the same strong tag have the same bytes. A file in memory has a tag of its bytes. One that is
//!    streamed has a tag of its [`Stamp`], which proves nothing while the last change is only seconds old: another one
//!    could leave it as it is. Until the stamp is *settled* the tag is weak, and the next answer has another.
//! 2. No date is given away while a second change could still fall into the same second: until then
//!    `Last-Modified` is one second early. So a client that asks with a date it was given never keeps old bytes. (Who
//!    sets the modification time of new bytes back to that of the old ones deceives dates, but not tags.)
//!
//! A file that is written through a memory mapping has the time of the first write to a page since the kernel
//! last wrote it back: later writes to that page may go unseen.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use crate::date;

/// How many seconds old a change must be for its times to be trusted: more than the resolution of any file
/// system's clock (FAT: 2 s).
const SETTLING: u64 = 3;

/// Identifies a file and its last change: differs if the file is another one or was written.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Copy)]
pub struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    /// Unlike `modified`, no program can set it back.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of the file with this `stat`.
    pub fn of(stat: &Stat) -> Stamp {
        Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            length: stat.st_size as u64,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether a change after `now` would give the file another stamp.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        is_old(self.changed.0, now) && is_old(self.modified.0, now)
    }
}

/// Whether the time `second` is so long ago that no clock calls a later time the same.
fn is_old(second: i64, now: SystemTime) -> bool {
    // What lies before 1970 is old.
    u64::try_from(second).map_or(second < 0, |second| second.saturating_add(SETTLING) < date::seconds(now))
}

/// The entity tag and the date of a version of a file.
#[derive(Debug)]
pub struct Validators {
    tag: Box<[u8]>,
    /// Seconds since 1970.
    modified: u64,
    /// What `Last-Modified` says: `modified`, or the second before it.
    shown: u64,
}

impl Validators {
    /// Those of a file of which all bytes are known. `now` is a time before it was opened.
    pub fn of_bytes(bytes: &[u8], stamp: &Stamp, now: SystemTime) -> Validators {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Validators::new(format!("\"{:x}-{:x}\"", bytes.len(), hasher.finish()), stamp, now)
    }

    /// Those of a file that is sent without a look at its bytes. `now` is a time before it was opened.
    pub fn of_stamp(stamp: &Stamp, now: SystemTime) -> Validators {
        let mut hasher = DefaultHasher::new();
        stamp.hash(&mut hasher);
        let weak = if stamp.is_settled(now) {
            ""
        } else {
            // No other answer has this tag: clients ask again.
            now.duration_since(UNIX_EPOCH).unwrap_or_default().hash(&mut hasher);
            "W/"
        };
        Validators::new(format!("{weak}\"{:x}-{:x}\"", stamp.length, hasher.finish()), stamp, now)
    }

    fn new(tag: String, stamp: &Stamp, now: SystemTime) -> Validators {
        // HTTP forbids a `Last-Modified` in the future.
        let modified = u64::try_from(stamp.modified.0).unwrap_or(0).min(date::seconds(now));
        let early = u64::from(!is_old(stamp.modified.0, now));
        let tag = tag.into_bytes().into_boxed_slice();
        Validators { tag, modified, shown: modified.saturating_sub(early) }
    }

    /// The entity tag with its quotes, `W/` before them if it is weak.
    pub fn tag(&self) -> &[u8] {
        &self.tag
    }

    /// When the file was modified last, in seconds since 1970.
    pub fn modified(&self) -> u64 {
        self.modified
    }

    /// Appends them to `head`, as header lines.
    pub fn write_to(&self, head: &mut Vec<u8>) {
        head.extend_from_slice(b"Last-Modified: ");
        head.extend_from_slice(&date::format(self.shown));
        head.extend_from_slice(b"\r\nETag: ");
        head.extend_from_slice(&self.tag);
        head.extend_from_slice(b"\r\n");
    }

    /// Validators that a test chooses.
    #[cfg(test)]
    pub(crate) fn chosen(tag: &str, modified: u64) -> Validators {
        Validators { tag: tag.as_bytes().into(), modified, shown: modified }
    }
}

#[cfg(test)]
#[path = "validators_tests.rs"]
mod tests;
