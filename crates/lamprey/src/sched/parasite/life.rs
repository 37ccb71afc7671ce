//! Who may run a stackless parasite: its state machine, shared by the threads that wake, run and cancel it.
//! (What tokio keeps in a task's state word: scheduled, running, notified, cancelled, complete, and a
//! reference count.)
//!
//! # States
//! ```text
//! placed: ACTIVE --finish--> DONE
//! sent from outside (shared): ACTIVE;  (owned): IDLE, POSTED
//! ACTIVE --end (pending)--> IDLE
//! IDLE --wake--> ACTIVE              the waker now holds the right to run it
//! IDLE --hold--> ACTIVE              who looks at it holds it, and gives it back by `end`
//! IDLE --cancel--> ACTIVE|CANCEL     the canceller now holds it, and drops the future
//! ACTIVE --wake--> ACTIVE|WOKEN      --begin--> ACTIVE: the run that begins covers the wake
//!                                    --end--> ACTIVE: the runner keeps the right, and queues it again
//! ACTIVE --cancel--> ACTIVE|CANCEL   the holder of the right drops the future
//! ```
//! ACTIVE is queued or running. The two are one state so that the step from one to the other is a load.
//!
//! # Two modes
//! * **Shared** (a `Send` parasite in a runtime of several workers): the state is the atomic `shared`, any
//!   kernel thread changes it.
//! * **Owned** (all others): the state is the plain `local`, and only the home worker changes it: a parasite
//!   that stays at home costs no atomic operation. Another thread that wakes or cancels it sets a flag in
//!   `shared` and sends the task itself through the home worker's inbox ([`Wake::Post`]).
//!
//! # Invariants
//! 1. **One right**: while the task is ACTIVE exactly one thread or queue entry holds the right to
//!    run it; the right came from `place`, `wake`, `end` or `cancel`, and only its holder touches the future.
//! 2. Owned: POSTED means that the task is in the home worker's inbox, or (with LINKED) in the home worker's
//!    list of those that gave way, or is being pushed into the inbox. Its link is in use, and no other thread
//!    pushes it.
//! 3. Each cloned `Waker`, each task that is in an inbox as a post, and a joiner's entry holds a reference
//!    (`refs`). A wait node holds none: the node's owner does not free the task before the node has been
//!    released (`channel::rendezvous::wait_queue`).
//! 4. The memory is freed once ([`super::refs`]); the structural owner is task and handle together
//!    (`sched::completion`).
//!
//! # Who may touch what
//! `local`: the home worker. `shared`, `refs`: any thread that knows that the task is alive (invariant 3).
//!
//! # Orderings
//! Every change of `shared` is AcqRel: what one runner did to the future is visible to the next, and what a waker
//! did before, too: `begin` only loads the state (Acquire), but a wake that it does not see has set WOKEN, for
//! which the future is polled once more. `refs` is ordered as the count of an `Arc`.
//!
//! # Rejected
//! * One mode, always atomic: 2 more read-modify-writes for each block and resume (measured:
//!   docs/rationale.md).
//! * A reference for each wait node: the same cost again. The release of the node does the same with one
//!   plain store.
//!
//! # Checked by
//! `model::life` (loom, with broken variants that it catches), `tests/compat/wakers.rs` (also under miri).

#[cfg(not(loom))]
use super::number;
use super::refs::Refs;
use crate::sched::reason::On;
#[cfg(not(loom))]
use crate::sched::{made::Origin, noted::Noted, reason::Wait};
#[cfg(loom)]
use crate::sync_shim::AtomicBool;
use crate::sync_shim::{AtomicU8, Cell, Ordering, left_out};

const ACTIVE: u8 = 1;
const WOKEN: u8 = 4;
const CANCEL: u8 = 8;
const DONE: u8 = 16;
/// Owned mode, in `shared`: the task's link is in use (invariant 2). CANCEL and DONE are used there too.
const POSTED: u8 = 32;
const LINKED: u8 = 64;
/// In `shared`, constant: the mode is shared.
const SHARED: u8 = 128;
/// With SHARED, constant: the task has no home worker ([`Life::homeless`]).
const HOMELESS: u8 = POSTED;

