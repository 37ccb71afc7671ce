//! Who is at the other end of a Unix stream.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The process at the other end of a Unix stream, as it was when it connected, listened or made the pair:
/// [`UnixStream::peer_cred`](super::UnixStream::peer_cred).
#[doc(alias = "UCred")]
#[doc(alias = "SO_PEERCRED")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PeerCred {
    uid: u32,
    gid: u32,
    pid: i32,
}

impl PeerCred {
    /// The effective user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The effective group.
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The process. `None` if this one cannot see it: it is in another PID namespace.
    pub fn pid(&self) -> Option<u32> {
        u32::try_from(self.pid).ok().filter(|&pid| pid != 0)
    }
}

/// Not by rustix, whose process numbers cannot be 0, as one of another namespace is.
pub(super) fn of(socket: BorrowedFd<'_>) -> io::Result<PeerCred> {
    let mut cred = MaybeUninit::<libc::ucred>::zeroed();
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is borrowed, and the pointers are to live locals, of which the kernel writes no more bytes
    // than `length` says.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            cred.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: three integers, which were zero before the kernel wrote to them.
    let libc::ucred { pid, uid, gid } = unsafe { cred.assume_init() };
    Ok(PeerCred { uid, gid, pid })
}
