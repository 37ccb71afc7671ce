//! Who may run a stackless parasite: its life as a small state machine, shared by those who wake it, run it
//! and cancel it.
//!
//! # States
//! ```text
//! placed: RUNNING ---finish---> DONE
//!           |  ^
//!   end (pending)|  begin
//!           v  |
//!         IDLE --wake--> QUEUED        the waker now holds the right to run it
//!         IDLE --cancel--> RUNNING     the canceller now holds it, and drops the future
//! RUNNING --wake--> RUNNING|WOKEN --end--> QUEUED   the runner keeps the right
//! QUEUED, RUNNING --cancel--> ..|CANCEL             the holder of the right drops the future
//! ```
//!
//! # Two modes
//! * **Shared** (a `Send` parasite in a runtime of several workers): the state is the atomic `shared`, any
//!   kernel thread changes it.
//! * **Owned** (all others): the state is the plain `local`, and only the home worker changes it: no atomic
//!   operation in the whole life of a parasite that stays at home. Who wakes or cancels it from elsewhere
//!   leaves a note in `shared` and sends the task itself through the home's inbox ([`Wake::Post`]).
//!
//! # Invariants
//! 1. **One right**: while QUEUED or RUNNING exactly one party holds the right to run; it came from `place`,
//!    `wake`, `end` or `cancel`, and only its holder touches the future.
//! 2. Owned: POSTED means that the task is in the home's inbox, or (with LINKED) in the home's list of those
//!    that gave way, or on its way into the inbox: its link is in use, and nobody else pushes it.
//! 3. A reference (`refs`) is held by each foreign `Waker`, by each task in an inbox as a post, and by a
//!    joiner's entry. A wait node holds none: the node's owner does not free the task before the node has
//!    been released ([`channel::meeting`](crate::channel)).
//! 4. The memory is freed once: by the structural owner (task and handle, see `sched::completion`) if there
//!    is no reference, else by whoever drops the last one after ORPHAN.
//!
//! # Who may touch what
//! `local`: the home worker. `shared`, `refs`: anyone who is sure that the task is alive (invariant 3).
//!
//! # Orderings
//! Every change of `shared` is AcqRel: what one runner did to the future is visible to the next. `refs` is as
//! in `Arc`.
//!
//! # Rejected
//! * One mode, always atomic: 2 read-modify-writes more for each block and resume (measured:
//!   docs/rationale.md).
//! * A reference count for each wait node: the same cost again. The release of the node does it for a plain
//!   store.
//!
//! # Checked by
//! `model::life` (loom, with broken variants that it catches), `tests/compat/wakers.rs` (also under miri).

use crate::sched::reason::Wait;
use crate::sync_shim::{AtomicU8, AtomicU32, Cell, Ordering};

const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const WOKEN: u8 = 4;
const CANCEL: u8 = 8;
const DONE: u8 = 16;
/// Owned mode, in `shared`: see invariant 2. CANCEL and DONE are used there too.
const POSTED: u8 = 32;
const LINKED: u8 = 64;
/// In `shared`, constant: the mode.
const SHARED: u8 = 128;
/// With SHARED, constant: see [`Life::homeless`].
const HOMELESS: u8 = POSTED;
/// In `refs`: the structural owner is gone.
const ORPHAN: u32 = 1 << 31;

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Life {
    refs: Refs,
    local: Cell<u8>,
    shared: AtomicU8,
    /// What else is to be known of the task (`super::task`); for the holder of the right to run. Here,
    /// because there is room.
    pub(crate) flags: Cell<u8>,
    /// What it waits for: a hint for dumps. (No model looks at it.)
    #[cfg(not(loom))]
    reason: AtomicU8,
}

/// What a waker is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Nothing: somebody runs it, or will, or it is over.
    Nothing,
    /// The right to run is the caller's.
    Run,
    /// Send the task to its home's inbox; it carries a reference.
    Post,
}

/// What the holder of the right is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// `begin`: poll the future.
    Run,
    /// Drop the future, then [`Life::finish`].
    Drop,
    /// `end`: it waits; the right is gone.
    Idle,
    /// `end`: it was woken meanwhile; the right is still the caller's, who queues it.
    Again,
}

