//! The place where two sides meet: the word and the lists, and what is done with them, in either [`Mode`].

use super::super::party::{Party, PartyNode};
use super::waiters::Waiters;
use super::{Arrival, Offering, Side};
use crate::bias::Bias;
use crate::events::protocol::Choice;
use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, relax};
use std::ptr::{self, NonNull};

const EMPTY: usize = 0;
const MANY: usize = 8;
const CLOSED: usize = 3;
const SIDE: usize = 3;
const LOCK: usize = 4;
const TAGS: usize = 7;

/// How the word is changed.
pub(super) trait Mode: Copy {
    /// Changes `word` in one step, from what the caller has seen; on failure gives what is there instead.
    fn change<T>(self, word: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<(), *mut T>;
}

/// Others may be here too.
#[derive(Clone, Copy)]
pub(super) struct Atomic;

/// Nobody else is, since the caller has read the word and until it has changed it: the owner's section.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Mode for Atomic {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change<T>(self, word: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<(), *mut T> {
        // AcqRel pairs with every other change of the word (see Orderings). Relaxed on failure: only a new
        // guess.
        word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).map(drop)
    }
}

impl Mode for Plain {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change<T>(self, word: &AtomicPtr<T>, _: *mut T, to: *mut T) -> Result<(), *mut T> {
        // Relaxed: whoever is here next comes after the section's end (`bias`).
        word.store(to, Ordering::Relaxed);
        Ok(())
    }
}

/// See the module's text. Every function is called in the mode that the channel's bias says.
///
/// What each operation looks at comes first: 16 bytes, which are in one line of the cache.
#[repr(C)]
pub(super) struct Place<T> {
    word: AtomicPtr<PartyNode<T>>,
    pub(super) bias: Bias,
    pub(super) attach_inline: bool,
    lists: UnsafeCell<Waiters<T>>,
}

pub(super) fn side_of<T>(word: *mut T) -> usize {
    word.addr() & SIDE
}

/// The node in the word, if there is one; a word that is not locked.
fn node_of<T>(word: *mut T) -> Option<NonNull<T>> {
    alone_of(word, Side::Sender).or_else(|| alone_of(word, Side::Receiver))
}

/// The node of the one of `side` who waits alone, and nobody works on the lists.
#[cfg_attr(not(debug_assertions), inline(always))]
fn alone_of<T>(word: *mut T, side: Side) -> Option<NonNull<T>> {
    // SAFETY: only ONE has these low bits, and that has a node.
    (word.addr() & TAGS == side as usize)
        .then(|| unsafe { NonNull::new_unchecked(word.map_addr(|addr| addr - side as usize)) })
}

fn bare<T>(tags: usize) -> *mut T {
    ptr::without_provenance_mut(tags)
}

/// True if the lists have somebody, and nobody works on them.
fn is_many<T>(word: *mut T) -> bool {
    word.addr() == MANY
}

impl<T> Place<T> {
    pub(super) fn new(bias: Bias, attach_inline: bool) -> Self {
        let lists = UnsafeCell::new(Waiters::new());
        Self { word: AtomicPtr::new(bare(EMPTY)), bias, attach_inline, lists }
    }

