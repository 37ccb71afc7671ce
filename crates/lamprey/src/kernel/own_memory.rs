//! Reading memory of this process that may not be there.

use super::{Refused, may_be_refusal};
use rustix::io::Errno;

/// The most pieces that one call copies.
pub(crate) const PIECES: usize = 17;

/// Copies `pieces`, of which none crosses a page boundary, one after the other to the beginning of `into`, up to the first one that
/// cannot be read; returns the number of bytes copied. Async-signal-safe, and leaves `errno` as it is.
pub(crate) fn copy(pieces: &[libc::iovec], into: &mut [u8]) -> usize {
    static REFUSED: Refused = Refused::unknown();
    // SAFETY: the address of this thread's `errno`, which is read and written by this thread only. It is restored: the caller may
    // have interrupted code that is about to read it.
    let errno = unsafe { *libc::__errno_location() };
    let copied = match if REFUSED.is_known() { Err(Errno::NOSYS) } else { by_one_call(pieces, into) } {
        Ok(count) => count,
        // The call has none of these errors itself: the process is its own.
        Err(error) if may_be_refusal(error) => {
            REFUSED.note();
            by_pipe(pieces, into)
        }
        Err(_) => 0,
    };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    copied
}

fn by_one_call(pieces: &[libc::iovec], into: &mut [u8]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // The flags are passed as a whole word: a variadic argument on the stack that is half a word leaves the other half undefined.
    let (call, count, flags) = (libc::SYS_process_vm_readv, pieces.len(), 0_usize);
    // SAFETY: writes into `into`, at most its length; reads `local` and the pieces, and memory that the process may read.
    let copied = unsafe {
        libc::syscall(call, libc::getpid(), &raw const local, 1_usize, pieces.as_ptr(), count, flags)
    };
    // SAFETY: this thread's `errno`.
    usize::try_from(copied).map_err(|_| Errno::from_raw_os_error(unsafe { *libc::__errno_location() }))
}

/// As [`copy`], by writing each piece into a pipe, which has room for a page: the kernel says `EFAULT` where it cannot read.
fn by_pipe(pieces: &[libc::iovec], into: &mut [u8]) -> usize {
    let mut ends = [-1; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
        return 0;
    }
    let [read, write] = ends;
    let mut done = 0;
    for piece in pieces {
        // SAFETY: the kernel checks the memory that it reads.
        let written = unsafe { libc::write(write, piece.iov_base, piece.iov_len) };
        let Ok(written) = usize::try_from(written) else { break };
        let room = &mut into[done..done + written];
        // SAFETY: writes into `room`, at most its length. That is what the pipe has.
        let fetched = unsafe { libc::read(read, room.as_mut_ptr().cast(), room.len()) };
        done += usize::try_from(fetched).unwrap_or(0);
        if written < piece.iov_len {
            break;
        }
    }
    for end in ends {
        // SAFETY: opened above, and not used again.
        unsafe { libc::close(end) };
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "makes system calls of its own")]
    fn a_pipe_copies_what_one_call_copies() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
        let piece =
            |part: &[u8]| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() };
        let nowhere = libc::iovec { iov_base: std::ptr::without_provenance_mut(8), iov_len: 8 };
        let cases = [
            vec![piece(&bytes)],
            vec![piece(&bytes[..10]), piece(&bytes[100..300])],
            vec![piece(&bytes[..10]), nowhere, piece(&bytes[..10])],
            vec![nowhere],
        ];
        for pieces in cases {
            let (mut one, mut other) = ([0; 4096], [0; 4096]);
            let copied = copy(&pieces, &mut one);
            assert_eq!(by_pipe(&pieces, &mut other), copied);
            assert_eq!(one, other);
        }
    }
}