/// The state of a stackless parasite.
#[derive(Debug)]
pub(crate) struct Life {
    refs: Refs,
    local: Cell<u8>,
    shared: AtomicU8,
    /// Flags of the task (`super::task`), for the holder of the right to run. They fill a padding byte.
    pub(crate) flags: Cell<u8>,
    /// What it waits for: a hint for dumps. (The loom models do not use it.)
    #[cfg(not(loom))]
    reason: AtomicU8,
    /// On which object: without debug assertions it has no size.
    #[cfg(not(loom))]
    noted: Noted,
    /// Stands for its entry in the table of numbers.
    #[cfg(loom)]
    entry: AtomicBool,
}

/// What a waker must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Nothing: the task runs, is queued, or is over.
    Nothing,
    /// The right to run is the caller's.
    Run,
    /// Send the task to the inbox of its home worker; the entry carries a reference.
    Post,
}

/// What the holder of the right must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// `begin`: poll the future.
    Run,
    /// Drop the future, then [`Life::finish`].
    Drop,
    /// `end`: it waits; the right is gone.
    Idle,
    /// `end`: it was woken while it ran. The caller still holds the right, and queues the task.
    Again,
}

#[cfg(not(loom))]
impl Life {
    /// Where debuggers find its state: offsets and bits.
    pub(in crate::sched) const LAYOUT: [(&'static str, usize); 6] = [
        ("life.local", std::mem::offset_of!(Life, local)),
        ("life.shared", std::mem::offset_of!(Life, shared)),
        ("life.reason", std::mem::offset_of!(Life, reason)),
        ("life ACTIVE", ACTIVE as usize),
        ("life DONE", DONE as usize),
        ("life SHARED", SHARED as usize),
    ];
}

impl Life {
    /// For a task that its creator is about to run.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn running(is_shared: bool) -> Self {
        Self::in_state(is_shared, ACTIVE)
    }

    /// For a task that its creator sends to the inbox of its home worker: in shared mode with the right to run, in
    /// owned mode as a post, so that it is idle, and woken when it comes out.
    pub(crate) fn sent(is_shared: bool) -> Self {
        let life = Self::in_state(is_shared, if is_shared { ACTIVE } else { 0 });
        if !is_shared {
            // Relaxed: no other thread knows it yet.
            life.shared.store(POSTED, Ordering::Relaxed);
            life.refs.retain();
        }
        life
    }

    /// For a thread that waits for a future as if it were a task: it is in no slab and is never sent to a
    /// home worker.
    pub(crate) fn homeless() -> Self {
        let life = Self::running(true);
        // Relaxed: no other thread knows it yet.
        life.shared.store(ACTIVE | SHARED | HOMELESS, Ordering::Relaxed);
        life
    }

