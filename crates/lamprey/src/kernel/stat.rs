//! What the file system knows of a file.

use super::{Refused, is_refused};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Of the file at `path`, seen from `fd`; `flags` are those of `statx`.
///
/// # Errors
/// The kernel's.
pub(crate) fn stat(fd: BorrowedFd<'_>, path: &CStr, flags: i32) -> io::Result<libc::statx> {
    static REFUSED: Refused = Refused::unknown();
    if REFUSED.is_known() {
        return by_older_call(fd, path, flags);
    }
    let mut place = MaybeUninit::<libc::statx>::zeroed();
    let mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    // SAFETY: the path ends with a zero, and the place has room for what the call writes.
    if unsafe { libc::statx(fd.as_raw_fd(), path.as_ptr(), flags, mask, place.as_mut_ptr()) } == 0 {
        // SAFETY: zeros are a valid value, and the call has written one over them.
        return Ok(unsafe { place.assume_init() });
    }
    let error = io::Error::last_os_error();
    let nothing = [-1, 0, libc::AT_EMPTY_PATH as isize, 0, 0, 0];
    // A file system may say it, too.
    if !Errno::from_io_error(&error).is_some_and(|error| is_refused(error, libc::SYS_statx, nothing)) {
        return Err(error);
    }
    REFUSED.note();
    by_older_call(fd, path, flags)
}

/// As [`stat`], without what the older call does not know.
fn by_older_call(fd: BorrowedFd<'_>, path: &CStr, flags: i32) -> io::Result<libc::statx> {
    let mut place = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the path ends with a zero, and the place has room for what the call writes.
    if unsafe { libc::fstatat(fd.as_raw_fd(), path.as_ptr(), place.as_mut_ptr(), flags) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeros are a valid value, and the call has written one over them.
    let found = unsafe { place.assume_init() };
    // SAFETY: numbers, of which zeros are valid values.
    let mut all: libc::statx = unsafe { MaybeUninit::zeroed().assume_init() };
    all.stx_mask = libc::STATX_BASIC_STATS;
    all.stx_mode = found.st_mode as u16;
    all.stx_ino = found.st_ino;
    #[allow(clippy::unnecessary_cast, reason = "64 bits on x86-64, 32 on AArch64")]
    let links = found.st_nlink as u32;
    all.stx_nlink = links;
    (all.stx_uid, all.stx_gid) = (found.st_uid, found.st_gid);
    all.stx_size = found.st_size.cast_unsigned();
    all.stx_blksize = found.st_blksize as u32;
    all.stx_blocks = found.st_blocks.cast_unsigned();
    (all.stx_dev_major, all.stx_dev_minor) = (libc::major(found.st_dev), libc::minor(found.st_dev));
    (all.stx_rdev_major, all.stx_rdev_minor) = (libc::major(found.st_rdev), libc::minor(found.st_rdev));
    (all.stx_atime.tv_sec, all.stx_atime.tv_nsec) = (found.st_atime, found.st_atime_nsec as u32);
    (all.stx_mtime.tv_sec, all.stx_mtime.tv_nsec) = (found.st_mtime, found.st_mtime_nsec as u32);
    (all.stx_ctime.tv_sec, all.stx_ctime.tv_nsec) = (found.st_ctime, found.st_ctime_nsec as u32);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::CWD;

    #[test]
    fn the_older_call_says_what_the_newer_one_says() {
        for (path, flags) in [
            (c"/proc/self/exe", 0),
            (c"/proc/self/exe", libc::AT_SYMLINK_NOFOLLOW),
            (c"/dev/null", 0),
            (c"/", 0),
        ] {
            let (new, old) = (stat(CWD, path, flags).unwrap(), by_older_call(CWD, path, flags).unwrap());
            let numbers = |of: &libc::statx| {
                let device = (of.stx_dev_major, of.stx_dev_minor, of.stx_rdev_major, of.stx_rdev_minor);
                let times = [of.stx_mtime, of.stx_ctime].map(|at| (at.tv_sec, at.tv_nsec));
                let sizes = (of.stx_size, of.stx_blksize, of.stx_blocks);
                (of.stx_mode, of.stx_ino, of.stx_nlink, of.stx_uid, of.stx_gid, sizes, device, times)
            };
            assert_eq!(numbers(&new), numbers(&old), "{path:?} {flags}");
        }
        let file = std::fs::File::open("/dev/null").unwrap();
        let of_file = by_older_call(std::os::fd::AsFd::as_fd(&file), c"", libc::AT_EMPTY_PATH).unwrap();
        assert_eq!(u32::from(of_file.stx_mode) & libc::S_IFMT, libc::S_IFCHR);
        assert_eq!(by_older_call(CWD, c"/nowhere", 0).unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }
}
