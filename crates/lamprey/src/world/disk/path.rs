//! What a path names. A disk has no links, so a path can be followed by its names alone.

use super::names::{Ino, Names, Place, ROOT};
use rustix::io::Errno;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// What a path names, or would.
pub(super) struct Found {
    /// The directories on the way, from the root.
    pub(super) way: Vec<Ino>,
    /// `None`: the path ends in one of these directories.
    pub(super) place: Option<Place>,
    /// What is there.
    pub(super) ino: Option<Ino>,
    /// It ends with a slash.
    pub(super) is_directory: bool,
}

/// The longest name.
const LONGEST: usize = 255;

/// Follows `path` from the root. `is_directory` says what is a directory.
pub(super) fn find(names: &Names, path: &Path, is_directory: impl Fn(Ino) -> bool) -> Result<Found, Errno> {
    let bytes = path.as_os_str().as_bytes();
    match bytes {
        [] => return Err(Errno::NOENT),
        _ if bytes.contains(&0) => return Err(Errno::INVAL),
        _ => {}
    }
    let ends_so = bytes.ends_with(b"/") || bytes.ends_with(b"/.");
    let mut way = vec![ROOT];
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        match part {
            Component::ParentDir if way.len() > 1 => _ = way.pop(),
            Component::Normal(name) => {
                if name.len() > LONGEST {
                    return Err(Errno::NAMETOOLONG);
                }
                let place = Place(way.last().copied().unwrap_or(ROOT), name.to_owned());
                let ino = names.get(place.0, name);
                if parts.peek().is_none() {
                    return Ok(Found { way, place: Some(place), ino, is_directory: ends_so });
                }
                match ino {
                    Some(ino) if is_directory(ino) => way.push(ino),
                    Some(_) => return Err(Errno::NOTDIR),
                    None => return Err(Errno::NOENT),
                }
            }
            _ => {}
        }
    }
    let ino = way.last().copied();
    Ok(Found { way, place: None, ino, is_directory: true })
}
