//! The header of a stackless parasite, in front of its future: 32 bytes (56 with debug assertions). What
//! tokio calls the task header.
//!
//! # Invariants
//! 1. A task is in a block of one of its home worker's slabs ([`crate::memory::slab`], [`super::outside`]), from which the home is found:
//!    [`Task::home`].
//! 2. The future is touched only by the holder of the right to run ([`Life`]).
//! 3. `link` is used by at most one list at a time, as the state of [`Life`] says.
//!
//! # Who may touch what
//! | field | who |
//! |---|---|
//! | `link` | the thread that pushes the task into an inbox or another list, then that list's owner |
//! | `life` | any thread, as `sched::parasite::life` says |
//! | `life.flags` (constants below) | the holder of the right to run |
//! | `body` | constant |
//! | `completion` | as `sched::completion` says |

use super::life::Life;
use crate::queue::inbox::Linked;
use crate::sched::completion::Completion;
use crate::sched::hints::{Given, Hints};
#[cfg(not(loom))]
use crate::sched::parts::{Part, Parts, Told};
use crate::sched::waiter::Waiter;
use crate::sync_shim::Cell;
use std::ops::Range;
#[cfg(all(debug_assertions, not(loom)))]
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// The header of a stackless parasite.
#[repr(C)]
pub(crate) struct Task {
    pub(crate) link: Cell<*mut ()>,
    /// The second word of the block, which tells a live block from a free one.
    pub(crate) body: &'static TaskBody,
    pub(crate) life: Life,
    pub(crate) completion: Completion,
    /// Where it was spawned, for messages.
    #[cfg(all(debug_assertions, not(loom)))]
    pub(crate) spawn_site: &'static Location<'static>,
}

#[cfg(not(any(loom, debug_assertions)))]
const _: () = assert!(size_of::<Task>() == 32);

/// It is attached inside the call that unblocks it.
pub(crate) const INLINE: u8 = 1;
/// It gets a host of its own when it is woken next.
pub(crate) const HEAVY: u8 = 2;
/// It has a host of its own: `link` is that host's [`Waiter`].
pub(crate) const HOSTED: u8 = 4;
/// It has host-local values of its own (`thread::local`).
pub(crate) const LOCALS: u8 = 8;
/// Its outcome is an error.
pub(crate) const FAILED: u8 = 16;
/// It was placed from outside ([`super::outside`]), and its home worker has not counted it yet.
pub(crate) const SENT: u8 = 32;

/// The vtable of the object behind a header, provided by `crate::parasite`. No function unwinds.
pub(crate) struct TaskBody {
    /// Polls the future; true if it is ready: then the outcome is stored and the future dropped.
    pub(crate) poll: unsafe fn(NonNull<Task>) -> bool,
    /// Drops the future and stores `Cancelled` as the outcome.
    pub(crate) cancel: unsafe fn(NonNull<Task>),
    /// Drops an outcome that no handle will take.
    pub(crate) dispose: unsafe fn(NonNull<Task>),
    /// A result needs no destructor; an error does.
    pub(crate) is_plain: bool,
    /// Frees the memory.
    pub(crate) free: unsafe fn(NonNull<Task>),
    /// Makes a host that goes on with the task, on the worker behind the second pointer (this file does not
    /// know workers). Takes over the right to run.
    pub(crate) inflate: unsafe fn(NonNull<Task>, NonNull<()>),
    /// Where the outcome is, in bytes from the header.
    pub(crate) outcome: usize,
    /// Bytes from the header to the end of the future; 0 if the future is in another place.
    pub(crate) size: usize,
    /// The addresses of a future that is in another place.
    pub(crate) elsewhere: unsafe fn(NonNull<Task>) -> Range<usize>,
    /// The name of the future's type.
    pub(crate) name: fn() -> &'static str,
    /// Of a parasite that was given a name or a hint: the object that this table is a part of.
    pub(crate) named: Option<NamedPtr>,
}

/// The table of one parasite that was given a name or a hint: others have nothing to store.
pub(crate) struct Named {
    pub(crate) body: TaskBody,
    pub(crate) given: Arc<Given>,
}

/// Leaked when the parasite is placed, freed with its block.
#[derive(Clone, Copy)]
pub(crate) struct NamedPtr(pub(crate) NonNull<Named>);

// SAFETY: what it points to does not change, and may be read on any thread.
unsafe impl Send for NamedPtr {}
// SAFETY: what it points to does not change, and may be read on any thread.
unsafe impl Sync for NamedPtr {}

/// How a woken parasite gets to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// At the waker's next scheduling point.
    Soon,
    /// As the parasite was built: `Soon`, or `Inline` if it has the flag INLINE.
    AsTask,
    /// Inside the call that woke it, if the nesting bound and the stack allow.
    Inline,
    /// Inside the call, if the stack allows: the explicit `attach`.
    Now,
}

#[cfg(not(loom))]
impl Parts for Task {
    fn tell(&self, told: &mut Told<'_>) {
        if let Some(wait) = self.life.noted() {
            (told.0)(Part::Noted(wait, self.life.noted_origin()));
        }
    }
}

impl Task {
    /// The name that it was given.
    pub(crate) fn given_name(&self) -> Option<&Arc<str>> {
        self.given()?.name.as_ref()
    }

    /// What the program has said of it.
    pub(crate) fn hints(&self) -> &Hints {
        self.given().map_or(&Hints::NONE, |given| &given.hints)
    }

    fn given(&self) -> Option<&Given> {
        // SAFETY: it lives as long as the task, and does not change.
        self.body.named.map(|named| unsafe { &*named.0.as_ref().given })
    }

    /// The waiter of the host of a HOSTED task.
    pub(crate) fn host(&self) -> Waiter {
        let host = NonNull::new(self.link.get());
        Linked::from_raw(host.unwrap_or_else(|| crate::bug::bug!("a hosted task without its host")))
    }

    /// Drops a reference.
    ///
    /// # Safety
    /// The caller holds a reference, and gives it up.
    pub(crate) unsafe fn release(this: NonNull<Task>) {
        // SAFETY: the reference (contract) keeps it alive; freed if that was the last claim.
        unsafe {
            if this.as_ref().life.release() {
                (this.as_ref().body.free)(this);
            }
        }
    }

    /// Drops the structural claim, that of task and handle together.
    ///
    /// # Safety
    /// The completion word has given the object to the caller; its outcome has been taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn drop_owner(this: NonNull<Task>) {
        // SAFETY: the object belongs to the caller (contract), so it is alive; freed if there is no
        // reference.
        unsafe {
            if this.as_ref().life.drop_owner() {
                (this.as_ref().body.free)(this);
            }
        }
    }

    /// True if the object at `addr` is a part of the task's own future, and so is dropped before the task
    /// ends. A future that was polled inside it but is in another place (a box, say) may outlive it.
    ///
    /// # Safety
    /// The task is alive.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn contains(this: NonNull<Task>, addr: usize) -> bool {
        // SAFETY: alive (contract).
        let body = unsafe { this.as_ref() }.body;
        // SAFETY: alive (contract), which is what `elsewhere` needs.
        addr.wrapping_sub(this.addr().get()) < body.size
            || body.size == 0 && unsafe { (body.elsewhere)(this) }.contains(&addr)
    }
}
