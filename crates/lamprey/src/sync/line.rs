//! The wait line of every lock: who waits, in which order, and the state that they wait for, in one word and
//! a small state.
//!
//! # States (`word`: a pointer to the last node of a ring, and three bits)
//! ```text
//! last    whoever waits; the first is behind it. A lone node is linked to itself
//! HELD    the state says no to everybody: who comes may queue without a look at it
//! WOKEN   one who waited has been taken out to try again, and will say how that ended
//! EDIT    somebody works on ring and state, and will store the next word
//! ```
//! A node is a [`Party`]: taken out, it ends MET (its owner has what it wants), CLOSED (its owner is to try
//! again), or STALE (an offer of a choice that was decided elsewhere).
//!
//! # Invariants
//! 1. State check and enqueueing are one step: a CAS from HELD to a first node, or all under one EDIT. So
//!    nobody queues behind a release that did not see it.
//! 2. When EDIT ends (of a batch: the last one), the first in line cannot have what it wants, or WOKEN is
//!    set. Whoever changes the state, leaves the line or ends WOKEN looks at the first again
//!    ([`Edit::serve`]), under the same EDIT.
//! 3. **Handing over**: who is taken out with MET has what it wants; the state says so already. If it does
//!    not want it any more (cancelled, a future dropped, a branch that was not finished), it gives it back as
//!    if it had held it.
//! 4. EDIT lasts a few instructions: no program code, no switch, at most [`BATCH`] taken out. Wakes are
//!    delivered after it. It may spin for a choice that is CLAIMED, which waits for nothing
//!    (`event::protocol::choice`, invariant 3).
//! 5. Who has just queued itself, or has found its node taken out, serves nobody: it has changed nothing that
//!    others wait for, and a wake is perhaps owed to it, which program code behind their wakes could take
//!    ([`sched::wait`](crate::sched::wait)).
//! 6. An offer is taken out for good only if its choice is synched; the state is changed after that.
//!
//! # Who may touch what
//! State, ring, the links of linked nodes and their `slot`: the holder of EDIT. HELD and WOKEN: by CAS while
//! EDIT is not set, else the holder of EDIT. Nodes otherwise: as [`Party`] says.
//!
//! # Orderings
//! Taking EDIT is an Acquire CAS, the store that ends it is Release; the CAS that queues a first node is
//! Release. A lock that is nothing but HELD takes it with Acquire and lets it go with Release. What a grant
//! says travels with the node's word. A CAS that only adds or removes bits may succeed although the ring was
//! another in between (ABA): nothing of it was read.
//!
//! # Where this differs from the paper (swapstack-taco-2013, 6.1-6.2)
//! There, a thread may read a node that is gone, and a signal handler mends that. Here nobody reads a node
//! but its owner and the holder of EDIT, whom the owner waits for before it goes. Threads leave from the
//! middle (timeout, cancellation). The state may be larger than two bits.
//!
//! # Owner bias
//! Of a kind whose state is nothing but HELD, the worker that owns the line changes the word by plain stores,
//! in sections of [`bias`](crate::bias). Everything else is done by the atomic steps, after a look that
//! nobody is in such a section on another kernel thread ([`Line::share`]): the owner too does it so, and if
//! the line is taken away from it meanwhile, both do.
//!
//! # Rejected
//! * A lock beside the word ([`channel::gate`](crate::channel)): two words to change for each lock and
//!   unlock.
//! * Retrying only (no hand-over): who waits may starve, and a choice cannot be told to try again. Handing
//!   over only: each lock of a mutex that has a waiter costs a switch (see [`mutex`](super::mutex)).
//!
//! # Checked by
//! `model::mutex`, `model::rwlock`, `model::semaphore`, `model::condvar` (loom, with broken variants),
//! `tests/sync/mutex.rs`, `tests/lock_stress.rs`.

mod edit;
mod offer;
mod wait;

pub(crate) use self::edit::Comes;
pub use self::offer::{Claim, Offer};
pub(crate) use self::wait::Ended;

use self::edit::{Batch, Edit};
use super::policy::{Order, Wake};
use crate::bias::{Access, Bias};
use crate::channel::slot;
use crate::channel::{Owed, Party, PartyNode};
use crate::queue::list::List;
use crate::sched::parasite::task::Form;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::ptr::{self, NonNull};

