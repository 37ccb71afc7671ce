//! What the kernel says when it has done an operation, and for whom that is: the number that travels with an entry
//! (`user_data`) is a pointer to the operation's record, with a tag in its low bits.
//!
//! | number | operation of |
//! |---|---|
//! | pointer | a blocked thread: its [`Call`](super::call::Call), on its stack |
//! | pointer + 1 | a future, or a multishot: a [`Header`], counted |
//! | [`WATCH`], [`BELL`] | the source itself: the epoll instance has events; another thread ends its wait |
//! | [`IGNORED`] | nobody |

use super::call;
use io_uring::cqueue;
use std::io;
use std::ptr::NonNull;

/// The epoll instance has events.
pub(super) const WATCH: u64 = 2;
/// Another thread ends the source's wait, this one or the next.
pub(super) const BELL: u64 = 10;
/// Nobody wants to know.
pub(super) const IGNORED: u64 = 6;
/// The tag of a [`Header`].
const COUNTED: u64 = 1;
const TAGS: u64 = 3;

/// The result of an operation, and the flags that came with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(super) result: i32,
    pub(super) flags: u32,
}

impl Answer {
    /// More completions of the operation will come.
    pub(super) fn is_to_go_on(self) -> bool {
        cqueue::more(self.flags)
    }

    /// It only says that the kernel has done with the memory.
    pub(super) fn is_release(self) -> bool {
        cqueue::notif(self.flags)
    }

    /// A count, a descriptor, or zero.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn value(self) -> io::Result<usize> {
        usize::try_from(self.result).map_err(|_| io::Error::from_raw_os_error(self.result.saturating_neg()))
    }

    /// The kernel has given the operation up before it had any effect.
    pub(crate) fn is_given_up(self) -> bool {
        matches!(-self.result, libc::ECANCELED | libc::EINTR)
    }

    /// As [`is_given_up`](Self::is_given_up), for an operation that counts when it is interrupted.
    pub(crate) fn is_not_begun(self) -> bool {
        self.result == -libc::ECANCELED
    }

    /// The socket has more to read.
    pub(crate) fn is_not_all(self) -> bool {
        cqueue::sock_nonempty(self.flags)
    }

    /// The number of the buffer that it is about.
    pub(super) fn buffer(self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }
}

/// A completion that has been taken and not been dispatched.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Completion {
    data: u64,
    pub(super) answer: Answer,
}

impl Completion {
    pub(super) fn new(entry: &cqueue::Entry) -> Self {
        // Of some operations the kernel lets out what it says within itself for an interrupted call (`ERESTARTSYS` and
        // the like).
        let is_interrupted = matches!(-entry.result(), 512 | 513 | 514 | 516);
        let result = if is_interrupted { -libc::EINTR } else { entry.result() };
        Self { data: entry.user_data(), answer: Answer { result, flags: entry.flags() } }
    }

    /// The completion of an operation that the kernel has not seen.
    pub(super) fn withdrawn(data: u64) -> Self {
        Self { data, answer: Answer { result: -libc::ECANCELED, flags: 0 } }
    }

    /// What the source itself wants to know ([`WATCH`] or [`BELL`]), and whether more of that will come.
    pub(super) fn of_source(&self) -> Option<(u64, bool)> {
        matches!(self.data, WATCH | BELL).then(|| (self.data, self.answer.is_to_go_on()))
    }
}

/// The record of an operation that its waiter may leave.
pub(super) struct Header {
    /// Takes the answer, and the count that the kernel had unless more answers will come.
    pub(super) complete: unsafe fn(NonNull<Header>, Answer),
}

/// The number of a counted record. The kernel has a count of it until the last answer.
pub(super) fn data_of_header(header: NonNull<Header>) -> u64 {
    header.as_ptr().expose_provenance() as u64 | COUNTED
}

/// Gives the answers to those who wait for them.
pub(super) fn dispatch(found: &mut Vec<Completion>) {
    crate::sched::count_io_events(found.len());
    for Completion { data, answer } in found.drain(..) {
        let pointer = NonNull::new(std::ptr::with_exposed_provenance_mut::<()>((data & !TAGS) as usize));
        match (data & TAGS, pointer) {
            // SAFETY: the record of a thread that waits for this answer; each is taken once.
            (0, Some(call)) => unsafe { call::complete(call.cast(), answer) },
            // SAFETY: a record that the kernel had a count of until this, its last answer.
            (COUNTED, Some(header)) => unsafe {
                let header = header.cast::<Header>();
                (header.as_ref().complete)(header, answer);
            },
            _ => {}
        }
    }
}
