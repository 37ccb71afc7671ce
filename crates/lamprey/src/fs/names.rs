//! What changes the names of files.

use super::simulated::{machine, on_disk, on_disk_async};
use crate::driver::{block, block_async};
use crate::world::disk::Call;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Renames a file or a directory. If `to` is there, it is replaced, and nobody finds none or half of it meanwhile.
///
/// So that the new name is there after the machine has failed, sync the directory afterwards; and the file before, so that
/// it has its content then.
///
/// # Examples
/// Replacing a file, so that there is always the old one or the new one, whole:
/// ```
/// use lamprey::fs::{self, File};
/// use std::{io::Write, path::Path};
///
/// fn replace(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
///     let draft = directory.join("draft");
///     let mut file = File::create(&draft)?;
///     file.write_all(bytes)?;
///     file.sync_all()?;
///     fs::rename(&draft, directory.join(name))?;
///     File::open(directory)?.sync_all()
/// }
/// # let directory = std::env::temp_dir().join(format!("lamprey-rename-{}", std::process::id()));
/// # lamprey::run(|| {
/// # fs::create_dir(&directory)?;
/// replace(&directory, "settings", b"a = 1")?;
/// assert_eq!(fs::read_to_string(directory.join("settings"))?, "a = 1");
/// # std::fs::remove_dir_all(&directory)?;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A cancelled thread unwinds from here before anything is renamed, or not at all.
///
/// # Blocking
/// The call is made on the blocking pool; only the calling host waits.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    match machine() {
        Some(at) => on_disk(at, Call::Write, |world, disks| disks.rename((world, at), from, to)),
        None => block(|| std::fs::rename(from, to)),
    }
}

/// The awaitable form of [`rename`].
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// It may have been renamed.
pub async fn rename_async(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    match machine() {
        Some(at) => {
            on_disk_async(at, Call::Write, |world, disks| disks.rename((world, at), &from, &to)).await
        }
        None => block_async(move || std::fs::rename(from, to)).await,
    }
}

/// Calls that change one name: the blocking and the awaitable form.
macro_rules! changes {
    ($($(#[$docs:meta])* $name:ident $name_async:ident |$world:ident, $disks:ident, $at:ident, $path:ident| $call:expr;)*) => {
        $($(#[$docs])*
        ///
        /// # Errors
        /// The system's.
        ///
        /// # Cancellation
        /// A cancelled thread unwinds from here before anything has changed, or not at all.
        ///
        /// # Blocking
        /// As for [`rename`].
        pub fn $name(path: impl AsRef<Path>) -> io::Result<()> {
            let $path = path.as_ref();
            match machine() {
                Some($at) => on_disk($at, Call::Write, |$world, $disks| $call),
                None => block(|| std::fs::$name($path)),
            }
        }

        #[doc = concat!("The awaitable form of [`", stringify!($name), "`].")]
        ///
        /// # Errors
        /// The system's.
        ///
        /// # Cancellation
        /// It may have been done.
        pub async fn $name_async(path: impl AsRef<Path>) -> io::Result<()> {
            let path = path.as_ref().to_owned();
            match machine() {
                Some($at) => {
                    let $path = &path;
                    on_disk_async($at, Call::Write, |$world, $disks| $call).await
                }
                None => block_async(move || std::fs::$name(path)).await,
            }
        })*
    };
}

changes! {
    /// Removes a file. Who has it open can still use it.
    remove_file remove_file_async |world, disks, at, path| disks.remove((world, at), path, false);
    /// Removes an empty directory.
    remove_dir remove_dir_async |world, disks, at, path| disks.remove((world, at), path, true);
    /// Makes a directory, in one that is there.
    create_dir create_dir_async |world, disks, at, path| disks.create_directory((world, at), path);
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
/// As for [`rename`].
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if machine().is_none() {
        return block(|| std::fs::create_dir_all(path));
    }
    match create_dir(path) {
        _ if path.as_os_str().is_empty() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_dir_all(path.parent().ok_or(error)?)?;
            create_dir_all(path)
        }
        Err(error) if super::metadata(path).is_ok_and(|found| found.is_dir()) => {
            drop(error);
            Ok(())
        }
        done => done,
    }
}
