//! The state word and the wait lists of a channel, and the operations on them, in either [`Mode`].

use super::waiters::Waiters;
use super::{Arrival, Offering, Side};
use crate::bias::Bias;
use crate::channel::rendezvous::wait_node::{NodeHead, NodeState};
use crate::events::protocol::Choice;
use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::ptr::{self, NonNull};

const EMPTY: usize = 0;
const MANY: usize = 8;
const CLOSED: usize = 3;
pub(super) const SIDE: usize = 3;
const LOCK: usize = 4;
const TAGS: usize = 7;

/// How the word is changed.
pub(super) trait Mode: Copy {
    /// Changes `word` in one step from the value that the caller has seen; on failure returns the present
    /// value.
    fn change<T>(self, word: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<(), *mut T>;
}

/// Other threads may touch the word.
#[derive(Clone, Copy)]
pub(super) struct Atomic;

/// No other thread touches the word between the caller's read and its change: the owner's section.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Mode for Atomic {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change<T>(self, word: &AtomicPtr<T>, from: *mut T, to: *mut T) -> Result<(), *mut T> {
        // AcqRel pairs with every other change of the word (`wait_queue`, Orderings). Relaxed on failure:
        // only a new guess.
        word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).map(drop)
    }
}

impl Mode for Plain {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change<T>(self, word: &AtomicPtr<T>, _: *mut T, to: *mut T) -> Result<(), *mut T> {
        // Relaxed: the next thread comes after the section's end, which orders it (`bias`).
        word.store(to, Ordering::Relaxed);
        Ok(())
    }
}

/// The fields of a [`WaitQueue`](super::WaitQueue). Every function is called in the mode that the channel's
/// bias says.
///
/// The fields that each operation reads come first: 16 bytes, in one cache line.
#[repr(C)]
pub(super) struct QueueState {
    word: AtomicPtr<NodeHead>,
    pub(super) bias: Bias,
    pub(super) attach_inline: bool,
    lists: UnsafeCell<Waiters>,
}

pub(super) fn side_of<T>(word: *mut T) -> usize {
    word.addr() & SIDE
}

/// The node in a word that is not locked, if there is one.
fn node_of<T>(word: *mut T) -> Option<NonNull<T>> {
    alone_of(word, Side::Sender).or_else(|| alone_of(word, Side::Receiver))
}

/// The node of a lone waiter of `side`, if the word is that and not locked.
#[cfg_attr(not(debug_assertions), inline(always))]
fn alone_of<T>(word: *mut T, side: Side) -> Option<NonNull<T>> {
    // SAFETY: only ONE has these low bits, and that has a node.
    (word.addr() & TAGS == side.tag())
        .then(|| unsafe { NonNull::new_unchecked(word.map_addr(|addr| addr - side.tag())) })
}

fn bare<T>(tags: usize) -> *mut T {
    ptr::without_provenance_mut(tags)
}

/// True if waiters are in the lists and the lists are not locked.
fn is_many<T>(word: *mut T) -> bool {
    word.addr() == MANY
}

impl QueueState {
    pub(super) fn new(bias: Bias, attach_inline: bool) -> Self {
        let lists = UnsafeCell::new(Waiters::new());
        Self { word: AtomicPtr::new(bare(EMPTY)), bias, attach_inline, lists }
    }

