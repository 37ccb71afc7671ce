//! What changes the names of files.

use super::simulated::{call, call_async};
use crate::world::disk::Call;
use std::io;
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
    call(Call::Write, |at, disks| disks.rename(at, from, to), || std::fs::rename(from, to))
}

/// The awaitable form of [`rename`].
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// It may have been renamed.
pub async fn rename_async(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let (old, new) = (from.to_owned(), to.to_owned());
    call_async(Call::Write, |at, disks| disks.rename(at, from, to), || std::fs::rename(old, new)).await
}

/// Calls that change one name: the blocking and the awaitable form.
macro_rules! changes {
    ($($(#[$docs:meta])* $name:ident $name_async:ident |$at:ident, $disks:ident, $path:ident| $call:expr;)*) => {
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
            call(Call::Write, |$at, $disks| $call, || std::fs::$name($path))
        }

        #[doc = concat!("The awaitable form of [`", stringify!($name), "`].")]
        ///
        /// # Errors
        /// The system's.
        ///
        /// # Cancellation
        /// It may have been done.
        pub async fn $name_async(path: impl AsRef<Path>) -> io::Result<()> {
            let $path = path.as_ref();
            let owned = $path.to_owned();
            call_async(Call::Write, |$at, $disks| $call, || std::fs::$name(owned)).await
        })*
    };
}

changes! {
    /// Removes a file. Who has it open can still use it.
    remove_file remove_file_async |at, disks, path| disks.remove(at, path, false);
    /// Removes an empty directory.
    remove_dir remove_dir_async |at, disks, path| disks.remove(at, path, true);
    /// Makes a directory, in one that is there.
    create_dir create_dir_async |at, disks, path| disks.create_directory(at, path, 0o777);
}