impl Life {
    /// Of a task that its maker is about to run.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn running(is_shared: bool) -> Self {
        Self::in_state(is_shared, RUNNING)
    }

    /// Of a thread that waits for a future as if it were a task: it lies in no slab, and is never sent home.
    pub(crate) fn homeless() -> Self {
        let life = Self::running(true);
        // Relaxed: nobody else knows it yet.
        life.shared.store(RUNNING | SHARED | HOMELESS, Ordering::Relaxed);
        life
    }

    /// See [`homeless`](Self::homeless).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_homeless(&self) -> bool {
        // Relaxed: these bits are constant, and an owned life has never both.
        self.shared.load(Ordering::Relaxed) & (SHARED | HOMELESS) == SHARED | HOMELESS
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn in_state(is_shared: bool, state: u8) -> Self {
        let (local, shared) = if is_shared { (0, state | SHARED) } else { (state, 0) };
        Self {
            refs: Refs::new(),
            local: Cell::new(local),
            shared: AtomicU8::new(shared),
            flags: Cell::new(0),
            #[cfg(not(loom))]
            reason: AtomicU8::new(Wait::Suspend as u8),
        }
    }

    /// True if any kernel thread may run it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_shared(&self) -> bool {
        // Relaxed: this bit is constant.
        self.shared.load(Ordering::Relaxed) & SHARED != 0
    }

    /// Applies `step` to the state; gives the state before. In owned mode the caller is at home.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change(&self, step: impl Fn(u8) -> u8) -> u8 {
        // Relaxed: a guess, confirmed by the CAS; the mode is constant.
        let mut before = self.shared.load(Ordering::Relaxed);
        if before & SHARED == 0 {
            let before = self.local.get();
            self.local.set(step(before));
            return before;
        }
        loop {
            let after = step(before) | (before & (SHARED | HOMELESS));
            // AcqRel pairs with itself: the next runner sees what the last one did. Relaxed on failure: a new
            // guess.
            match self.shared.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return before,
                Err(now) => before = now,
            }
        }
    }

    /// Something that the task waits for has happened. `at_home`: the caller runs on the home worker.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wake(&self, at_home: bool) -> Wake {
        if !at_home && !self.is_shared() {
            return self.post(POSTED);
        }
        let before = self.change(|state| match state {
            _ if state & (QUEUED | DONE) != 0 => state,
            _ if state & RUNNING != 0 => state | WOKEN,
            _ => state | QUEUED,
        });
        if before & (QUEUED | RUNNING | DONE) == 0 { Wake::Run } else { Wake::Nothing }
    }

    /// Owned, from elsewhere: leaves a note for the home worker.
    #[cold]
    fn post(&self, note: u8) -> Wake {
        // Taken before the note: once that is there, the home may finish the task.
        self.retain();
        // AcqRel pairs with the changes in `receive`, `link` and `unlink`: the home sees what led to this
        // note.
        let before = self.shared.fetch_or(note | POSTED, Ordering::AcqRel);
        if before & (POSTED | LINKED | DONE) == 0 {
            return Wake::Post;
        }
        // Not the last one: the caller has one of its own, or a node that is not released yet.
        self.forget_one();
        Wake::Nothing
    }

    /// Home: the task has come out of the inbox as a post. Gives what the note says: wake or cancel. The
    /// caller then drops the reference that came along.
    pub(crate) fn receive(&self) -> (Wake, Option<Turn>) {
        // AcqRel pairs with the fetch_or in `post`.
        let note = self.shared.fetch_and(!(POSTED | CANCEL), Ordering::AcqRel);
        if note & CANCEL != 0 {
            return (Wake::Nothing, self.cancel(true).err());
        }
        (self.wake(true), None)
    }

    /// Home, with the right to an owned task: its link is about to be used for the list of those that gave
    /// way. False if it is in the inbox: it is left there, idle, and comes back through that.
    pub(crate) fn link(&self) -> bool {
        // AcqRel pairs with the fetch_or in `post`.
        if self.shared.fetch_or(LINKED, Ordering::AcqRel) & POSTED == 0 {
            return true;
        }
        // AcqRel: as above.
        self.shared.fetch_and(!LINKED, Ordering::AcqRel);
        self.local.set(self.local.get() & !QUEUED);
        false
    }

    /// Home: the link is free again. Notes that came meanwhile are answered by the run that follows.
    pub(crate) fn unlink(&self) {
        // AcqRel pairs with the fetch_or in `post`.
        let note = self.shared.fetch_and(!(LINKED | POSTED | CANCEL), Ordering::AcqRel);
        if note & CANCEL != 0 {
            self.local.set(self.local.get() | CANCEL);
        }
    }

    /// Holder of the right: about to run it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(&self) -> Turn {
        let before = self.change(|state| (state & !QUEUED) | RUNNING);
        debug_assert!(
            before & QUEUED != 0 && before & (RUNNING | DONE) == 0,
            "a task was run without the right"
        );
        if before & CANCEL != 0 { Turn::Drop } else { Turn::Run }
    }

    /// Holder of the right to a shared one: it has been woken while it ran.
    pub(crate) fn is_woken(&self) -> bool {
        // Acquire pairs with the change of `wake`.
        self.shared.load(Ordering::Acquire) & WOKEN != 0
    }

    /// A thread that has been woken for the right to run: it must have come.
    pub(crate) fn must_be_queued(&self) {
        // Relaxed: what led to the wake came with it.
        let state = if self.is_shared() { self.shared.load(Ordering::Relaxed) } else { self.local.get() };
        if state & QUEUED == 0 {
            crate::bug::bug!("a thread was woken for a future that nobody has woken");
        }
    }

    /// Holder of the right: the future is pending.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(&self) -> Turn {
        let before = self.change(|state| match state {
            _ if state & CANCEL != 0 => state,
            _ if state & WOKEN != 0 => QUEUED,
            _ => 0,
        });
        match before {
            _ if before & CANCEL != 0 => Turn::Drop,
            _ if before & WOKEN != 0 => Turn::Again,
            _ => Turn::Idle,
        }
    }

    /// Holder of the right: the future is gone. Before the outcome is published.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn finish(&self) {
        let is_shared = self.is_shared();
        if !is_shared {
            self.local.set(DONE);
        }
        // Nobody else can make a first reference now, and a waker that has one is told by the flag below.
        if is_shared || self.refs.any() {
            // AcqRel pairs with the changes of wakers that hold references.
            self.shared.fetch_or(DONE, Ordering::AcqRel);
        }
    }

    /// Ends the life early. `Err(Turn::Drop)`: the right is the caller's, who drops the future.
    /// `Ok(Wake::Post)`: to be sent home.
    pub(crate) fn cancel(&self, at_home: bool) -> Result<Wake, Turn> {
        if !at_home && !self.is_shared() {
            return Ok(self.post(CANCEL));
        }
        let before = self.change(|state| match state {
            _ if state & DONE != 0 => state,
            _ if state & (QUEUED | RUNNING) != 0 => state | CANCEL,
            _ => RUNNING | CANCEL,
        });
        if before & (QUEUED | RUNNING | DONE) == 0 { Err(Turn::Drop) } else { Ok(Wake::Nothing) }
    }

    /// Holder of the right, taken by `cancel`: passes it on as if the task had been queued.
    pub(crate) fn requeue(&self) {
        self.change(|state| (state & !RUNNING) | QUEUED);
    }

    /// What it waits for, for those who look.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn note_reason(&self, reason: Wait) {
        // Relaxed: a hint. A part of its future may be polled by another kernel thread, with a clone of the
        // waker.
        #[cfg(not(loom))]
        self.reason.store(reason as u8, Ordering::Relaxed);
        #[cfg(loom)]
        let _: Wait = reason;
    }

    /// Takes a reference.
    pub(crate) fn retain(&self) {
        self.refs.retain();
    }

    /// Drops a reference that is certainly not the last claim on the memory.
    fn forget_one(&self) {
        let _ = self.refs.release();
    }

    /// Drops a reference; true if the memory is now the caller's to free.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        self.refs.release()
    }

    /// The structural owner is done with it; true if the memory is now the caller's to free.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub(crate) fn drop_owner(&self) -> bool {
        self.refs.drop_owner()
    }

    /// True if there may be references, so that the end must be told.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_referenced(&self) -> bool {
        self.refs.any()
    }

    /// For the checker: the memory is gone, and must not be touched any more.
    #[cfg(loom)]
    pub(crate) fn free(&self) {
        self.shared.free();
        self.refs.0.free();
    }
}