    /// True if no thread waited just now; may be called outside of a section.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: a waiter whose queueing happened before this call is seen; nothing is promised about
        // others.
        self.word.load(Ordering::Relaxed).addr() == EMPTY
    }

    /// The body of [`WaitQueue::meet`](super::WaitQueue::meet).
    ///
    /// # Safety
    /// As for `WaitQueue::meet`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn meet<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: Option<NonNull<NodeHead>>,
    ) -> Arrival {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if let Some(peer) = alone_of(word, side.other()) {
                match mode.change(&self.word, word, bare(EMPTY)) {
                    // SAFETY: just taken out.
                    Ok(()) => match unsafe { peer.as_ref() }.value.as_thread() {
                        Some(thread) => return Arrival::Thread(peer, thread),
                        // SAFETY: just taken out, and not a thread's node.
                        None if unsafe { peer.as_ref() }.value.accept() => return Arrival::Peer(peer),
                        // The offer of an ended choice. Before that ended, another thread may have come here.
                        // Relaxed: a guess; what came before the end was acquired in `accept`.
                        None if !left_out!(StaleWord) => word = self.word.load(Ordering::Relaxed),
                        None => word = bare(EMPTY),
                    },
                    Err(now) => word = now,
                }
            } else if word.addr() == EMPTY {
                let Some(mine) = mine else { return Arrival::Waiting };
                match mode.change(&self.word, word, mine.as_ptr().map_addr(|addr| addr | side.tag())) {
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
        word: *mut NodeHead,
        side: Side,
        mine: Option<NonNull<NodeHead>>,
    ) -> Result<Arrival, *mut NodeHead> {
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
            if let Some(peer) = lists.pop_peer_of(side) {
                return Arrival::Peer(peer);
            }
            // SAFETY: by contract.
            mine.into_iter().for_each(|mine| unsafe { lists.of(side).push(mine) });
            Arrival::Waiting
        });
        self.unlock();
        Ok(arrival)
    }

    /// Queues `mine` if no other node waits; true if that was done.
    ///
    /// # Safety
    /// As for [`WaitQueue::offer`](super::WaitQueue::offer).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn offer_first<M: Mode>(&self, mode: M, side: Side, mine: NonNull<NodeHead>) -> bool {
        // Relaxed: a guess, confirmed by the CAS.
        let word = self.word.load(Ordering::Relaxed);
        word.addr() == EMPTY
            && mode.change(&self.word, word, mine.as_ptr().map_addr(|addr| addr | side.tag())).is_ok()
    }

    /// The body of [`WaitQueue::offer`](super::WaitQueue::offer).
    ///
    /// # Safety
    /// As for `WaitQueue::offer`.
    pub(super) unsafe fn offer<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: NonNull<NodeHead>,
        choice: &Choice,
    ) -> Offering {
        // SAFETY: as promised by the caller.
        unsafe {
            if self.offer_first(mode, side, mine) {
                return Offering::Waiting;
            }
            self.offer_in_list(mode, side, mine, choice)
        }
    }

    /// The rarer half of [`offer`](Self::offer): another waiter is there, or the channel is closed.
    ///
    /// # Safety
    /// As for [`offer`](Self::offer).
    unsafe fn offer_in_list<M: Mode>(
        &self,
        mode: M,
        side: Side,
        mine: NonNull<NodeHead>,
        choice: &Choice,
    ) -> Offering {
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
            // SAFETY: the lock is held; a closed channel has no lone waiter.
            unsafe { lists.list_alone(alone, word) };
            match lists.meet_choice(side, choice) {
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

    /// Takes `mine` out if it is in the word; true if that was done.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn leave_alone<M: Mode>(&self, mode: M, side: Side, mine: NonNull<NodeHead>) -> bool {
        let ours = mine.as_ptr().map_addr(|addr| addr | side.tag());
        // Relaxed: a guess, confirmed by the CAS.
        self.word.load(Ordering::Relaxed) == ours && mode.change(&self.word, ours, bare(EMPTY)).is_ok()
    }

    /// The body of [`WaitQueue::leave`](super::WaitQueue::leave).
    ///
    /// # Safety
    /// As for `WaitQueue::leave`.
    pub(super) unsafe fn leave<M: Mode>(&self, mode: M, side: Side, mine: NonNull<NodeHead>) -> bool {
        // Relaxed: a guess. If it does not show our node or its list, another thread has taken the node out,
        // and that thread's wake publishes what it did.
        let mut word = self.word.load(Ordering::Relaxed);
        let ours = mine.as_ptr().map_addr(|addr| addr | side.tag());
        loop {
            let outcome = if word == ours {
                mode.change(&self.word, word, bare(EMPTY)).map(|()| true)
            } else if word.addr() & LOCK == 0 && !is_many(word) {
                return false;
            } else {
                self.lock(mode, word).map(|alone| {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held; if our node is linked, it is linked in this list.
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

    /// The body of [`WaitQueue::renew`](super::WaitQueue::renew).
    ///
    /// # Safety
    /// As for `WaitQueue::renew`.
    pub(super) unsafe fn renew<M: Mode>(
        &self,
        mode: M,
        mine: NonNull<NodeHead>,
        waiter: Waiter,
    ) -> Option<Waiter> {
        // Relaxed: a guess; a node that it does not show was taken, and the wake publishes the rest.
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

    /// A receiver at a closed channel: takes an undelivered value that was handed back after the last sender
    /// had gone, if there is one.
    fn take_left_over<M: Mode>(&self, mode: M, word: *mut NodeHead) -> Result<Arrival, *mut NodeHead> {
        self.lock(mode, word)?;
        let handed_back = self.with_lists(|lists| lists.senders.pop());
        self.unlock_closed();
        Ok(handed_back.map_or(Arrival::Closed, Arrival::Peer))
    }

    /// The body of [`WaitQueue::put_back`](super::WaitQueue::put_back).
    ///
    /// # Safety
    /// As for `WaitQueue::put_back`.
    pub(super) unsafe fn put_back<M: Mode>(
        &self,
        mode: M,
        handed_back: NonNull<NodeHead>,
    ) -> Option<NonNull<NodeHead>> {
        // Relaxed: a guess, confirmed by the CAS in `lock`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match self.lock(mode, word) {
                Err(now) => word = now,
                Ok(alone) => {
                    let receiver = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        let receiver = lists.pop_peer_of(Side::Sender);
                        if receiver.is_none() {
                            // SAFETY: by contract.
                            unsafe { lists.senders.push_front(handed_back) };
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

    /// The body of [`WaitQueue::close`](super::WaitQueue::close).
    pub(super) fn close<M: Mode>(&self, mode: M, side: Side) -> List<NodeState> {
        // Relaxed: a guess, confirmed by the CAS in `lock`; CLOSED is final.
        let mut word = self.word.load(Ordering::Relaxed);
        while side == Side::Receiver || side_of(word) != CLOSED {
            match self.lock(mode, word) {
                Ok(alone) => {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        lists.peers_of(side).take()
                    });
                    self.unlock_closed();
                    return left;
                }
                Err(now) => word = now,
            }
        }
        List::new()
    }

    /// The body of [`WaitQueue::shut`](super::WaitQueue::shut).
    pub(super) fn shut<M: Mode>(&self, mode: M) -> Option<[List<NodeState>; 2]> {
        // Relaxed: a guess, confirmed by the CAS in `lock`; CLOSED is final.
        let mut word = self.word.load(Ordering::Relaxed);
        while side_of(word) != CLOSED {
            match self.lock(mode, word) {
                Ok(alone) => {
                    let left = self.with_lists(|lists| {
                        // SAFETY: the lock is held.
                        unsafe { lists.list_alone(alone, word) };
                        lists.take_waiting()
                    });
                    self.unlock_closed();
                    return Some(left);
                }
                Err(now) => word = now,
            }
        }
        None
    }

    /// True if the channel is closed; may be called outside of a section.
    pub(super) fn is_closed(&self) -> bool {
        // Acquire pairs with the store of `unlock_closed`: what its caller did before is seen.
        side_of(self.word.load(Ordering::Acquire)) == CLOSED
    }

    /// Takes the LOCK if the word is still `word`; returns the lone waiter's node, if the word had one. On
    /// failure returns the present word, which is not locked.
    fn lock<M: Mode>(
        &self,
        mode: M,
        word: *mut NodeHead,
    ) -> Result<Option<NonNull<NodeHead>>, *mut NodeHead> {
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
            // Relaxed: only spins; the caller reads again and confirms by CAS.
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
    fn with_lists<R>(&self, f: impl FnOnce(&Waiters) -> R) -> R {
        // SAFETY: only the holder of LOCK calls this.
        self.lists.with_mut(|lists| f(unsafe { &*lists }))
    }
}
