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
//! MANY(side)           several do; they are in the lists, oldest first
//! CLOSED               one side is gone for good; the senders' list may have values that were handed back, for receivers that
//!                      are left
//! any of them | LOCK   somebody works on the lists, and will store the next state
//! ```
//!
//! # Invariants
//! 1. Two that match do not both wait: who arrives and finds the other side takes its oldest waiter. Both lists have nodes only
//!    while an offer is among them that cannot be met: its choice is decided, or waits on both sides (and `side` is then one of
//!    the two).
//! 2. A node leaves the word or its list exactly once, by the CAS or under the LOCK. Whoever takes it out owes its
//!    thread the wake and has the node to itself until then ([`sched::block`](crate::sched::block), invariant 1). Of an offer, that
//!    holds if it has synched the choice too ([`Choice`](crate::event::protocol::Choice)); if not, it only lets the node go.
//! 3. The value moves by the one who took the node: into it (receiver's) or out of it (sender's). How the node's owner
//!    learns of it, and when the node is the owner's again: [`party`](super::party).
//! 4. CLOSED is final.
//! 5. An offer is looked for in the lists and queued under one LOCK, because it must not take a peer out before its own choice is
//!    synched. Where nobody waits it comes into the word as others do.
//!
//! # Who may touch what
//! The lists and the nodes' links: the holder of LOCK. The rest of a node: its owner until it is queued and after it has left;
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
//! `model::channel` (loom: send, recv, timeout, disconnect, three parties), `model::choice` (offers), `tests/channel.rs`,
//! `tests/stress.rs`.

use super::party::{At, Party, PartyNode};
use crate::event::protocol::{Both, Choice, left_out};
use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, relax};
use std::ptr::{self, NonNull};

/// The two sides of a channel; the values are the tags in the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Side {
    Sender = 1,
    Receiver = 2,
}

const EMPTY: usize = 0;
const CLOSED: usize = 3;
const SIDE: usize = 3;
const LOCK: usize = 4;
const TAGS: usize = 7;

/// What came of an arrival.
pub(super) enum Arrival<T> {
    /// The oldest waiter of the other side: move the value, set `end`, wake it.
    Peer(NonNull<PartyNode<T>>),
    /// Nobody was there; the node waits now.
    Waiting,
    /// The channel is closed.
    Closed,
}

/// What came of an offer.
pub(super) enum Offering<T> {
    /// The choice is synched with this peer: as [`Arrival::Peer`].
    Peer(NonNull<PartyNode<T>>),
    /// Nobody was there; the node waits now.
    Waiting,
    /// The channel is closed, and the choice synched with that.
    Closed,
    /// Somebody has synched the choice before.
    Lost,
}

/// Who waits, in the lists.
struct Waiters<T> {
    senders: List<Party<T>>,
    receivers: List<Party<T>>,
}

/// See the module's text.
pub(super) struct Meeting<T> {
    word: AtomicPtr<PartyNode<T>>,
    lists: UnsafeCell<Waiters<T>>,
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

/// True if the lists have somebody, and nobody works on them.
fn is_many<T>(word: *mut T) -> bool {
    matches!(word.addr(), 1 | 2)
}

impl Side {
    fn other(self) -> Self {
        if self == Side::Sender { Side::Receiver } else { Side::Sender }
    }
}

impl<T> Waiters<T> {
    fn of(&self, side: Side) -> &List<Party<T>> {
        if side == Side::Sender { &self.senders } else { &self.receivers }
    }

    /// Takes the oldest of `side` out who can be met.
    fn pop(&self, side: Side) -> Option<NonNull<PartyNode<T>>> {
        loop {
            let node = self.of(side).pop()?;
            // SAFETY: just taken out.
            if unsafe { node.as_ref() }.value.accept() {
                return Some(node);
            }
        }
    }
}

/// Under the lock.
impl<T> Waiters<T> {
    /// Puts the one that waited alone in `word` into its list.
    ///
    /// # Safety
    /// The lock has just been taken from this `word`.
    unsafe fn list_alone(&self, alone: Option<NonNull<PartyNode<T>>>, word: *mut PartyNode<T>) {
        if let Some(node) = alone {
            let list = if side_of(word) == Side::Sender as usize { &self.senders } else { &self.receivers };
            // SAFETY: it was alone in the word, so in no list; its owner waits until it is out.
            unsafe { list.push(node) };
        }
    }