/// References beside one structural owner, who pays for none: see [`Life`], invariants 3 and 4.
#[derive(Debug)]
pub(crate) struct Refs(AtomicU32);

impl Refs {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn any(&self) -> bool {
        // Acquire pairs with `release`: for whoever alone could make the first one, and frees if there is
        // none.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Takes a reference.
    pub(crate) fn retain(&self) {
        // Relaxed: made by someone who is sure that the object is alive, as with `Arc`.
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        if before & !ORPHAN > ORPHAN / 2 {
            // As `Arc`. The bound is far from the next bit: as many threads as could be here at once do not
            // reach it.
            crate::bug::say!("a parasite has more than {} wakers: are they forgotten?", ORPHAN / 2);
            std::process::abort();
        }
    }

    /// Drops a reference; true if the memory is now the caller's to free.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        // AcqRel pairs with itself and with `drop_owner`: who frees sees what all others did.
        self.0.fetch_sub(1, Ordering::AcqRel) == ORPHAN | 1
    }

    /// The structural owner is done; true if the memory is now the caller's to free.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub(crate) fn drop_owner(&self) -> bool {
        // Acquire pairs with `release`. Zero stays zero: references are only made from references, and by the
        // owner's side.
        if self.0.load(Ordering::Acquire) == 0 {
            return true;
        }
        // AcqRel pairs with `release`.
        self.0.fetch_or(ORPHAN, Ordering::AcqRel) == 0
    }
}
