//! A file as an answer: its header fields, and its bytes or an open descriptor.
//!
//! Invariant: the fields, the length and the bytes of a [`File`] belong together: a small file is read between two reads
//! of its stamp that give the same, and its entity tag is made of the bytes that were read. As long as its stamp is
//! not settled ([`Stamp::is_settled`]) it is read again rather than compared.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::beneath::Root;
use crate::mime;
use crate::status::Status;
use crate::validators::{Stamp, Validators};

/// A regular file.
pub(crate) struct File {
    /// `Content-Type`, `Content-Length`, `Last-Modified` and `ETag`, as header lines.
    fields: Vec<u8>,
    /// Where `Last-Modified` begins in `fields`.
    validator_lines: usize,
    validators: Validators,
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

/// Finds `name` in the folder. Returns `known` if the file has not changed since; otherwise opens the file,
/// and reads it if it has at most `small` bytes.
///
/// # Errors
/// The status to answer with.
///
/// # Blocking
/// Waits for the disk: call it on the blocking pool.
pub(crate) fn find(root: &Root, name: &[u8], known: Option<Arc<File>>, small: u64) -> Result<Found, Status> {
    let now = lamprey::sim::system_time();
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
    let (content, stamp) = if stamp.length() > small {
        (Content::Open(fd), stamp)
    } else {
        let (bytes, stamp) = read_whole(&fd, stamp).map_err(refusal)?;
        (Content::Whole(bytes), stamp)
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
fn read_whole(fd: &OwnedFd, mut stamp: Stamp) -> Result<(Vec<u8>, Stamp), Errno> {
    let mut tries = 3;
    loop {
        let mut bytes = vec![0; stamp.length() as usize];
        let length = read_at(fd, &mut bytes, 0)?;
        bytes.truncate(length);
        let after = Stamp::of(&rustix::fs::fstat(fd)?);
        let quiet = after == stamp && length as u64 == stamp.length();
        tries -= 1;
        // A file that grew a lot is not read again: it could be too large for memory.
        if quiet || tries == 0 || after.length() > 2 * stamp.length() + 4096 {
            return Ok((bytes, stamp));
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
    fn new(name: &[u8], content: Content, stamp: Stamp, now: SystemTime) -> File {
        let (validators, length) = match &content {
            Content::Whole(bytes) => (Validators::of_bytes(bytes, &stamp, now), bytes.len() as u64),
            Content::Open(_) => (Validators::of_stamp(&stamp, now), stamp.length()),
        };
        let (kind, charset) = mime::of(name);
        let mut fields =
            format!("Content-Type: {kind}{charset}\r\nContent-Length: {length}\r\n").into_bytes();
        let validator_lines = fields.len();
        validators.write_to(&mut fields);
        File { fields, validator_lines, validators, length, content, stamp, settled: stamp.is_settled(now) }
    }

    /// The header lines of an answer with the whole file.
    pub(crate) fn fields(&self) -> &[u8] {
        &self.fields
    }

    /// The header lines of `304 Not Modified`.
    pub(crate) fn validator_lines(&self) -> &[u8] {
        &self.fields[self.validator_lines..]
    }

    /// What conditions are compared with.
    pub(crate) fn validators(&self) -> &Validators {
        &self.validators
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
