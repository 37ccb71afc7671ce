//! The wait queue of every lock: one word for the queue and its bits, and a small state.
//!
//! # States (`word`: a pointer to the last node of a ring, and three bits)
//! ```text
//! last    the waiters; the first one follows the last. A lone node is linked to itself
//! HELD    the state refuses every acquisition: a thread may queue without reading the state
//! WOKEN   a waiter was taken out to try again, and has not tried yet, while others wait
//! EDIT    a thread works on ring and state, and will store the next word
//! ```
//! A node is a [`WaitNode`]. After it was taken out it ends MET (its owner has what it wants), CLOSED (its
//! owner must try again), or STALE (an offer of a choice that was decided elsewhere).
//!
//! # Invariants
//! 1. Checking the state and queueing are one step: a CAS from HELD to a first node, or both under one EDIT.
//!    So no thread queues behind a release that did not see it.
//! 2. When EDIT ends (in a batch: the last one), the first waiter cannot have what it wants, or WOKEN is set.
//!    A thread that changes the state, leaves the queue or clears WOKEN checks the first waiter again
//!    ([`Edit::serve`]), under the same EDIT. (If nobody else waits, WOKEN is not set, so the lock is taken
//!    and released in one step again before the woken thread has run.)
//! 3. **Handing over**: a waiter that is taken out with MET has what it wants; the state already says so. A
//!    waiter that no longer wants it (cancelled, a dropped future, an unfinished branch) releases it as a
//!    holder would.
//! 4. EDIT lasts a few instructions: no user code, no switch, at most [`BATCH`] nodes taken out. Wakes are
//!    delivered after it. It may spin on a choice that is CLAIMED, which waits for nothing
//!    (`events::protocol::choice`, invariant 3).
//! 5. A thread that has just queued itself, or has found its node taken out, serves no other waiter. It has
//!    changed nothing that others wait for, and its own wake may be pending, which user code that is run by
//!    the others' wakes could consume ([`sched::wait`](crate::sched::wait)).
//! 6. An offer is taken out with a grant only if its choice is synched; the state is changed after that.
//!
//! # Who may touch what
//! State, ring, the links of linked nodes and their `slot`: the holder of EDIT. HELD and WOKEN: by CAS while
//! EDIT is not set, otherwise the holder of EDIT. Other fields of a node: as for [`WaitNode`].
//!
//! # Orderings
//! Taking EDIT is an Acquire CAS, and the store that ends it is Release; the CAS that queues a first node is
//! Release. A lock whose state is only HELD sets it with Acquire and clears it with Release. A grant is
//! published by the node's word. A CAS that only sets or clears bits may succeed although the ring changed in
//! between (ABA), which is harmless: it does not read the ring.
//!
//! # Where this differs from the paper (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight Context Switching*,
//! 2013, 6.1-6.2)
//! There, a thread may read a freed node, and a signal handler repairs that. Here only its owner and the
//! holder of EDIT read a node, and the owner waits for the holder before it frees the node. Threads can leave
//! from the middle (timeout, cancellation). The state may be larger than two bits.
//!
//! # Owner bias
//! For a kind whose state is only HELD, the worker that owns the line changes the word by plain stores, in
//! sections of [`bias`](crate::bias). All other steps are atomic, after a check that no other kernel thread
//! is in such a section ([`Line::share`]). The owner takes them too, and if the line is revoked in the
//! meantime, both threads use atomic steps.
//!
//! # Rejected
//! * A lock beside the word ([`channel::gate`](crate::channel)): each lock and unlock would change two words.
//! * Retrying only (no hand-over): waiters may starve, and a choice cannot retry. Handing over only: each
//!   lock of a mutex that has a waiter costs a switch (see [`mutex`](super::mutex)).
//!
//! # Checked by
//! `model::mutex`, `model::rwlock`, `model::semaphore`, `model::condvar` (loom, with broken variants),
//! `tests/sync/mutex.rs`, `tests/lock_stress.rs`.

mod edit;
mod hold;
mod offer;
mod patience;
mod turns;
mod wait;

pub(crate) use self::edit::Comes;
pub use self::offer::{Claim, LineOffer};
pub(crate) use self::wait::LineEnd;

