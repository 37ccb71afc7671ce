//! How a sender and a receiver find each other: one word, changed in one atomic step.
//!
//! The idea is the paper's (swapstack-taco-2013, 6.1-6.2): the state of the channel lives in the low bits of the
//! pointer to its waiters, so that "nobody is there" and "I wait here" cannot come apart. Differs from the paper in
//! what happens with more than one waiter: those are kept in a list under a bit of the same word, so that a waiter can
//! leave from the middle (timeout, cancellation), and no thread ever reads a node that may be gone.
//!
//! # States (`word`)
//! ```text
//! EMPTY                nobody waits
//! ONE(side, node)      one thread of that side waits; the node is on its stack
//! MANY(side)           several do; they are in `list`, oldest first
//! CLOSED               one side is gone for good; `list` may have values that were handed back, for receivers that are left
//! any of them | LOCK   somebody works on `list`, and will store the next state
//! ```
//!
//! # Invariants
//! 1. Only one side waits at a time: who arrives and finds the other side takes its oldest waiter.
//! 2. A node leaves the word or the list exactly once, by the CAS or under the LOCK. Whoever takes it out owes its
//!    thread the wake and has the node to itself until then ([`sched::block`](crate::sched::block), invariant 1).
//! 3. The value moves by the one who took the node: into it (receiver's) or out of it (sender's). How the node's owner
//!    learns of it, and when the node is the owner's again: [`party`](super::party).
//! 4. CLOSED is final.
//!
//! # Who may touch what
//! `list` and the nodes' links: the holder of LOCK. The rest of a node: its owner until it is queued and after it has left;
//! in between, whoever took it out.
//!
//! # Orderings
//! Every successful change of the word is AcqRel (or the Release store that drops LOCK): it publishes the node that it
//! puts in and sees the nodes that others have put in. Loads are Relaxed guesses that a CAS confirms. The way back (the
//! value) travels with the node's own word.
//!
//! A CAS may succeed although the node went and came back in between (ABA): the node that is in the word is then a
//! waiter all the same, and nothing of it was read before, so nothing can be stale.
//!
//! # Rejected
//! * A lock around state and queue: 16 ns a message against 13 (shared/LIMITS.md, part 4).
//! * The paper's queue as it is: it may read nodes that are gone and recovers by a signal handler; undefined in Rust.
//! * Plain operations while only one worker uses the channel (owner bias, 3.6 ns): comes with the issue Events, which
//!   puts its check in front of [`Meeting::meet`] and [`Meeting::leave`]; nothing else changes the word.
//!
//! # Checked by
//! `model::channel` (loom: send, recv, timeout, disconnect, three parties), `tests/channel.rs`, `tests/stress.rs`.

use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, relax};
use std::ptr::{self, NonNull};

/// The two sides of a channel; the values are the tags in the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Side {
    Sender = 1,
    Receiver = 2,
}

const EMPTY: usize = 0;
const CLOSED: usize = 3;
const SIDE: usize = 3;
const LOCK: usize = 4;
const TAGS: usize = 7;

use super::party::{Party, PartyNode};

/// What came of an arrival.
pub(super) enum Arrival<T> {
    /// The oldest waiter of the other side: move the value, set `end`, wake it.
    Peer(NonNull<PartyNode<T>>),
    /// Nobody was there; the node waits now.
    Waiting,
    /// The channel is closed.
    Closed,
}

/// See the module's text.
pub(super) struct Meeting<T> {
    word: AtomicPtr<PartyNode<T>>,
    list: UnsafeCell<List<Party<T>>>,
}

// SAFETY: what crosses kernel threads is values of `T`, moved, and waiters; the rest is ordered by the word.
unsafe impl<T: Send> Send for Meeting<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Meeting<T> {}

fn side_of<T>(word: *mut T) -> usize {
    word.addr() & SIDE
}

fn node_of<T>(word: *mut T) -> Option<NonNull<T>> {
    NonNull::new(word.map_addr(|addr| addr & !TAGS))
}

fn bare<T>(tags: usize) -> *mut T {
    ptr::without_provenance_mut(tags)
}

impl<T> Meeting<T> {
    pub(super) fn new() -> Self {
        Self { word: AtomicPtr::new(bare(EMPTY)), list: UnsafeCell::new(List::new()) }
    }

