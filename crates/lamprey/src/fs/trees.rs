//! Directories with what leads to them, and with all that is in them.

use super::simulated::{call, call_async, machine};
use super::{metadata, metadata_async, read_dir, read_dir_async, symlink_metadata, symlink_metadata_async};
use super::{remove_dir, remove_dir_async, remove_file, remove_file_async};
use crate::driver::{block, block_async};
use crate::world::disk::Call;
use rustix::io::Errno;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::pin::Pin;

/// How directories are made: [`std::fs::DirBuilder`], with the `mode` of [`DirBuilderExt`].
///
/// # Examples
/// ```
/// let private = std::env::temp_dir().join(format!("lamprey-private-{}/a/b", std::process::id()));
/// lamprey::run(|| lamprey::fs::DirBuilder::new().recursive(true).mode(0o700).create(&private))?;
/// assert!(private.is_dir());
/// # std::fs::remove_dir_all(private.ancestors().nth(2).unwrap())?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct DirBuilder {
    recursive: bool,
    mode: u32,
}

impl Default for DirBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl DirBuilder {
    /// One directory, whose permissions are 0o777, less what the process's mask takes away.
    pub fn new() -> Self {
        Self { recursive: false, mode: 0o777 }
    }

    /// Whether those that lead to it are made, too; then it is no error if they are there.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// The permissions of directories that are made, less what the process's mask takes away.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here before anything has changed, or not at all. In a simulation some of several
    /// directories may have been made.
    ///
    /// # Blocking
    /// As for [`rename`](super::rename).
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (path, mode) = (path.as_ref(), self.mode);
        if self.recursive && machine().is_some() {
            return self.create_all(path);
        }
        call(Call::Write, |at, disks| disks.create_directory(at, path, mode), || self.of_std().create(path))
    }

    /// The awaitable form of [`create`](Self::create).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// It may have been made, or some of several.
    pub async fn create_async(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (path, mode) = (path.as_ref(), self.mode);
        if self.recursive && machine().is_some() {
            return self.create_all_async(path).await;
        }
        let (builder, owned) = (self.of_std(), path.to_owned());
        let real = move || builder.create(owned);
        call_async(Call::Write, |at, disks| disks.create_directory(at, path, mode), real).await
    }

    fn of_std(&self) -> std::fs::DirBuilder {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive).mode(self.mode);
        builder
    }

    /// With those that lead to it, on a simulated disk, as the standard library does it.
    fn create_all(&self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        match self.clone().recursive(false).create(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.create_all(path.parent().ok_or(error)?)?;
                self.create_all(path)
            }
            Err(error) => is_one(error, metadata(path)),
            done => done,
        }
    }

    fn create_all_async<'a>(&'a self, path: &'a Path) -> Recursion<'a> {
        Box::pin(async move {
            if path.as_os_str().is_empty() {
                return Ok(());
            }
            match self.clone().recursive(false).create_async(path).await {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.create_all_async(path.parent().ok_or(error)?).await?;
                    self.create_all_async(path).await
                }
                Err(error) => is_one(error, metadata_async(path).await),
                done => done,
            }
        })
    }
}

type Recursion<'a> = Pin<Box<dyn Future<Output = io::Result<()>> + Send + 'a>>;

/// A directory that could not be made is no error if there is one.
fn is_one(error: io::Error, found: io::Result<super::Metadata>) -> io::Result<()> {
    if found.is_ok_and(|found| found.is_dir()) { Ok(()) } else { Err(error) }
}

/// Makes a directory, and those that lead to it. It is no error if they are there.
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// Some of them may have been made.
///
/// # Blocking
/// As for [`rename`](super::rename).
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// The awaitable form of [`create_dir_all`].
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// Some of them may have been made.
pub async fn create_dir_all_async(path: impl AsRef<Path>) -> io::Result<()> {
    DirBuilder::new().recursive(true).create_async(path).await
}

/// Removes a directory and all that is in it. Symbolic links are removed, and not followed.
///
/// # Errors
/// The system's; some of it may have been removed.
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything is removed, or not at all: a call that has begun goes on to its
/// end. In a simulation some of it may have been removed.
///
/// # Blocking
/// One thread of the pool does all of it; only the calling host waits.
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if machine().is_none() {
        return block(|| std::fs::remove_dir_all(path));
    }
    if !symlink_metadata(path)?.is_dir() {
        return Err(Errno::NOTDIR.into());
    }
    for entry in read_dir(path)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => remove_dir_all(entry.path())?,
            false => remove_file(entry.path())?,
        }
    }
    remove_dir(path)
}

/// The awaitable form of [`remove_dir_all`].
///
/// # Errors
/// As for `remove_dir_all`.
///
/// # Cancellation
/// Nothing, some or all of it may have been removed: a call that has begun goes on to its end.
pub async fn remove_dir_all_async(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if machine().is_some() {
        return remove_all_async(path).await;
    }
    let path = path.to_owned();
    block_async(move || std::fs::remove_dir_all(path)).await
}

/// On a simulated disk.
fn remove_all_async(path: &Path) -> Recursion<'_> {
    Box::pin(async move {
        if !symlink_metadata_async(path).await?.is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        let mut entries = read_dir_async(path).await?;
        while let Some(entry) = entries.next_entry_async().await? {
            match entry.file_type()?.is_dir() {
                true => remove_all_async(&entry.path()).await?,
                false => remove_file_async(entry.path()).await?,
            }
        }
        remove_dir_async(path).await
    })
}