const HELD: usize = 1;
const WOKEN: usize = 2;
const EDIT: usize = 4;
const TAGS: usize = 7;

/// How many are taken out under one EDIT at most. (Two under the checker, which has to see the second batch.)
pub(super) const BATCH: usize = if cfg!(loom) { 2 } else { 8 };

/// What the first in line is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It waits on.
    Waits,
    /// It has what it wants: the state is changed.
    Has,
    /// It is to try again, against those who come meanwhile. Only for one that may lose; never for one that
    /// is an offer.
    Tries,
}

/// The rules of a lock: a small state, changed under EDIT. Nothing here may panic, block or run code of the
/// program.
///
/// `held` is the bit of the word: a kind that sets it promises that `arrive` says no for as long as it is
/// set. `want` is what the caller of `acquire` asked for, and may be changed: its last value comes back to
/// that caller.
pub trait Kind: Copy {
    /// Somebody comes (`behind`: others wait): true if it has what it wants. If not, it queues (or goes, if
    /// it only tries: then the changed state is forgotten).
    fn arrive(&mut self, held: &mut bool, want: &mut u32, comes: Comes) -> bool {
        comes != Comes::Behind && self.take(held, want) == Turn::Has
    }

    /// What is to become of the first in line. The state is changed only if that is not `Waits`.
    fn take(&mut self, held: &mut bool, want: &mut u32) -> Turn;

    /// Somebody gives back what it was granted with `want`.
    fn give_back(&mut self, held: &mut bool, want: u32);

    /// Somebody leaves the line without having been granted anything.
    fn left(&mut self, _held: &mut bool, _want: u32) {}
}

/// See the module's text.
pub struct Line<S> {
    word: AtomicPtr<PartyNode<u32>>,
    bias: Bias,
    order: Order,
    wake: Wake,
    state: UnsafeCell<S>,
}

// SAFETY: the state moves and is reached under EDIT, by one kernel thread at a time; of nodes others take
// waiters.
unsafe impl<S: Send> Send for Line<S> {}
// SAFETY: as above.
unsafe impl<S: Send> Sync for Line<S> {}

// An EDIT does not unwind (invariant 4), so a panic of the program never leaves the state half changed.
impl<S> std::panic::UnwindSafe for Line<S> {}
impl<S> std::panic::RefUnwindSafe for Line<S> {}

impl<S> std::fmt::Debug for Line<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("order", &self.order).field("wake", &self.wake).finish_non_exhaustive()
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn bits(word: *mut PartyNode<u32>) -> usize {
    word.addr() & TAGS
}

/// The last node in a word, perhaps null.
#[cfg_attr(not(debug_assertions), inline(always))]
fn last(word: *mut PartyNode<u32>) -> *const PartyNode<u32> {
    word.map_addr(|addr| addr & !TAGS)
}

impl<S> Line<S> {
    crate::sync_shim::const_fn! {
        /// Of a state that nobody waits for.
        pub(crate) const fn new(state: S, order: Order, wake: Wake) -> Self {
            Self::with_bias(state, order, wake, Bias::shared())
        }
    }

    crate::sync_shim::const_fn! {
        /// As [`new`](Self::new), perhaps with an owner.
        pub(crate) const fn with_bias(state: S, order: Order, wake: Wake, bias: Bias) -> Self {
            Self { word: AtomicPtr::new(ptr::null_mut()), bias, order, wake, state: UnsafeCell::new(state) }
        }
    }

