//! Permissions and times.

use super::File;
use super::simulated::{call, call_async};
use crate::world::disk::Call;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

/// The times of a file that [`File::set_times`] sets: [`std::fs::FileTimes`], which no simulation could read.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileTimes {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
}

impl FileTimes {
    /// None: they stay as they are.
    pub fn new() -> Self {
        Self::default()
    }

    /// When it was last read.
    #[must_use]
    pub fn set_accessed(mut self, at: SystemTime) -> Self {
        self.accessed = Some(at);
        self
    }

    /// When its content was last changed.
    #[must_use]
    pub fn set_modified(mut self, at: SystemTime) -> Self {
        self.modified = Some(at);
        self
    }

    fn of_std(self) -> std::fs::FileTimes {
        let times = std::fs::FileTimes::new();
        let times = self.accessed.map_or(times, |at| times.set_accessed(at));
        self.modified.map_or(times, |at| times.set_modified(at))
    }
}

/// Sets who may do what with a file; with the one that a symbolic link points to.
///
/// # Examples
/// ```
/// use std::os::unix::fs::PermissionsExt;
/// let path = std::env::temp_dir().join(format!("lamprey-mode-{}", std::process::id()));
/// lamprey::run(|| {
///     lamprey::fs::write(&path, "#!/bin/sh\n")?;
///     lamprey::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
///     assert_eq!(lamprey::fs::metadata(&path)?.mode() & 0o777, 0o755);
///     lamprey::fs::remove_file(&path)
/// })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's. (A simulated disk keeps permissions, and forbids nothing by them.)
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything has changed, or not at all.
///
/// # Blocking
/// As for [`rename`](super::rename).
pub fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let (path, mode) = (path.as_ref(), permissions.mode());
    let real = || std::fs::set_permissions(path, permissions);
    call(Call::Write, |at, disks| disks.set_mode(at, path, mode), real)
}

/// The awaitable form of [`set_permissions`].
///
/// # Errors
/// As for `set_permissions`.
///
/// # Cancellation
/// They may have been set.
pub async fn set_permissions_async(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let (path, mode) = (path.as_ref(), permissions.mode());
    let owned = path.to_owned();
    let real = move || std::fs::set_permissions(owned, permissions);
    call_async(Call::Write, |at, disks| disks.set_mode(at, path, mode), real).await
}

impl File {
    /// Sets who may do what with the file. Descriptors that are open keep what they may do.
    ///
    /// # Errors
    /// As for [`set_permissions`].
    ///
    /// # Cancellation
    /// As for `set_permissions`.
    ///
    /// # Blocking
    /// As for `set_permissions`.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        let mode = permissions.mode();
        let real = |file: &std::fs::File| file.set_permissions(permissions);
        self.call(Call::Write, |(world, key), disks| disks.set_mode_of(world, key, mode), real)
    }

    /// The awaitable form of [`set_permissions`](Self::set_permissions).
    ///
    /// # Errors
    /// As for `set_permissions`.
    ///
    /// # Cancellation
    /// They may have been set.
    pub async fn set_permissions_async(&self, permissions: Permissions) -> io::Result<()> {
        let mode = permissions.mode();
        let real = move |file: &std::fs::File| file.set_permissions(permissions);
        self.call_async(Call::Write, |(world, key), disks| disks.set_mode_of(world, key, mode), real).await
    }

    /// Sets when the file was last read, last changed, or both.
    ///
    /// # Examples
    /// ```
    /// use lamprey::fs::{self, File, FileTimes};
    /// use std::time::{Duration, SystemTime};
    ///
    /// let path = std::env::temp_dir().join(format!("lamprey-times-{}", std::process::id()));
    /// let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    /// lamprey::run(|| {
    ///     let file = File::create(&path)?;
    ///     file.set_times(FileTimes::new().set_modified(long_ago))?;
    ///     assert_eq!(file.metadata()?.modified()?, long_ago);
    ///     fs::remove_file(&path)
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here before anything has changed, or not at all.
    ///
    /// # Blocking
    /// As for [`rename`](super::rename).
    pub fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let both = [times.accessed, times.modified];
        let real = |file: &std::fs::File| file.set_times(times.of_std());
        self.call(Call::Write, |(world, key), disks| disks.set_times(world, key, both), real)
    }

    /// The awaitable form of [`set_times`](Self::set_times).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// They may have been set.
    pub async fn set_times_async(&self, times: FileTimes) -> io::Result<()> {
        let both = [times.accessed, times.modified];
        let real = move |file: &std::fs::File| file.set_times(times.of_std());
        self.call_async(Call::Write, |(world, key), disks| disks.set_times(world, key, both), real).await
    }

    /// Sets when the content was last changed: [`set_times`](Self::set_times) with that only.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// As for `set_times`.
    ///
    /// # Blocking
    /// As for `set_times`.
    pub fn set_modified(&self, at: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(at))
    }

    /// The awaitable form of [`set_modified`](Self::set_modified).
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// It may have been set.
    pub async fn set_modified_async(&self, at: SystemTime) -> io::Result<()> {
        self.set_times_async(FileTimes::new().set_modified(at)).await
    }
}
