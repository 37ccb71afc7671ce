//! Links, and the path of a file without them.

use super::simulated::{call, call_async};
use crate::world::disk::{Call, Disks};
use crate::world::{MachineId, World};
use rustix::io::Errno;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// What a simulated disk says of links.
fn has_no_links(new: &Path) -> io::Error {
    io::Error::new(
        ErrorKind::Unsupported,
        format!(
            "a simulated disk has no links, and so not {new:?}: copy the file there, with lamprey::fs::copy"
        ),
    )
}

/// Calls that make a link: the blocking and the awaitable form.
macro_rules! makes_links {
    ($($(#[$docs:meta])* $name:ident $name_async:ident $real:path;)*) => {
        $($(#[$docs])*
        ///
        /// # Errors
        /// The system's; `Unsupported` in a simulation, whose disks have no links.
        ///
        /// # Cancellation
        /// A cancelled thread unwinds from here before the link is made, or not at all.
        ///
        /// # Blocking
        /// As for [`rename`](super::rename).
        pub fn $name(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
            let (original, link) = (original.as_ref(), link.as_ref());
            call(Call::Write, |_, _| Err(has_no_links(link)), || $real(original, link))
        }

        #[doc = concat!("The awaitable form of [`", stringify!($name), "`].")]
        ///
        /// # Errors
        #[doc = concat!("As for `", stringify!($name), "`.")]
        ///
        /// # Cancellation
        /// The link may have been made.
        pub async fn $name_async(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
            let (original, link) = (original.as_ref().to_owned(), link.as_ref());
            let new = link.to_owned();
            call_async(Call::Write, |_, _| Err(has_no_links(link)), || $real(original, new)).await
        })*
    };
}

makes_links! {
    /// Makes a second name for a file, in the same file system.
    hard_link hard_link_async std::fs::hard_link;
    /// Makes a symbolic link, which holds the path `original`, whether there is something or not. (That of
    /// [`std::os::unix::fs`].)
    ///
    /// # Examples
    /// ```
    /// let link = std::env::temp_dir().join(format!("lamprey-link-{}", std::process::id()));
    /// lamprey::run(|| {
    ///     lamprey::fs::symlink("/somewhere", &link)?;
    ///     assert_eq!(lamprey::fs::read_link(&link)?, std::path::Path::new("/somewhere"));
    ///     lamprey::fs::remove_file(&link)
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    symlink symlink_async std::os::unix::fs::symlink;
}

/// The path that a symbolic link holds.
///
/// # Errors
/// The system's; `InvalidInput` if it is no symbolic link, as all that a simulated disk has.
///
/// # Cancellation
/// A dropped or unwound call has no effect.
///
/// # Blocking
/// As for [`rename`](super::rename).
pub fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    call(Call::Read, |at, disks| is_no_link(at, disks, path), || std::fs::read_link(path))
}

/// The awaitable form of [`read_link`].
///
/// # Errors
/// As for `read_link`.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn read_link_async(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    let owned = path.to_owned();
    call_async(Call::Read, |at, disks| is_no_link(at, disks, path), || std::fs::read_link(owned)).await
}

/// The path from the root to a file that is there, without symbolic links, `.` and `..`.
///
/// # Examples
/// ```
/// let path = lamprey::run(|| lamprey::fs::canonicalize("./Cargo.toml"))?;
/// assert!(path.is_absolute() && path.ends_with("Cargo.toml"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's.
///
/// # Cancellation
/// A dropped or unwound call has no effect.
///
/// # Blocking
/// As for [`rename`](super::rename).
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    call(Call::Read, |at, disks| without_dots(at, disks, path), || std::fs::canonicalize(path))
}

/// The awaitable form of [`canonicalize`].
///
/// # Errors
/// As for `canonicalize`.
///
/// # Cancellation
/// A dropped future has no effect.
pub async fn canonicalize_async(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    let owned = path.to_owned();
    call_async(Call::Read, |at, disks| without_dots(at, disks, path), || std::fs::canonicalize(owned)).await
}

/// What a simulated disk has is no link.
fn is_no_link((world, at): (&World, MachineId), disks: &Disks, path: &Path) -> io::Result<PathBuf> {
    disks.stat_path(world, at, path)?;
    Err(Errno::INVAL.into())
}

/// The path without dots, which is all that a simulated disk has to take away. A relative one begins at the root.
fn without_dots((world, at): (&World, MachineId), disks: &Disks, path: &Path) -> io::Result<PathBuf> {
    disks.stat_path(world, at, path)?;
    let mut found = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => found.push(name),
            Component::ParentDir => _ = found.pop(),
            _ => {}
        }
    }
    Ok(found)
}