    /// The oldest of `side` whom `choice` can meet, taken out, with the choice synched. Not one of its own offers.
    fn meet_choice(&self, side: Side, choice: &Choice) -> Offering<T> {
        let list = self.of(side);
        loop {
            let found = list.find(|node| match node.value.waiter() {
                At::Offer(theirs) => !std::ptr::eq(theirs.as_ptr(), choice),
                _ => true,
            });
            let Some(node) = found else { return Offering::Waiting };
            // SAFETY: linked, and the lock is held.
            let party = unsafe { &node.as_ref().value };
            let both = match party.waiter() {
                // SAFETY: a choice outlives its queued offers.
                At::Offer(theirs) => choice.synch_both(unsafe { theirs.as_ref() }),
                _ if left_out!(OwnSynch) || choice.synch() => Both::Synched,
                _ => Both::OursIsGone,
            };
            if both == Both::OursIsGone {
                return Offering::Lost;
            }
            // SAFETY: linked in this list.
            unsafe { list.remove(node) };
            if both == Both::Synched {
                return Offering::Peer(node);
            }
            party.set_stale();
        }
    }
}

impl<T> Meeting<T> {
    pub(super) fn new() -> Self {
        let lists = Waiters { senders: List::new(), receivers: List::new() };
        Self { word: AtomicPtr::new(bare(EMPTY)), lists: UnsafeCell::new(lists) }
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
                Ok(()) => match arrival {
                    // SAFETY: just taken out.
                    Arrival::Peer(peer) if !unsafe { peer.as_ref() }.value.accept() => word = to,
                    arrival => return arrival,
                },
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
        let alone = self.lock(word)?;
        let arrival = self.with_lists(|lists| {
            // SAFETY: the lock is held.
            unsafe { lists.list_alone(alone, word) };
            if let Some(peer) = lists.pop(side.other()) {
                return Arrival::Peer(peer);
            }
            // SAFETY: by contract.
            mine.into_iter().for_each(|mine| unsafe { lists.of(side).push(mine) });
            Arrival::Waiting
        });
        self.unlock();
        Ok(arrival)
    }

    /// Offers to meet the other side in the name of `choice`.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet), and `mine` is an offer of `choice`, which is the calling thread's.
    #[inline(always)]
    pub(super) unsafe fn offer(
        &self,
        side: Side,
        mine: NonNull<PartyNode<T>>,
        choice: &Choice,
    ) -> Offering<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if word.addr() == EMPTY
            && self.change(word, mine.as_ptr().map_addr(|addr| addr | side as usize)).is_ok()
        {
            return Offering::Waiting;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.offer_in_list(side, mine, choice) }
    }

