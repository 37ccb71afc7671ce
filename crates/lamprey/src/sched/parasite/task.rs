//! What the scheduler knows of a stackless parasite: a header of 32 bytes in front of its future (40 where
//! debug assertions are on).
//!
//! # Invariants
//! 1. A task lies in a block of its home worker's slab ([`crate::memory::slab`]), which knows the home:
//!    [`Task::home`].
//! 2. The future is touched only by the holder of the right to run ([`Life`]).
//! 3. `link` is used by at most one list at a time: the one that [`Life`] says.
//!
//! # Who may touch what
//! | field | who |
//! |---|---|
//! | `link` | whoever has pushed the task into an inbox or the list of those that gave way, then that list's owner |
//! | `life` | see there; `life.flags` (below): the holder of the right to run |
//! | `body`, `completion` | constant; see `sched::completion` |

use super::life::Life;
use crate::queue::inbox::Linked;
use crate::sched::completion::Completion;
use crate::sched::waiter::Waiter;
use crate::sync_shim::Cell;
use std::ops::Range;
#[cfg(all(debug_assertions, not(loom)))]
use std::panic::Location;
use std::ptr::NonNull;

/// See the module's text.
#[repr(C)]
pub(crate) struct Task {
    pub(crate) link: Cell<*mut ()>,
    /// The second word of the block: what tells a live block from a free one.
    pub(crate) body: &'static TaskBody,
    pub(crate) life: Life,
    pub(crate) completion: Completion,
    /// For messages.
    #[cfg(all(debug_assertions, not(loom)))]
    pub(crate) spawn_site: &'static Location<'static>,
}

#[cfg(not(any(loom, debug_assertions)))]
const _: () = assert!(size_of::<Task>() == 32);

/// It is attached within the call that unblocks it.
pub(crate) const INLINE: u8 = 1;
/// When it is woken next, it gets a host of its own.
pub(crate) const HEAVY: u8 = 2;
/// It has a host of its own: `link` is that host's [`Waiter`].
pub(crate) const HOSTED: u8 = 4;
/// It has values of its own (`thread::local`).
pub(crate) const LOCALS: u8 = 8;

/// What the object behind a header can do; the room `parasite` provides it. None unwinds.
pub(crate) struct TaskBody {
    /// Polls the future; true if that is over, its outcome kept, and the future dropped.
    pub(crate) poll: unsafe fn(NonNull<Task>) -> bool,
    /// Drops the future and keeps `Cancelled` as the outcome.
    pub(crate) cancel: unsafe fn(NonNull<Task>),
    /// Drops the outcome that nobody will have.
    pub(crate) dispose: unsafe fn(NonNull<Task>),
    /// Frees the memory.
    pub(crate) free: unsafe fn(NonNull<Task>),
    /// Makes a host that goes on with it, on the worker behind the second pointer (this file does not know
    /// workers). Takes the right to run over.
    pub(crate) inflate: unsafe fn(NonNull<Task>, NonNull<()>),
    /// Where the outcome is, in bytes from the header.
    pub(crate) outcome: usize,
    /// Bytes from the header to the end of the future; 0 if that lies elsewhere.
    pub(crate) size: usize,
    /// Where it lies then: the addresses.
    pub(crate) elsewhere: unsafe fn(NonNull<Task>) -> Range<usize>,
    /// What the future is called.
    pub(crate) name: fn() -> &'static str,
}

/// How a woken parasite is brought to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// At the waker's next scheduling point.
    Soon,
    /// As the parasite was built: the one or the other.
    AsTask,
    /// Within the call that woke it, if the nesting bound and the stack allow.
    Inline,
    /// Within the call, if the stack allows: the explicit `attach`.
    Now,
}

impl Task {
    /// The host of a HOSTED task.
    pub(crate) fn host(&self) -> Waiter {
        let host = NonNull::new(self.link.get());
        Linked::from_raw(host.unwrap_or_else(|| crate::bug::bug!("a hosted task without its host")))
    }

    /// Drops a reference.
    ///
    /// # Safety
    /// The caller gives up one that it holds.
    pub(crate) unsafe fn release(this: NonNull<Task>) {
        // SAFETY: alive by the reference; freed if that was the last claim.
        unsafe {
            if this.as_ref().life.release() {
                (this.as_ref().body.free)(this);
            }
        }
    }

    /// Drops the claim of task and handle together.
    ///
    /// # Safety
    /// The completion word has given the object to the caller; its outcome has been taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn drop_owner(this: NonNull<Task>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if this.as_ref().life.drop_owner() {
                (this.as_ref().body.free)(this);
            }
        }
    }

    /// True if the object at `addr` is a part of the task's own future, and so is dropped before the task
    /// ends. A future that was polled within it but lies elsewhere (in a box, say) may outlast it.
    ///
    /// # Safety
    /// The task is alive.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn contains(this: NonNull<Task>, addr: usize) -> bool {
        // SAFETY: alive (contract).
        let body = unsafe { this.as_ref() }.body;
        // SAFETY: as above.
        addr.wrapping_sub(this.addr().get()) < body.size
            || body.size == 0 && unsafe { (body.elsewhere)(this) }.contains(&addr)
    }
}