    /// True if HELD was set just now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_held(&self) -> bool {
        // Relaxed: a guess.
        self.word.load(Ordering::Relaxed).addr() & HELD != 0
    }

    /// True if somebody waited just now, or works on the line.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn has_waiters(&self) -> bool {
        // Relaxed: whoever came before the caller (happens-before) is seen; of others nothing was promised.
        self.word.load(Ordering::Relaxed).addr() & !HELD != 0
    }

    /// Sets HELD if it is not, and nobody waits. For kinds whose state is nothing but HELD.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn try_hold(&self) -> bool {
        if !self.bias.is_shared() {
            return self.change_if_owned(0, HELD);
        }
        let held = ptr::without_provenance_mut(HELD);
        // Acquire pairs with the Release CAS in `let_go`, and the Release store at the end of an EDIT.
        // Relaxed on failure: nothing read.
        self.word.compare_exchange(ptr::null_mut(), held, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Changes the word by a plain store, if the calling worker owns the line and the word is `from`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change_if_owned(&self, from: usize, to: usize) -> bool {
        // SAFETY: the slot is this kernel thread's, and nothing in a section enters another.
        let Access::Owner(_section) = (unsafe { self.bias.enter(slot()) }) else { return false };
        // Relaxed: nobody else is here; who was before, or comes next, is ordered by the bias.
        let is_from = self.word.load(Ordering::Relaxed).addr() == from;
        if is_from {
            // Relaxed: as above.
            self.word.store(ptr::without_provenance_mut(to), Ordering::Relaxed);
        }
        is_from
    }

    /// Before any atomic step: nobody is in a section of another worker. (A step of the owner itself needs no
    /// section: the plain ones are of the same kernel thread, and whoever takes the line away from it uses
    /// atomic ones.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn share(&self) {
        if !self.bias.is_shared() && !left_out!(LineShare) {
            // SAFETY: as in `change_if_owned`; the section ends here.
            drop(unsafe { self.bias.enter(slot()) });
        }
    }

    /// As [`try_hold`](Self::try_hold), whoever waits.
    pub(crate) fn barge(&self) -> bool {
        self.share();
        let mut spins = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & HELD != 0 {
                return false;
            }
            let held = word.map_addr(|addr| addr | HELD);
            // Acquire and Relaxed: as in `try_hold`.
            if bits(word) & EDIT == 0
                && self.word.compare_exchange(word, held, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return true;
            }
            relax(&mut spins);
        }
    }

    /// Clears HELD if nobody waits; false, and nothing done, if somebody does. For kinds whose state is
    /// nothing but HELD.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn let_go(&self) -> bool {
        if !self.bias.is_shared() {
            return self.change_if_owned(HELD, 0);
        }
        let held = ptr::without_provenance_mut(HELD);
        // Release pairs with the Acquire CASes that take HELD or EDIT. Relaxed on failure: nothing read.
        self.word.compare_exchange(held, ptr::null_mut(), Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// As [`let_go`](Self::let_go), also if one has been woken who will look after the others.
    pub(crate) fn let_go_to_woken(&self) -> bool {
        self.share();
        let mut spins = 0;
        loop {
            // Relaxed: a guess, confirmed by the CAS.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & EDIT == 0 {
                if bits(word) & WOKEN == 0 && !last(word).is_null() {
                    return false;
                }
                let free = word.map_addr(|addr| addr & !HELD);
                // Release and Relaxed: as in `let_go`.
                if self.word.compare_exchange(word, free, Ordering::Release, Ordering::Relaxed).is_ok() {
                    return true;
                }
            }
            relax(&mut spins);
        }
    }

    /// Takes EDIT; gives the word without it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&self) -> *mut PartyNode<u32> {
        self.share();
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if bits(word) & EDIT == 0 && self.try_enter(word) { word } else { self.enter_slowly() }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_enter(&self, word: *mut PartyNode<u32>) -> bool {
        let edited = word.map_addr(|addr| addr | EDIT);
        // Acquire pairs with the Release store in `exit`, the CAS in `queue_first`, and `let_go`. Relaxed on
        // failure: nothing read.
        self.word.compare_exchange(word, edited, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self) -> *mut PartyNode<u32> {
        let mut spins = 0;
        loop {
            // Relaxed: as in `enter`.
            let word = self.word.load(Ordering::Relaxed);
            if bits(word) & EDIT == 0 && self.try_enter(word) {
                return word;
            }
            relax(&mut spins);
        }
    }

    /// Ends an EDIT.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn exit(&self, edit: &Edit<'_, S>) {
        let bits = if edit.held { HELD } else { 0 } | if edit.woken { WOKEN } else { 0 };
        let word = edit.list.last().cast_mut().map_addr(|addr| addr | bits);
        // Release pairs with all Acquire CASes of the word. (Relaxed in a broken variant.)
        let order = if left_out!(LineExit) { Ordering::Relaxed } else { Ordering::Release };
        self.word.store(word, order);
    }

    /// Queues a node where the word is HELD and nobody waits, in one step.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn queue_first(&self, node: NonNull<PartyNode<u32>>) -> bool {
        let held = ptr::without_provenance_mut(HELD);
        let alone = List::new();
        // SAFETY: the node is in no list (contract of the callers), and the list ends here or is the word's.
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