use self::edit::{Batch, Edit};
use self::patience::Patience;
use super::policy::{Order, Wake};
use crate::bias::Bias;
use crate::channel::slot;
use crate::channel::{NodeHead, PendingWake, WaitNode};
use crate::queue::list::List;
use crate::sched::parasite::task::Form;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::ptr::{self, NonNull};

const HELD: usize = 1;
const WOKEN: usize = 2;
const EDIT: usize = 4;
const TAGS: usize = 7;

/// The maximal number of waiters that one EDIT takes out. (Two under loom, so that the models reach a second
/// batch.)
pub(super) const BATCH: usize = if cfg!(loom) { 2 } else { 8 };

/// The decision for the first waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It keeps waiting.
    Waits,
    /// It has what it wants: the state is changed.
    Has,
    /// It is woken to try again, in competition with threads that arrive in the meantime. Never for an offer,
    /// which cannot retry.
    Tries,
}

/// The rules of a lock: a small state, changed under EDIT. No method may panic, block or run user code.
///
/// `held` is the word's HELD bit: a kind that sets it promises that `arrive` returns false as long as it is
/// set. `want` is the argument of `acquire`; a method may change it, and `acquire` returns its last value.
pub trait LockKind: Copy {
    /// A thread arrives: true if it has what it wants. If not, it queues, or, if it only tries, leaves, and
    /// the changed state is discarded.
    fn arrive(&mut self, held: &mut bool, want: &mut u32, comes: Comes) -> bool {
        comes != Comes::Behind && self.take(held, want) == Decision::Has
    }

    /// Decides about the first waiter. Changes the state only if the decision is not `Waits`.
    fn take(&mut self, held: &mut bool, want: &mut u32) -> Decision;

    /// A thread releases what it was granted with `want`.
    fn give_back(&mut self, held: &mut bool, want: u32);

    /// A waiter leaves the queue without a grant.
    fn left(&mut self, _held: &mut bool, _want: u32) {}
}

/// A wait queue with its state, its bias and the policies of its lock.
pub struct Line<S> {
    word: AtomicPtr<NodeHead>,
    bias: Bias,
    order: Order,
    wake: Wake,
    patience: Patience,
    state: UnsafeCell<S>,
}

// SAFETY: only one kernel thread at a time, the holder of EDIT, accesses the state; other threads take only
// waiters out of nodes.
unsafe impl<S: Send> Send for Line<S> {}
// SAFETY: shared access to the state is serialised by EDIT, so `S: Send` is enough.
unsafe impl<S: Send> Sync for Line<S> {}

// An EDIT runs no user code (invariant 4), so it does not unwind and leave the state half changed.
impl<S> std::panic::UnwindSafe for Line<S> {}
impl<S> std::panic::RefUnwindSafe for Line<S> {}

impl<S> std::fmt::Debug for Line<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("order", &self.order).field("wake", &self.wake).finish_non_exhaustive()
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn bits(word: *mut NodeHead) -> usize {
    word.addr() & TAGS
}

/// The last node in a word, perhaps null.
#[cfg_attr(not(debug_assertions), inline(always))]
fn last(word: *mut NodeHead) -> *const NodeHead {
    word.map_addr(|addr| addr & !TAGS)
}

impl<S> Line<S> {
    crate::sync_shim::const_fn! {
        /// A line with `state` and no waiters.
        pub(crate) const fn new(state: S, order: Order, wake: Wake) -> Self {
            Self::with_bias(state, order, wake, Bias::shared())
        }
    }

    crate::sync_shim::const_fn! {
        /// [`new`](Self::new) with a bias, so that a worker may own the line.
        pub(crate) const fn with_bias(state: S, order: Order, wake: Wake, bias: Bias) -> Self {
            Self {
                word: AtomicPtr::new(ptr::null_mut()),
                bias,
                order,
                wake,
                patience: Patience::new(),
                state: UnsafeCell::new(state),
            }
        }
    }