    /// True if nobody waited just now; also for those who are not here properly.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: whoever came before the caller (happens-before) is seen; of others nothing was promised.
        self.word.load(Ordering::Relaxed).addr() == EMPTY
    }

    /// See [`Meeting::meet`](super::Meeting::meet).
    ///
    /// # Safety
    /// As said there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: Option<NonNull<PartyNode<T>>>,
    ) -> Arrival<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if let Some(peer) = alone_of(word, side.other()) {
                match mode.change(&self.word, word, bare(EMPTY)) {
                    // SAFETY: just taken out.
                    Ok(()) => match unsafe { peer.as_ref() }.value.as_thread() {
                        Some(thread) => return Arrival::Thread(peer, thread),
                        // SAFETY: as above.
                        None if unsafe { peer.as_ref() }.value.accept() => return Arrival::Peer(peer),
                        None => word = bare(EMPTY),
                    },
                    Err(now) => word = now,
                }
            } else if word.addr() == EMPTY {
                let Some(mine) = mine else { return Arrival::Waiting };
                match mode.change(&self.word, word, mine.as_ptr().map_addr(|addr| addr | side as usize)) {
                    Ok(()) => return Arrival::Waiting,
                    Err(now) => word = now,
                }
            } else {
                // SAFETY: as promised by the caller.
                match unsafe { self.meet_in_list(mode, word, side, mine) } {
                    Ok(arrival) => return arrival,
                    Err(now) => word = now,
                }
            }
        }
    }

    /// The rarer half of [`meet`](Self::meet): locked, closed, or more than one waiter. On failure gives the
    /// word as it is now.
    ///
    /// # Safety
    /// As for [`meet`](Self::meet).
    #[cold]
    unsafe fn meet_in_list<M: Mode>(
        &self,
        mode: M,
        word: *mut PartyNode<T>,
        side: Side,
        mine: Option<NonNull<PartyNode<T>>>,
    ) -> Result<Arrival<T>, *mut PartyNode<T>> {
        if side_of(word) == CLOSED {
            if side == Side::Receiver {
                return self.take_left_over(mode, word);
            }
            return Ok(Arrival::Closed);
        }
        let alone = self.lock(mode, word)?;
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

    /// See [`Meeting::offer`](super::Meeting::offer).
    ///
    /// # Safety
    /// As said there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn offer<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: NonNull<PartyNode<T>>,
        choice: &Choice,
    ) -> Offering<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        if word.addr() == EMPTY
            && mode.change(&self.word, word, mine.as_ptr().map_addr(|addr| addr | side as usize)).is_ok()
        {
            return Offering::Waiting;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.offer_in_list(mode, side, mine, choice) }
    }

    /// The rarer half of [`offer`](Self::offer): somebody else is there, or the channel is closed.
    ///
    /// # Safety
    /// As for [`offer`](Self::offer).
    #[cold]
    #[inline(never)]
    unsafe fn offer_in_list<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: NonNull<PartyNode<T>>,
        choice: &Choice,
    ) -> Offering<T> {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        let alone = loop {
            match self.lock(mode, word) {
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

    /// See [`Meeting::leave`](super::Meeting::leave).
    ///
    /// # Safety
    /// As said there.
    pub(super) unsafe fn leave<M: Mode>(&self, mode: M, side: Side, mine: NonNull<PartyNode<T>>) -> bool {
        // Relaxed: a guess. If it does not show our node or side, whoever took the node out did so before,
        // and what it did arrives with its wake.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let locked = word.addr() & LOCK != 0;
            let outcome = if !locked && node_of(word) == Some(mine) {
                mode.change(&self.word, word, bare(EMPTY)).map(|()| true)
            } else if !locked && !is_many(word) {
                return false;
            } else {
                self.lock(mode, word).map(|alone| {
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

    /// See [`Meeting::renew`](super::Meeting::renew).
    ///
    /// # Safety
    /// As said there.
    pub(super) unsafe fn renew<M: Mode>(
        &self,
        mode: M,
        mine: NonNull<PartyNode<T>>,
        waiter: Waiter,
    ) -> Option<Waiter> {
        // Relaxed: a guess, as in `leave`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let unlocked = word.addr() & LOCK == 0;
            if unlocked && !is_many(word) && node_of(word) != Some(mine) {
                return None;
            }
            match self.lock(mode, word) {
                Err(now) => word = now,
                Ok(alone) => {
                    // SAFETY: the lock is held; a node that waited alone is in no list, and its owner is the
                    // caller.
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

    /// A receiver has come to a closed channel: there may be a value that was handed back after the last
    /// sender had gone.
    fn take_left_over<M: Mode>(
        &self,
        mode: M,
        word: *mut PartyNode<T>,
    ) -> Result<Arrival<T>, *mut PartyNode<T>> {
        self.lock(mode, word)?;
        let ghost = self.with_lists(|lists| lists.senders.pop());
        self.unlock_closed();
        Ok(ghost.map_or(Arrival::Closed, Arrival::Peer))
    }

    /// See [`Meeting::put_back`](super::Meeting::put_back).
    ///
    /// # Safety
    /// As said there.
    pub(super) unsafe fn put_back<M: Mode>(
        &self,
        mode: M,
        ghost: NonNull<PartyNode<T>>,
    ) -> Option<NonNull<PartyNode<T>>> {
        // Relaxed: a guess, confirmed by the CAS in `lock`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match self.lock(mode, word) {
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

    /// See [`Meeting::close`](super::Meeting::close).
    pub(super) fn close<M: Mode>(&self, mode: M, side: Side) -> List<Party<T>> {
        // Relaxed: a guess; a channel that is closed stays so.
        let mut word = self.word.load(Ordering::Relaxed);
        while side == Side::Receiver || side_of(word) != CLOSED {
            match self.lock(mode, word) {
                Ok(alone) => {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        lists.of(side.other()).take()
                    });
                    self.unlock_closed();
                    return left;
                }
                Err(now) => word = now,
            }
        }
        List::new()
    }

    /// Takes the LOCK if the word is still `word`, and with it the node that waited alone, if one did. On
    /// failure gives the word as it is now, not locked.
    fn lock<M: Mode>(
        &self,
        mode: M,
        word: *mut PartyNode<T>,
    ) -> Result<Option<NonNull<PartyNode<T>>>, *mut PartyNode<T>> {
        let mut now = word;
        if word.addr() & LOCK == 0 {
            match mode.change(&self.word, word, bare(side_of(word) | LOCK)) {
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
        let is_empty = self.with_lists(|lists| lists.senders.is_empty() && lists.receivers.is_empty());
        // Release pairs with the next change of the word.
        self.word.store(bare(if is_empty { EMPTY } else { MANY }), Ordering::Release);
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