impl<S: Kind> Line<S> {
    /// Works on ring and state; then serves those who can go on with that, and gives them their wakes.
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
    fn edit_and_serve<R>(&self, word: *mut PartyNode<u32>, work: impl FnOnce(&mut Edit<'_, S>) -> R) -> R {
        let (result, batch) = self.serve_once(word, work);
        self.deliver(batch);
        result
    }

    /// Gives the wakes that an EDIT has left behind, and goes on serving if there were too many for it.
    /// Nothing may be owed to the caller, nor anything of the line be in hand: this may run anything, or
    /// switch.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deliver(&self, batch: Batch) {
        if batch.is_several() {
            return self.deliver_several(batch);
        }
        if let Some(owed) = batch.into_single() {
            owed.deliver_by(self.wake);
        }
    }

    /// Those whose wake runs code of the program come last, because that may wait for one of the others.
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
        last.into_iter().for_each(|owed| owed.deliver(Form::Soon));
    }

    /// One EDIT, which has been taken; the wakes are the caller's to deliver.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn serve_once<R>(
        &self,
        word: *mut PartyNode<u32>,
        work: impl FnOnce(&mut Edit<'_, S>) -> R,
    ) -> (R, Batch) {
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

    /// Changes the state: `change` gets it, `held`, and whether somebody waits. Then those go on who can.
    #[inline]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut S, &mut bool, bool) -> R) -> R {
        self.edit(|edit| {
            let waits = !edit.list.is_empty();
            change(edit.state, &mut edit.held, waits)
        })
    }

    /// Gives back what was granted with `want`: it goes to whoever can have it now.
    #[inline]
    pub(crate) fn release(&self, want: u32) {
        self.change(|state, held, _| state.give_back(held, want));
    }

    /// As [`release`](Self::release), for kinds that serve one at a time; the wake is the caller's to
    /// deliver.
    #[inline]
    pub(crate) fn release_owing(&self, want: u32) -> Option<Owed> {
        let batch = self.serve_once(self.enter(), |edit| edit.state.give_back(&mut edit.held, want)).1;
        debug_assert!(!batch.is_several(), "a kind that serves one at a time has served two");
        batch.into_single()
    }

    /// Takes what it wants if that can be had at once; gives the last value of `want`.
    #[inline]
    pub(crate) fn try_acquire(&self, mut want: u32) -> Option<u32> {
        if self.is_held() {
            return None;
        }
        self.edit(|edit| edit.arrive_or_go(&mut want).then_some(want))
    }

    /// Takes what the node wants, or queues it: true if it has it.
    ///
    /// # Safety
    /// The node is unlinked, with its waiter and its slot, and stays where it is until it has left, or has
    /// been taken out and let go.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn join(&self, node: NonNull<PartyNode<u32>>, again: bool) -> bool {
        self.share();
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if !again && word.addr() == HELD && self.queue_first(node) {
            return false;
        }
        // SAFETY: as promised by the caller.
        self.edit(|edit| unsafe { edit.arrive(node, again, self.order) })
    }

    /// Takes the node out of the line; false if somebody else has done so.
    ///
    /// # Safety
    /// The node was queued here by the caller, if at all.
    unsafe fn leave(&self, node: NonNull<PartyNode<u32>>) -> bool {
        // SAFETY: as promised by the caller.
        self.edit(|edit| unsafe { edit.leave(node) })
    }

    /// As [`leave`](Self::leave); the wakes that it leaves behind are the caller's to
    /// [`deliver`](Self::deliver). None if it is false.
    ///
    /// # Safety
    /// As for `leave`.
    unsafe fn leave_owing(&self, node: NonNull<PartyNode<u32>>) -> (bool, Batch) {
        // SAFETY: as promised by the caller.
        self.serve_once(self.enter(), |edit| unsafe { edit.leave(node) })
    }

    /// One who was woken to try again goes instead: another one may.
    fn pass_on(&self) {
        self.edit(|edit| edit.woken &= left_out!(LinePass));
    }
}

/// What a node's owner wanted, as it was left by whoever has granted it.
///
/// # Safety
/// The node is its owner's, who calls this.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn want_of(party: &Party<u32>) -> u32 {
    // SAFETY: ours (contract); written when the node was made.
    party.slot.with(|want| unsafe { (*want).assume_init_read() })
}