    /// The rarer half of [`offer`](Self::offer): somebody else is there, or the channel is closed.
    ///
    /// # Safety
    /// As for [`offer`](Self::offer).
    #[cold]
    #[inline(never)]
    unsafe fn offer_in_list(&self, side: Side, mine: NonNull<PartyNode<T>>, choice: &Choice) -> Offering<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        let alone = loop {
            match self.lock(word) {
                Ok(alone) => break alone,
                Err(now) => word = now,
            }
        };
        let is_closed = side_of(word) == CLOSED;
        let offering = self.with_lists(|lists| {
            // SAFETY: the lock is held; a channel that is closed has nobody alone.
            unsafe { lists.list_alone(alone, word) };
            match lists.meet_choice(side.other(), choice) {
                Offering::Waiting if is_closed => {
                    return if choice.synch() { Offering::Closed } else { Offering::Lost };
                }
                // SAFETY: by contract.
                Offering::Waiting => unsafe { lists.of(side).push(mine) },
                met => return met,
            }
            Offering::Waiting
        });
        if is_closed {
            self.unlock_closed()
        } else {
            self.unlock()
        }
        offering
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
            } else if !locked && !is_many(word) {
                return false;
            } else {
                self.lock(word).map(|alone| {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held; if our node is linked, then in this list.
                        unsafe {
                            lists.list_alone(alone, word);
                            lists.of(side).remove(mine)
                        }
                    });
                    self.unlock();
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
    pub(super) unsafe fn renew(&self, mine: NonNull<PartyNode<T>>, waiter: Waiter) -> Option<Waiter> {
        // Relaxed: a guess, as in `leave`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let unlocked = word.addr() & LOCK == 0;
            if unlocked && !is_many(word) && node_of(word) != Some(mine) {
                return None;
            }
            match self.lock(word) {
                Err(now) => word = now,
                Ok(alone) => {
                    // SAFETY: the lock is held; a node that waited alone is in no list, and its owner is the caller.
                    let old = self.with_lists(|lists| unsafe {
                        lists.list_alone(alone, word);
                        mine.as_ref().is_linked().then(|| mine.as_ref().value.replace_waiter(waiter))
                    });
                    self.unlock();
                    return old;
                }
            }
        }
    }

    /// A receiver has come to a closed channel: there may be a value that was handed back after the last sender had gone.
    fn take_left_over(&self, word: *mut PartyNode<T>) -> Result<Arrival<T>, *mut PartyNode<T>> {
        self.lock(word)?;
        let ghost = self.with_lists(|lists| lists.senders.pop());
        self.unlock_closed();
        Ok(ghost.map_or(Arrival::Closed, Arrival::Peer))
    }

    /// Hands a value back that a receiver was given and does not want: `ghost`, a sender's node without a thread, goes
    /// before all other senders, and stays also if there is no sender left. Unless a receiver waits: then that is
    /// returned, and the ghost is still the caller's.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet); the node belongs to whoever takes it out. The caller has a receiver.
    pub(super) unsafe fn put_back(&self, ghost: NonNull<PartyNode<T>>) -> Option<NonNull<PartyNode<T>>> {
        // Relaxed: a guess, confirmed by the CAS in `lock`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match self.lock(word) {
                Err(now) => word = now,
                Ok(alone) => {
                    let receiver = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        let receiver = lists.pop(Side::Receiver);
                        if receiver.is_none() {
                            // SAFETY: by contract.
                            unsafe { lists.senders.push_front(ghost) };
                        }
                        receiver
                    });
                    if side_of(word) == CLOSED {
                        self.unlock_closed()
                    } else {
                        self.unlock()
                    }
                    return receiver;
                }
            }
        }
    }

    /// Closes the channel, because `side` is gone. `each` gets all of the other side, oldest first, to give them their `end` and
    /// their wake. Values that were handed back are senders: they stay until the receivers are gone too.
    pub(super) fn close(&self, side: Side, mut each: impl FnMut(NonNull<PartyNode<T>>)) {
        // Relaxed: a guess; a channel that is closed stays so.
        let mut word = self.word.load(Ordering::Relaxed);
        while side == Side::Receiver || side_of(word) != CLOSED {
            match self.lock(word) {
                Ok(alone) => {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        lists.of(side.other()).take()
                    });
                    self.unlock_closed();
                    // A node is out of the list before its thread is woken; those behind it have not been let go.
                    return std::iter::from_fn(|| left.pop()).for_each(&mut each);
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

    /// Drops the LOCK: MANY, or EMPTY if the lists have become empty.
    fn unlock(&self) {
        let state = self.with_lists(|lists| match (lists.senders.is_empty(), lists.receivers.is_empty()) {
            (true, true) => EMPTY,
            (false, _) => Side::Sender as usize,
            _ => Side::Receiver as usize,
        });
        // Release pairs with the next change of the word.
        self.word.store(bare(state), Ordering::Release);
    }

    /// Drops the LOCK: CLOSED.
    fn unlock_closed(&self) {
        // Release pairs with the next change of the word.
        self.word.store(bare(CLOSED), Ordering::Release);
    }

    /// The lists, for the holder of LOCK.
    fn with_lists<R>(&self, f: impl FnOnce(&Waiters<T>) -> R) -> R {
        // SAFETY: only the holder of LOCK calls this.
        self.lists.with_mut(|lists| f(unsafe { &*lists }))
    }
}