    /// True if HELD was set just now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_held(&self) -> bool {
        // Relaxed: a guess.
        self.word.load(Ordering::Relaxed).addr() & HELD != 0
    }

    /// True if a thread waited just now, or works on the line.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn has_waiters(&self) -> bool {
        // Relaxed: a waiter whose queueing happened before this call is seen; nothing is promised about
        // others.
        self.word.load(Ordering::Relaxed).addr() & !HELD != 0
    }

    /// To be called before any atomic step: waits until no other worker is in a section. (The owner's own
    /// atomic steps need no section: its plain steps are on the same kernel thread, and a thread that revokes
    /// the line uses atomic steps.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn share(&self) {
        if !self.bias.is_shared() && !left_out!(LineShare) {
            // SAFETY: the slot is this kernel thread's, and the section ends here, so it enters no other.
            drop(unsafe { self.bias.enter(slot()) });
        }
    }

    /// Takes EDIT; returns the word without it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&self) -> *mut NodeHead {
        self.share();
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if bits(word) & EDIT == 0 && self.try_enter(word) { word } else { self.enter_slowly() }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_enter(&self, word: *mut NodeHead) -> bool {
        let edited = word.map_addr(|addr| addr | EDIT);
        // Acquire pairs with the Release store in `exit`, the CAS in `queue_first`, and `let_go`. Relaxed on
        // failure: nothing read.
        self.word.compare_exchange(word, edited, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self) -> *mut NodeHead {
        let mut spins = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & EDIT == 0 && self.try_enter(word) {
                return word;
            }
            relax(&mut spins);
        }
    }

    /// Ends an EDIT: stores the next word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn exit(&self, edit: &Edit<'_, S>) {
        let bits = if edit.held { HELD } else { 0 } | if edit.woken { WOKEN } else { 0 };
        let word = edit.list.last().cast_mut().map_addr(|addr| addr | bits);
        // Release pairs with all Acquire CASes of the word. (Relaxed in a broken variant.)
        let order = if left_out!(LineExit) { Ordering::Relaxed } else { Ordering::Release };
        self.word.store(word, order);
    }

    /// Queues a node in one step, if the word is HELD without waiters.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn queue_first(&self, node: NonNull<NodeHead>) -> bool {
        let held = ptr::without_provenance_mut(HELD);
        let alone = List::new();
        // SAFETY: the node is in no list (contract of the callers); this list is discarded here or becomes
        // the word's.
        unsafe { alone.push(node) };
        let word = node.as_ptr().map_addr(|addr| addr | HELD);
        // Release pairs with the Acquire CAS in `try_enter`: publishes the node. Relaxed on failure: nothing
        // read.
        let is_queued = self.word.compare_exchange(held, word, Ordering::Release, Ordering::Relaxed).is_ok();
        if !is_queued {
            alone.pop();
        }
        is_queued
    }
}

