//! A file as an answer: its header fields, and its bytes or an open descriptor.
//!
//! Invariant: the fields, the length and the bytes of a [`File`] belong together: a small file is read
//! between two reads of its stamp that give the same. A stamp that is only seconds old proves nothing
//! (another write could leave it unchanged), so such a file is not *settled*: its entity tag is weak, and it
//! is read again rather than compared.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::beneath::Root;
use crate::status::Status;
use crate::{date, mime};

/// How many seconds old a change must be for its stamp to be trusted: more than the resolution of any file
/// system's clock (FAT: 2 s).
const SETTLING: u64 = 3;

/// A regular file.
pub(crate) struct File {
    /// `Content-Type`, `Content-Length`, `Last-Modified` and `ETag`, as header lines.
    fields: Vec<u8>,
    /// Where `Last-Modified` begins in `fields`.
    validators: usize,
    /// The entity tag, with its quotes.
    tag: Box<[u8]>,
    /// When it was modified last, in seconds since 1970.
    modified: u64,
    length: u64,
    pub(crate) content: Content,
    stamp: Stamp,
    settled: bool,
}

/// Where the bytes are.
pub(crate) enum Content {
    /// In memory.
    Whole(Vec<u8>),
    /// On disk: the file is too large for memory.
    Open(OwnedFd),
}

/// What a name refers to.
pub(crate) enum Found {
    File(Arc<File>),
    Folder,
}

/// Identifies a file and its last change: differs if the file is another one or was written.
#[derive(PartialEq, Eq, Clone, Copy)]
struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(stat: &Stat) -> Stamp {
        Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            length: stat.st_size as u64,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }
}

/// Finds `name` in the folder. Returns `known` if the file has not changed since; otherwise opens the file,
/// and reads it if it has at most `small` bytes.
///
/// # Errors
/// The status to answer with.
///
/// # Blocking
/// Waits for the disk: call it on the blocking pool.
pub(crate) fn find(root: &Root, name: &[u8], known: Option<Arc<File>>, small: u64) -> Result<Found, Status> {
    let now = date::seconds(lamprey::sim::system_time());
    let fd = root.open_file(name).map_err(refusal)?;
    let stat = rustix::fs::fstat(&fd).map_err(refusal)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Ok(Found::Folder),
        _ => return Err(Status::Forbidden),
    }
    let stamp = Stamp::of(&stat);
    if let Some(known) = known.filter(|known| known.settled && known.stamp == stamp) {
        return Ok(Found::File(known));
    }
    let (content, stamp) = if stamp.length > small {
        (Content::Open(fd), stamp)
    } else {
        read_whole(&fd, stamp).map_err(refusal)?
    };
    Ok(Found::File(Arc::new(File::new(name, content, stamp, now))))
}

fn refusal(error: Errno) -> Status {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Status::NotFound,
        Errno::XDEV | Errno::LOOP | Errno::ACCESS | Errno::PERM | Errno::NXIO => Status::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Status::Unavailable,
        _ => Status::Internal,
    }
}

/// Reads a small file whole, and again if it changes meanwhile. Of a file that changes all the time, returns
/// what was read last.
fn read_whole(fd: &OwnedFd, mut stamp: Stamp) -> Result<(Content, Stamp), Errno> {
    let mut tries = 3;
    loop {
        let mut bytes = vec![0; stamp.length as usize];
        let length = read_at(fd, &mut bytes, 0)?;
        bytes.truncate(length);
        let after = Stamp::of(&rustix::fs::fstat(fd)?);
        let quiet = after == stamp && length as u64 == stamp.length;
        tries -= 1;
        // A file that grew a lot is not read again: it could be too large for memory.
        if quiet || tries == 0 || after.length > 2 * stamp.length + 4096 {
            stamp.length = length as u64;
            return Ok((Content::Whole(bytes), stamp));
        }
        stamp = after;
    }
}

/// Fills `bytes` with the file's from `offset` on; returns less only at the end of the file.
fn read_at(fd: &OwnedFd, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(fd, &mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

impl File {
    fn new(name: &[u8], content: Content, stamp: Stamp, now: u64) -> File {
        let settled =
            u64::try_from(stamp.changed.0).is_ok_and(|changed| changed.saturating_add(SETTLING) < now);
        // HTTP forbids a `Last-Modified` in the future.
        let modified = u64::try_from(stamp.modified.0).unwrap_or(0).min(now);
        let weak = if settled { "" } else { "W/" };
        let nanos = i128::from(stamp.modified.0) * 1_000_000_000 + i128::from(stamp.modified.1);
        let tag = format!("{weak}\"{nanos:x}-{:x}\"", stamp.length);
        let (kind, charset) = mime::of(name);
        let mut fields =
            format!("Content-Type: {kind}{charset}\r\nContent-Length: {}\r\n", stamp.length).into_bytes();
        let validators = fields.len();
        fields.extend_from_slice(b"Last-Modified: ");
        fields.extend_from_slice(&date::format(modified));
        let _ = write!(fields, "\r\nETag: {tag}\r\n");
        let tag = tag.into_bytes().into_boxed_slice();
        File { fields, validators, tag, modified, length: stamp.length, content, stamp, settled }
    }

    /// The header lines of an answer with the whole file.
    pub(crate) fn fields(&self) -> &[u8] {
        &self.fields
    }

    /// The header lines of `304 Not Modified`.
    pub(crate) fn validators(&self) -> &[u8] {
        &self.fields[self.validators..]
    }

    /// The entity tag with its quotes, `W/` before them if it is weak.
    pub(crate) fn tag(&self) -> &[u8] {
        &self.tag
    }

    /// When it was modified last, in seconds since 1970.
    pub(crate) fn modified(&self) -> u64 {
        self.modified
    }

    /// The value of `Content-Length`.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// How many bytes of memory it takes, roughly.
    pub(crate) fn memory(&self) -> u64 {
        let bytes = match &self.content {
            Content::Whole(bytes) => bytes.len(),
            Content::Open(_) => 0,
        };
        (bytes + self.fields.len() + size_of::<File>()) as u64
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
