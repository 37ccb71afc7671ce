//! What a path names. A disk has no links, so a path can be followed by its names alone; in the order, and with the errors, of Linux.

use super::names::{Ino, Names, Place, ROOT};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a path names, or would.
pub(super) struct Found {
    /// The directories on the way, from the root, without what the path ends with.
    pub(super) way: Vec<Ino>,
    pub(super) last: Last,
    /// What is there. An error if the disk cannot have such a name.
    there: Result<Option<Ino>, Errno>,
    /// It ends with a slash.
    pub(super) is_directory: bool,
}

/// What a path ends with.
pub(super) enum Last {
    Name(Place),
    Dot,
    DotDot,
    /// Nothing: it is the root's.
    Root,
}

/// The longest name.
const LONGEST: usize = 255;
/// Bytes of a path that is too long.
const TOO_LONG: usize = 4096;

impl Found {
    /// What is there.
    pub(super) fn ino(&self) -> Result<Option<Ino>, Errno> {
        self.there
    }
}

/// Follows `path` from the root. `is_directory` says what is a directory.
pub(super) fn find(names: &Names, path: &Path, is_directory: impl Fn(Ino) -> bool) -> Result<Found, Errno> {
    let bytes = path.as_os_str().as_bytes();
    match bytes {
        [] => return Err(Errno::NOENT),
        _ if bytes.contains(&0) => return Err(Errno::INVAL),
        _ if bytes.len() >= TOO_LONG => return Err(Errno::NAMETOOLONG),
        _ => {}
    }
    let mut way = vec![ROOT];
    let mut parts = bytes.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let here = way.last().copied().unwrap_or(ROOT);
        let there = || match part {
            b"." => Ok(Some(here)),
            b".." => Ok(Some(way[way.len().saturating_sub(2)])),
            name if name.len() > LONGEST => Err(Errno::NAMETOOLONG),
            name => Ok(names.get(here, OsStr::from_bytes(name))),
        };
        if parts.peek().is_none() {
            let last = match part {
                b"." => Last::Dot,
                b".." => Last::DotDot,
                name => Last::Name(Place(here, OsStr::from_bytes(name).to_owned())),
            };
            let there = there();
            return Ok(Found { way, last, there, is_directory: bytes.ends_with(b"/") });
        }
        match (part, there()?) {
            (b".", _) => {}
            (b"..", _) => way.truncate((way.len() - 1).max(1)),
            (_, Some(ino)) if is_directory(ino) => way.push(ino),
            (_, Some(_)) => return Err(Errno::NOTDIR),
            (_, None) => return Err(Errno::NOENT),
        }
    }
    Ok(Found { way, last: Last::Root, there: Ok(Some(ROOT)), is_directory: true })
}