    /// Changes the word in one step; on failure gives what is there instead.
    #[inline(always)]
    fn change(&self, from: *mut PartyNode<T>, to: *mut PartyNode<T>) -> Result<(), *mut PartyNode<T>> {
        // AcqRel pairs with every other change of the word (see Orderings). Relaxed on failure: only a new guess.
        self.word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).map(drop)
    }

    /// Takes the oldest waiter of the other side, or else waits with `mine` (if it is given).
    ///
    /// With `mine`, the arrival is [`Arrival::Waiting`] and the caller must block; without, it only says that nobody
    /// was there.
    ///
    /// # Safety
    /// `mine` is unlinked, stays where it is until it has been taken out, and its waiter is the calling thread.
    #[inline(always)]
    pub(super) unsafe fn meet(&self, side: Side, mine: Option<NonNull<PartyNode<T>>>) -> Arrival<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let (to, arrival) = if word.addr() == EMPTY {
                let Some(mine) = mine else { return Arrival::Waiting };
                (mine.as_ptr().map_addr(|addr| addr | side as usize), Arrival::Waiting)
            } else if word.addr() & LOCK == 0
                && side_of(word) != side as usize
                && let Some(peer) = node_of(word)
            {
                (bare(EMPTY), Arrival::Peer(peer))
            } else {
                // SAFETY: as promised by the caller.
                match unsafe { self.meet_in_list(word, side, mine) } {
                    Ok(arrival) => return arrival,
                    Err(now) => word = now,
                }
                continue;
            };
            match self.change(word, to) {
                Ok(()) => return arrival,
                Err(now) => word = now,
            }
        }
    }

    /// The rarer half of [`meet`](Self::meet): locked, closed, or more than one waiter. On failure gives the word as it
    /// is now.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet).
    #[cold]
    unsafe fn meet_in_list(
        &self,
        word: *mut PartyNode<T>,
        side: Side,
        mine: Option<NonNull<PartyNode<T>>>,
    ) -> Result<Arrival<T>, *mut PartyNode<T>> {
        if side_of(word) == CLOSED {
            if side == Side::Receiver {
                return self.take_left_over(word);
            }
            return Ok(Arrival::Closed);
        }
        if side_of(word) == side as usize && mine.is_none() {
            return Ok(Arrival::Waiting);
        }
        let waiting = self.lock(word)?;
        if side_of(word) != side as usize {
            let peer = self.with_list(List::pop);
            self.unlock(side_of(word));
            return Ok(Arrival::Peer(peer.unwrap_or_else(|| crate::bug::bug!("MANY without a waiter"))));
        }
        self.with_list(|list| {
            for node in waiting.into_iter().chain(mine) {
                // SAFETY: `waiting` was alone in the word, so in no list, and its thread is blocked; `mine` by contract.
                unsafe { list.push(node) };
            }
        });
        self.unlock(side as usize);
        Ok(Arrival::Waiting)
    }

    /// Takes `mine` out again; false if somebody has it already and owes the wake.
    ///
    /// # Safety
    /// `mine` was queued here by the calling thread with this `side`.
    pub(super) unsafe fn leave(&self, side: Side, mine: NonNull<PartyNode<T>>) -> bool {
        // Relaxed: a guess. If it does not show our node or side, whoever took the node out did so before, and what it
        // did arrives with its wake.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let locked = word.addr() & LOCK != 0;
            let outcome = if !locked && node_of(word) == Some(mine) {
                self.change(word, bare(EMPTY)).map(|()| true)
            } else if !locked && (side_of(word) != side as usize || node_of(word).is_some()) {
                return false;
            } else {
                self.lock(word).map(|_| {
                    // SAFETY: the lock is held; if the node is linked, then in this list.
                    let left = self.with_list(|list| unsafe { list.remove(mine) });
                    self.unlock(side as usize);
                    left
                })
            };
            match outcome {
                Ok(left) => return left,
                Err(now) => word = now,
            }
        }
    }

    /// Gives `mine`, if it still waits, another waiter; gives the one that it had. `None` if somebody has taken the node.
    ///
    /// # Safety
    /// As for [`leave`](Self::leave); the caller is the node's owner.
    pub(super) unsafe fn renew(
        &self,
        side: Side,
        mine: NonNull<PartyNode<T>>,
        waiter: Waiter,
    ) -> Option<Waiter> {
        // Relaxed: a guess, as in `leave`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let unlocked = word.addr() & LOCK == 0;
            if unlocked && (side_of(word) != side as usize || node_of(word).is_some_and(|node| node != mine))
            {
                return None;
            }
            match self.lock(word) {
                Err(now) => word = now,
                Ok(alone) => {
                    // SAFETY: the lock is held; a node that waited alone is in no list, and its owner is the caller.
                    let old = self.with_list(|list| unsafe {
                        alone.into_iter().for_each(|node| list.push(node));
                        mine.as_ref().is_linked().then(|| mine.as_ref().value.replace_waiter(waiter))
                    });
                    self.unlock(side as usize);
                    return old;
                }
            }
        }
    }

    /// A receiver has come to a closed channel: there may be a value that was handed back after the last sender had gone.
    fn take_left_over(&self, word: *mut PartyNode<T>) -> Result<Arrival<T>, *mut PartyNode<T>> {
        self.lock(word)?;
        let ghost = self.with_list(List::pop);
        self.unlock(CLOSED);
        Ok(ghost.map_or(Arrival::Closed, Arrival::Peer))
    }

    /// Hands a value back that a receiver was given and does not want: `ghost`, a sender's node without a thread, goes
    /// before all other senders, and stays also if there is no sender left. Unless a receiver waits: then that is
    /// returned, and the ghost is still the caller's.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet); the node belongs to whoever takes it out. The caller has a receiver.
    pub(super) unsafe fn put_back(&self, ghost: NonNull<PartyNode<T>>) -> Option<NonNull<PartyNode<T>>> {
        loop {
            // SAFETY: without a node of ours there is nothing to promise.
            if let Arrival::Peer(receiver) = unsafe { self.meet(Side::Sender, None) } {
                return Some(receiver);
            }
            // Relaxed: a guess, confirmed by the CAS in `lock`.
            let word = self.word.load(Ordering::Relaxed);
            let state = side_of(word);
            if state == Side::Receiver as usize {
                continue;
            }
            if let Ok(alone) = self.lock(word) {
                self.with_list(|list| {
                    for node in alone.into_iter().chain([ghost]) {
                        // SAFETY: the lock is held; both are in no list, and stay until they are taken out.
                        unsafe { list.push_front(node) };
                    }
                });
                self.unlock(if state == CLOSED { CLOSED } else { Side::Sender as usize });
                return None;
            }
        }
    }

    /// Closes the channel, because `side` is gone. `each` gets all who wait, oldest first, to give them their `end` and their
    /// wake. Values that were handed back stay until the receivers are gone too.
    pub(super) fn close(&self, side: Side, mut each: impl FnMut(NonNull<PartyNode<T>>)) {
        // Relaxed: a guess; a channel that is closed stays so.
        let mut word = self.word.load(Ordering::Relaxed);
        while side == Side::Receiver || side_of(word) != CLOSED {
            match self.lock(word) {
                // No sender is left, so these are values that are being handed back.
                Ok(alone) if side == Side::Sender && side_of(word) == Side::Sender as usize => {
                    // SAFETY: the lock is held; a node that was alone is in no list.
                    self.with_list(|list| unsafe { alone.into_iter().for_each(|node| list.push(node)) });
                    return self.unlock(CLOSED);
                }
                Ok(alone) => {
                    let many = self.with_list(List::take);
                    // Release pairs with the next look at the word.
                    self.word.store(bare(CLOSED), Ordering::Release);
                    // A node is out of the list before its thread is woken; those behind it are still blocked.
                    alone.into_iter().for_each(&mut each);
                    return std::iter::from_fn(|| many.pop()).for_each(&mut each);
                }
                Err(now) => word = now,
            }
        }
    }

    /// Takes the LOCK if the word is still `word`, and with it the node that waited alone, if one did. On failure gives
    /// the word as it is now, not locked.
    fn lock(&self, word: *mut PartyNode<T>) -> Result<Option<NonNull<PartyNode<T>>>, *mut PartyNode<T>> {
        let mut now = word;
        if word.addr() & LOCK == 0 {
            match self.change(word, bare(side_of(word) | LOCK)) {
                Ok(()) => return Ok(node_of(word)),
                Err(other) => now = other,
            }
        }
        let mut spins = 0;
        while now.addr() & LOCK != 0 {
            relax(&mut spins);
            // Relaxed: only waits; the caller looks again.
            now = self.word.load(Ordering::Relaxed);
        }
        Err(now)
    }

    /// Drops the LOCK: `MANY(side)`, or EMPTY if the list has become empty; or CLOSED.
    fn unlock(&self, side: usize) {
        let is_empty = side != CLOSED && self.with_list(|list| list.is_empty());
        let state = if is_empty { EMPTY } else { side };
        // Release pairs with the next change of the word.
        self.word.store(bare(state), Ordering::Release);
    }

    /// The list, for the holder of LOCK.
    fn with_list<R>(&self, f: impl FnOnce(&List<Party<T>>) -> R) -> R {
        // SAFETY: only the holder of LOCK calls this.
        self.list.with_mut(|list| f(unsafe { &*list }))
    }
}
