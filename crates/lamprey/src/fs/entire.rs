//! Files that are read or written as a whole.

use super::perform::{block, block_async};
use super::simulated::machine;
use super::{File, Metadata, metadata, metadata_async};
use std::io::{self, Read, Write};
use std::path::Path;

/// All bytes of a file.
///
/// # Examples
/// ```
/// let bytes = lamprey::run(|| lamprey::fs::read("Cargo.toml"))?;
/// assert!(bytes.starts_with(b"["));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything is read.
///
/// # Blocking
/// A regular file is opened and read on the pool for files; only the calling host waits. Others (FIFOs, terminals) are read as
/// by [`File`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    if machine().is_none() {
        return match block(|| read_regular(path))? {
            Some(bytes) => Ok(bytes),
            None => read_parts(path),
        };
    }
    read_parts(path)
}

fn read_parts(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All of a file by one call on the pool; `None` of one that has no end that is known, such as a FIFO.
fn read_regular(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if ends(path) { std::fs::read(path).map(Some) } else { Ok(None) }
}

/// False for FIFOs, terminals and the like, whose reads and writes may take for ever.
fn ends(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir())
}

/// The awaitable form of [`read`](read()).
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn read_async(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut path = path.as_ref().to_owned();
    if machine().is_none() {
        let (found, back) = block_async(move || (read_regular(&path), path)).await;
        match found? {
            Some(bytes) => return Ok(bytes),
            None => path = back,
        }
    }
    let mut bytes = Vec::new();
    File::open_async(path).await?.read_to_end_async(&mut bytes).await?;
    Ok(bytes)
}

/// All of a file of text.
///
/// # Errors
/// The system's; `InvalidData` if it is not UTF-8.
///
/// # Cancellation
/// As for [`read`](read()).
///
/// # Blocking
/// As for [`read`](read()).
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    text(read(path)?)
}

/// The awaitable form of [`read_to_string`].
///
/// # Errors
/// As for `read_to_string`.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn read_to_string_async(path: impl AsRef<Path>) -> io::Result<String> {
    text(read_async(path).await?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Makes a file with these bytes, or replaces all that it has. It is not synced.
///
/// # Examples
/// ```
/// let path = std::env::temp_dir().join(format!("lamprey-write-{}", std::process::id()));
/// let text = lamprey::run(|| {
///     lamprey::fs::write(&path, "some text")?;
///     lamprey::fs::read_to_string(&path)
/// })?;
/// std::fs::remove_file(&path)?;
/// assert_eq!(text, "some text");
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's; some of the bytes may have been written.
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything is written. In a simulation it may have written a part, as if it
/// had called `File::create` and `write_all`.
///
/// # Blocking
/// As for [`read`](read()).
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, bytes) = (path.as_ref(), bytes.as_ref());
    if machine().is_none() && block(|| write_regular(path, bytes))? {
        return Ok(());
    }
    File::create(path)?.write_all(bytes)
}

/// Writes all of a file by one call on the pool; false of one that [may take for ever](ends).
fn write_regular(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if ends(path) { std::fs::write(path, bytes).map(|()| true) } else { Ok(false) }
}

/// The awaitable form of [`write`](write()). The bytes are owned, as the future may be dropped while they are written.
///
/// # Errors
/// As for `write`.
///
/// # Cancellation
/// The file may have been made and truncated, and some or all of the bytes may have been written.
pub async fn write_async(path: impl AsRef<Path>, bytes: Vec<u8>) -> io::Result<()> {
    let (mut path, mut bytes) = (path.as_ref().to_owned(), bytes);
    if machine().is_none() {
        let (written, back) = block_async(move || (write_regular(&path, &bytes), (path, bytes))).await;
        if written? {
            return Ok(());
        }
        (path, bytes) = back;
    }
    File::create_async(path).await?.write_all_async(&bytes).await
}

/// Copies a file with its permissions, replaces what is there, and returns the number of bytes. (As in the standard library
/// a file that is copied to itself becomes empty.) Where the file system can,
/// they are shared or copied by the kernel.
///
/// # Examples
/// ```
/// let copy = std::env::temp_dir().join(format!("lamprey-copy-{}", std::process::id()));
/// lamprey::run(|| {
///     let count = lamprey::fs::copy("Cargo.toml", &copy)?;
///     assert_eq!(lamprey::fs::metadata(&copy)?.len(), count);
///     lamprey::fs::remove_file(&copy)
/// })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's; `InvalidInput` if `from` is no regular file. Some of the bytes may have been written.
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything is written, or not at all: a copy that has begun goes on to its
/// end. In a simulation a part may have been written.
///
/// # Blocking
/// One thread of the pool copies all of it; only the calling host waits.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    if machine().is_none() {
        return block(|| copy_regular(from, to));
    }
    let found = can_be_copied(from, metadata(from)?)?;
    // In this order, as a file that is copied to itself becomes empty.
    let (mut source, mut target) = (File::open(from)?, File::create(to)?);
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    target.write_all(&bytes)?;
    target.set_permissions(found.permissions())?;
    Ok(bytes.len() as u64)
}

/// The awaitable form of [`copy`].
///
/// # Errors
/// As for `copy`.
///
/// # Cancellation
/// Nothing, some or all of the bytes may have been written: a copy that has begun goes on to its end.
pub async fn copy_async(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    if machine().is_none() {
        return block_async(move || copy_regular(&from, &to)).await;
    }
    let found = can_be_copied(&from, metadata_async(&from).await?)?;
    let (source, target) = (File::open_async(&from).await?, File::create_async(&to).await?);
    let mut bytes = Vec::new();
    source.read_to_end_async(&mut bytes).await?;
    target.write_all_async(&bytes).await?;
    target.set_permissions_async(found.permissions()).await?;
    Ok(bytes.len() as u64)
}

/// On the pool. A FIFO is not opened: nobody may ever write to it.
fn copy_regular(from: &Path, to: &Path) -> io::Result<u64> {
    let found = from.metadata()?;
    if !found.is_file() {
        return Err(no_regular_file(from, found.file_type()));
    }
    std::fs::copy(from, to)
}

fn no_regular_file(path: &Path, kind: impl std::fmt::Debug) -> io::Error {
    let text = format!("only regular files can be copied, and {path:?} is none: {kind:?}");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn can_be_copied(from: &Path, found: Metadata) -> io::Result<Metadata> {
    if found.is_file() {
        return Ok(found);
    }
    Err(no_regular_file(from, found.file_type()))
}