impl<S: LockKind> Line<S> {
    /// Runs `work` under EDIT, serves the waiters that can go on, and delivers their wakes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn edit<R>(&self, work: impl FnOnce(&mut Edit<'_, S>) -> R) -> R {
        let word = self.enter();
        if !last(word).is_null() {
            return self.edit_and_serve(word, work);
        }
        self.state.with_mut(|state| {
            // SAFETY: EDIT is held.
            let mut edit = Edit::new(unsafe { &mut *state }, List::new(), bits(word));
            let result = work(&mut edit);
            self.exit(&edit);
            result
        })
    }

    #[inline]
    fn edit_and_serve<R>(&self, word: *mut NodeHead, work: impl FnOnce(&mut Edit<'_, S>) -> R) -> R {
        let (result, batch) = self.serve_once(word, work);
        self.deliver(batch);
        result
    }

    /// Delivers the wakes of an EDIT, and serves on if a batch was not enough. The caller must have no
    /// pending wake and hold nothing of the line: this may run any code, or switch.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deliver(&self, batch: Batch) {
        if batch.is_several() {
            return self.deliver_several(batch);
        }
        if let Some(pending_wake) = batch.into_single() {
            pending_wake.deliver_by(self.wake);
        }
    }

    /// Wakes that run user code come last, because that code may wait for one of the other waiters.
    #[cold]
    #[inline(never)]
    fn deliver_several(&self, mut batch: Batch) {
        let mut last = Vec::new();
        loop {
            let is_full = batch.is_full();
            batch.deliver_to_threads(&mut last);
            if !is_full {
                break;
            }
            batch = self.serve_once(self.enter(), |_| ()).1;
        }
        last.into_iter().for_each(|pending_wake| pending_wake.deliver(Form::Soon));
    }

    /// One EDIT, which has been taken; the caller must deliver the wakes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn serve_once<R>(&self, word: *mut NodeHead, work: impl FnOnce(&mut Edit<'_, S>) -> R) -> (R, Batch) {
        let mut batch = Batch::new();
        let result = self.state.with_mut(|state| {
            // SAFETY: EDIT is held; the word was the last of a list, and has not been used since.
            let mut edit = unsafe { Edit::new(&mut *state, List::of_last(last(word)), bits(word)) };
            let result = work(&mut edit);
            if edit.serves {
                edit.serve(&mut batch);
            }
            self.exit(&edit);
            result
        });
        (result, batch)
    }

    /// Changes the state: `change` receives it, `held`, and whether a thread waits. Then serves the waiters
    /// that can go on.
    #[inline]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut S, &mut bool, bool) -> R) -> R {
        self.edit(|edit| {
            let waits = !edit.list.is_empty();
            change(edit.state, &mut edit.held, waits)
        })
    }

    /// Releases what was granted with `want`; waiters that can have it now get it.
    #[inline]
    pub(crate) fn release(&self, want: u32) {
        self.change(|state, held, _| state.give_back(held, want));
    }

    /// [`release`](Self::release) for kinds that serve one waiter at a time; the caller must deliver the
    /// wake.
    #[inline]
    pub(crate) fn release_owing(&self, want: u32) -> Option<PendingWake> {
        let batch = self.serve_once(self.enter(), |edit| edit.state.give_back(&mut edit.held, want)).1;
        debug_assert!(!batch.is_several(), "a kind that serves one at a time has served two");
        batch.into_single()
    }

    /// Takes `want` if that is possible at once; returns the last value of `want`.
    #[inline]
    pub(crate) fn try_acquire(&self, mut want: u32) -> Option<u32> {
        if self.is_held() {
            return None;
        }
        self.edit(|edit| edit.arrive_or_go(&mut want).then_some(want))
    }

    /// Takes what the node wants, or queues the node; true if it has it.
    ///
    /// # Safety
    /// The node is unlinked, with its waiter and its slot, and does not move until it has left the queue, or
    /// was taken out and ended.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn join(&self, node: NonNull<NodeHead>, again: bool) -> bool {
        self.share();
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if !again && word.addr() == HELD && self.queue_first(node) {
            return false;
        }
        // SAFETY: as promised by the caller.
        self.edit(|edit| unsafe { edit.arrive(node, again, self.order) })
    }

    /// Takes the node out of the queue; false if another thread has taken it out.
    ///
    /// # Safety
    /// The node was queued here by the caller, if at all.
    unsafe fn leave(&self, node: NonNull<NodeHead>) -> bool {
        // SAFETY: as promised by the caller.
        self.edit(|edit| unsafe { edit.leave(node) })
    }

    /// [`leave`](Self::leave); the caller must [`deliver`](Self::deliver) the wakes. There are none if it
    /// returns false.
    ///
    /// # Safety
    /// As for `leave`.
    unsafe fn leave_owing(&self, node: NonNull<NodeHead>) -> (bool, Batch) {
        // SAFETY: as promised by the caller.
        self.serve_once(self.enter(), |edit| unsafe { edit.leave(node) })
    }

    /// A waiter that was woken to try again gives up: clears WOKEN, so another one is woken.
    fn pass_on(&self) {
        self.edit(|edit| edit.woken &= left_out!(LinePass));
    }
}

/// The last value of `want`, as the granting thread stored it.
///
/// # Safety
/// The caller owns the node.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn want_of(wait_node: &WaitNode<u32>) -> u32 {
    // SAFETY: the node is ours (contract); the slot was written when the node was made.
    wait_node.slot.with(|want| unsafe { (*want).assume_init_read() })
}