    /// True if it was made by [`homeless`](Self::homeless).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_homeless(&self) -> bool {
        // Relaxed: these bits are constant; an owned life never has both.
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
            reason: AtomicU8::new(Wait::Future as u8),
            #[cfg(not(loom))]
            noted: Noted::new(),
            #[cfg(loom)]
            entry: AtomicBool::new(false),
        }
    }

    /// True if any kernel thread may run it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_shared(&self) -> bool {
        // Relaxed: this bit is constant.
        self.shared.load(Ordering::Relaxed) & SHARED != 0
    }

    /// Applies `step` to the state and returns the state before. In owned mode the caller is on the home
    /// worker.
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
            // AcqRel pairs with itself: the next runner sees what the last one did. Relaxed on failure: the
            // value is only the next guess.
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
            _ if state & DONE != 0 => state,
            _ if state & ACTIVE != 0 => state | WOKEN,
            _ => state | ACTIVE,
        });
        if before & (ACTIVE | DONE) == 0 { Wake::Run } else { Wake::Nothing }
    }

    /// Owned mode, another thread than the home worker: sets a flag for the home worker.
    #[cold]
    fn post(&self, note: u8) -> Wake {
        // Before the flag is set: once it is set, the home worker may finish the task.
        self.retain();
        // AcqRel pairs with the changes in `receive`, `link` and `unlink`: the home worker sees what the
        // caller did before.
        let before = self.shared.fetch_or(note | POSTED, Ordering::AcqRel);
        if before & (POSTED | LINKED | DONE) == 0 {
            return Wake::Post;
        }
        // Not the last claim: the caller holds a reference, or a node that is not released yet.
        self.forget_one();
        Wake::Nothing
    }

    /// Home worker: the task has come out of the inbox as a post. Carries out what the flags say (wake or
    /// cancel) and returns what the caller must do. The caller then drops the reference of the post.
    pub(crate) fn receive(&self) -> (Wake, Option<Turn>) {
        // AcqRel pairs with the fetch_or in `post`.
        let note = self.shared.fetch_and(!(POSTED | CANCEL), Ordering::AcqRel);
        if note & CANCEL != 0 {
            return (Wake::Nothing, self.cancel(true).err());
        }
        (self.wake(true), None)
    }

    /// Home worker, holder of the right to an owned task: reserves the link for the list of those that gave
    /// way. False if the task is in the inbox: it is left idle, and becomes ready when it comes out of the
    /// inbox.
    pub(crate) fn link(&self) -> bool {
        // AcqRel pairs with the fetch_or in `post`.
        if self.shared.fetch_or(LINKED, Ordering::AcqRel) & POSTED == 0 {
            return true;
        }
        // AcqRel pairs with the fetch_or in `post`.
        self.shared.fetch_and(!LINKED, Ordering::AcqRel);
        self.local.set(self.local.get() & !(ACTIVE | WOKEN));
        false
    }

    /// Home worker: the link is free again. Wakes that came in the meantime are covered by the run that
    /// follows.
    pub(crate) fn unlink(&self) {
        // AcqRel pairs with the fetch_or in `post`.
        let note = self.shared.fetch_and(!(LINKED | POSTED | CANCEL), Ordering::AcqRel);
        if note & CANCEL != 0 {
            self.local.set(self.local.get() | CANCEL);
        }
    }

    /// Holder of the right: the run begins.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn begin(&self) -> Turn {
        // Acquire pairs with the AcqRel of `change`: the caller sees what the last runner and the wakers did.
        let word = self.shared.load(Ordering::Acquire);
        let state = if word & SHARED == 0 { self.local.get() } else { word };
        debug_assert!(state & ACTIVE != 0 && state & DONE == 0, "a task was run without the right");
        if state & (WOKEN | CANCEL) == 0 { Turn::Run } else { self.begin_noted() }
    }

    /// As [`begin`](Self::begin), after further wakes, which this run covers, or a cancellation.
    #[cold]
    fn begin_noted(&self) -> Turn {
        let before = self.change(|state| state & !WOKEN);
        if before & CANCEL != 0 { Turn::Drop } else { Turn::Run }
    }

    /// Holder of the right, shared mode: true if it has been woken while it ran.
    pub(crate) fn is_woken(&self) -> bool {
        // Acquire pairs with the change of `wake`.
        self.shared.load(Ordering::Acquire) & WOKEN != 0
    }

    /// Ends the process if the calling thread, which was woken to run the task, does not hold the right to
    /// run.
    pub(crate) fn must_be_queued(&self) {
        // Relaxed: the wake of the thread has ordered what was written before it.
        let state = if self.is_shared() { self.shared.load(Ordering::Relaxed) } else { self.local.get() };
        if state & ACTIVE == 0 {
            crate::bug::bug!("a thread was woken for a future that nobody has woken");
        }
    }

    /// Holder of the right: the future is pending.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(&self) -> Turn {
        let before = self.change(|state| match state {
            _ if state & CANCEL != 0 => state,
            _ if state & WOKEN != 0 => ACTIVE,
            _ => 0,
        });
        match before {
            _ if before & CANCEL != 0 => Turn::Drop,
            _ if before & WOKEN != 0 => Turn::Again,
            _ => Turn::Idle,
        }
    }

    /// Holder of the right: the future has been dropped. Called before the outcome is published.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn finish(&self) {
        if !self.is_shared() {
            self.local.set(DONE);
            // No other thread can make a first reference now, and a waker that has one sees the flag set here.
            if self.refs.any() {
                // AcqRel pairs with the changes of wakers that hold references.
                self.shared.fetch_or(DONE, Ordering::AcqRel);
            }
        } else if self.refs.any() {
            // AcqRel pairs with the changes of wakers that hold references.
            self.shared.fetch_or(DONE, Ordering::AcqRel);
        } else {
            // Only a canceller may change the state at the same time; whether it is in time makes no difference.
            // Relaxed: the mode is constant.
            let mode = self.shared.load(Ordering::Relaxed) & (SHARED | HOMELESS);
            // Release pairs with the changes of cancellers.
            self.shared.store(DONE | mode, Ordering::Release);
        }
    }

    /// Ends the task early. `Err(Turn::Drop)`: the caller holds the right, and drops the future.
    /// `Ok(Wake::Post)`: the caller sends the task to its home worker.
    pub(crate) fn cancel(&self, at_home: bool) -> Result<Wake, Turn> {
        if !at_home && !self.is_shared() {
            return Ok(self.post(CANCEL));
        }
        let before = self.change(|state| match state {
            _ if state & DONE != 0 => state,
            _ if state & ACTIVE != 0 => state | CANCEL,
            _ => ACTIVE | CANCEL,
        });
        if before & (ACTIVE | DONE) == 0 { Err(Turn::Drop) } else { Ok(Wake::Nothing) }
    }

    /// Notes what it waits for, for dumps. The object is borrowed by the caller.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn note(&self, on: On) {
        #[cfg(not(loom))]
        {
            // Relaxed: a hint. Atomic because another kernel thread may poll a part of the future, with a clone
            // of the waker.
            self.reason.store(on.reason as u8, Ordering::Relaxed);
            self.noted.note(on);
        }
        #[cfg(loom)]
        let _: On = on;
    }

    /// True if its future is gone. Asked on the home worker.
    #[cfg(not(loom))]
    pub(crate) fn is_over(&self) -> bool {
        self.state() & DONE != 0
    }

    /// What it waits for; `None` if it runs, or is about to. Asked on the home worker.
    #[cfg(not(loom))]
    pub(crate) fn waits(&self) -> Option<Wait> {
        if self.state() & (ACTIVE | DONE) == 0 { self.noted() } else { None }
    }

    /// What it has waited for last.
    #[cfg(not(loom))]
    pub(crate) fn noted(&self) -> Option<Wait> {
        // Relaxed: a hint.
        Wait::from_number(self.reason.load(Ordering::Relaxed))
    }

    /// Where the object that it has waited for last was made, and its number.
    #[cfg(not(loom))]
    pub(crate) fn noted_origin(&self) -> Option<Origin> {
        self.noted.get()
    }

    /// Takes the right to run, without a wake, if the task waits: nobody frees it until [`end`](Self::end), which says what
    /// has happened meanwhile.
    pub(crate) fn hold(&self) -> bool {
        let before = self.change(|state| if state & DONE == 0 { state | ACTIVE } else { state });
        before & (ACTIVE | DONE) == 0
    }

    /// The state in its mode.
    #[cfg(not(loom))]
    fn state(&self) -> u8 {
        // Acquire pairs with the changes in `change`.
        let shared = self.shared.load(Ordering::Acquire);
        if shared & SHARED == 0 { self.local.get() | shared & (CANCEL | DONE) } else { shared }
    }

    /// Takes a reference.
    pub(crate) fn retain(&self) {
        self.refs.retain();
    }

    /// Drops a reference that is not the last claim on the memory.
    fn forget_one(&self) {
        let _ = self.refs.release();
    }

    /// Drops a reference; true if the caller must now free the memory.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        let is_last = self.refs.release();
        if is_last {
            self.forget_number();
        }
        is_last
    }

    /// Drops the structural owner's claim; true if the caller must now free the memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub(crate) fn drop_owner(&self) -> bool {
        if !self.refs.any() {
            // Nobody makes a first reference now, and it has no number.
            return true;
        }
        let is_last = self.refs.drop_owner();
        if is_last {
            self.forget_number();
        }
        is_last
    }

    /// The number of the task; if it has none yet, `fresh` makes one. The caller keeps the task alive
    /// ([`number`](super::number), invariant 1).
    pub(crate) fn number(&self, fresh: impl FnOnce() -> u64) -> u64 {
        self.refs.set_numbered();
        #[cfg(not(loom))]
        return number::of(std::ptr::from_ref(self).addr(), fresh);
        #[cfg(loom)]
        {
            // Relaxed: as the table, which has a lock of its own.
            self.entry.store(true, Ordering::Relaxed);
            fresh()
        }
    }

    /// The caller is about to free the memory.
    #[cold]
    fn forget_number(&self) {
        if !self.refs.is_numbered() || left_out!(NumberStays) {
            return;
        }
        #[cfg(not(loom))]
        number::forget(std::ptr::from_ref(self).addr());
        #[cfg(loom)]
        // Relaxed: as the table, which has a lock of its own.
        self.entry.store(false, Ordering::Relaxed);
    }

    /// True if it has a number, or there may be references, whose holders must see that the task is over.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_referenced(&self) -> bool {
        self.refs.any()
    }

    /// For loom: the memory is freed; any later access is an error.
    #[cfg(loom)]
    pub(crate) fn free(&self) {
        self.shared.free();
        self.refs.free();
        // Relaxed: as the table, which has a lock of its own.
        assert!(!self.entry.load(Ordering::Relaxed), "the number of a parasite that has been freed is kept");
    }
}
