//! The wait node of a channel or lock: the word that its owner and its peer share, and a slot for the value.
//!
//! # States (`word`)
//! ```text
//! NEW --queue--> a waiter --taken by a peer--> MET or CLOSED            a thread or foreign waker
//!                         --taken by a peer--> HELD, then MET or CLOSED a stackless parasite
//!                         --left by its owner--> (the owner's again)
//! NEW --queue--> an offer --taken by a peer that synched its choice--> as a waiter, the choice's
//!                         --taken by a peer that could not--> STALE
//!                         --left by its owner--> (the owner's again)
//! UNDELIVERED   an undelivered value that was handed back: no owner; the node is boxed, and its taker frees it
//! ```
//!
//! # Invariants
//! 1. From "taken" until MET, CLOSED or STALE the peer owns the node. In that time the peer runs no code of
//!    the program and does not switch, so the owner may spin until it ends.
//! 2. The peer does not touch the node, nor the choice behind an offer, after it has written MET, CLOSED or
//!    STALE.
//! 3. **Held**: several nodes (a `select!`) may wake the same parasite at once, from different kernel
//!    threads, and a wait node holds no reference to it. So the peer notifies the parasite while the word is
//!    HELD, and the future that owns the node is not dropped before HELD ends: the parasite is alive during
//!    the notification.
//!
//! # Orderings
//! The peer stores the word with Release and the owner loads it with Acquire: this publishes the slot's
//! content.
//!
//! # Checked by
//! `model::channel` (loom, threads), `model::wait_node` (loom, a future with two nodes), `model::choice`
//! (offers), `tests/channel/put_back.rs`, `tests/time/moves.rs`.

use crate::events::protocol::Choice;
use crate::queue::list::Node;
use crate::sched::Waiter;
use crate::sched::thread::Thread;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// The word of a wait node (states: at the top of this file).
pub(crate) struct NodeState {
    word: AtomicPtr<()>,
}

/// What the queues know of a wait node. It is the same for all types of values, and so is all code that works
/// on it: that is compiled once, and not for each type.
pub(crate) type NodeHead = Node<NodeState>;

/// A wait node. The head comes first: a pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct WaitNode<T> {
    head: NodeHead,
    pub(crate) slot: UnsafeCell<MaybeUninit<T>>,
}

/// The states of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Not queued.
    New,
    Waiting(Waiter),
    /// As `Waiting`; the peer that takes the node must synch this choice before it touches the slot.
    Offer(NonNull<Choice>),
    /// Taken by a peer, and still the peer's.
    Held,
    /// The value was moved.
    Met,
    /// The other side is gone; the value was not moved.
    Closed,
    /// An offer whose choice was already decided when a peer took the node.
    Stale,
    Undelivered,
}

const NEW: usize = 0;
const HELD: usize = 1;
const MET: usize = 2;
const CLOSED: usize = 3;
const UNDELIVERED: usize = 4;
const STALE: usize = 5;

/// The tag of a word that points at a choice. Threads and tasks have other tags, and a foreign waker's tag is
/// smaller.
const OFFER: usize = 6;
const TAGS: usize = 7;

/// Decodes a word that is NEW or a pointer.
#[cfg_attr(not(debug_assertions), inline(always))]
fn waiting(word: *mut ()) -> At {
    let Some(word) = NonNull::new(word) else { return At::New };
    if word.addr().get() & TAGS != OFFER {
        return At::Waiting(crate::queue::inbox::Linked::from_raw(word));
    }
    // SAFETY: a pointer to a choice is not null without its tag.
    At::Offer(unsafe { NonNull::new_unchecked(word.as_ptr().map_addr(|addr| addr & !TAGS)) }.cast())
}

fn code(code: usize) -> *mut () {
    ptr::without_provenance_mut(code)
}

impl<T> WaitNode<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(waiter: Option<Waiter>, slot: MaybeUninit<T>) -> Self {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        let head = Node::new(NodeState { word: AtomicPtr::new(word) });
        Self { head, slot: UnsafeCell::new(slot) }
    }

    /// The pointer for a queue: to the head, and good for the whole node.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn queued(&self) -> NonNull<NodeHead> {
        NonNull::from(self).cast()
    }

    /// Moves the slot's content out.
    ///
    /// # Safety
    /// The node is out of the channel and the caller has it to itself.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn take(&self) -> MaybeUninit<T> {
        // SAFETY: no other thread touches the slot (contract).
        self.slot.with(|slot| unsafe { slot.read() })
    }
}

impl<T> Deref for WaitNode<T> {
    type Target = NodeState;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &NodeState {
        &self.head.value
    }
}

impl NodeState {
    /// The state of the word now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn at(&self) -> At {
        // Acquire pairs with the Release stores in `end`, `hold` and `set_stale`.
        let word = self.word.load(Ordering::Acquire);
        // Ordered tests, the rest out of line: a match of all states is compiled to a jump table, whose target
        // differs from one poll of a future to the next.
        match word.addr() {
            NEW => At::New,
            MET => At::Met,
            addr if addr > STALE => waiting(word),
            addr => Self::at_rarely(addr),
        }
    }

    #[cold]
    #[inline(never)]
    fn at_rarely(addr: usize) -> At {
        match addr {
            HELD => At::Held,
            CLOSED => At::Closed,
            UNDELIVERED => At::Undelivered,
            _ => At::Stale,
        }
    }

    /// Owner: true if the value was moved, and the peer is done with the node.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn has_met(&self) -> bool {
        // Acquire pairs with the Release store in `end`.
        self.word.load(Ordering::Acquire).addr() == MET
    }

    /// Owner of a node that was taken: spins until the peer is done with it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn settled(&self) -> At {
        let mut spins = 0;
        loop {
            match self.at() {
                At::Held | At::Waiting(_) | At::Offer(_) => relax(&mut spins),
                at => return at,
            }
        }
    }

    /// Peer: a copy of the node's waiter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn waiter(&self) -> At {
        // Relaxed: written before the node was queued, and the peer synchronised with that by taking the node
        // out.
        let word = self.word.load(Ordering::Relaxed);
        if word.addr() == UNDELIVERED { At::Undelivered } else { waiting(word) }
    }

    /// Peer: as [`waiter`](Self::waiter), for a node that is not an undelivered value. For an offer the
    /// result is neither a thread nor a task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn raw_waiter(&self) -> Waiter {
        // Relaxed: written before the node was queued, which the peer has seen.
        let word = self.word.load(Ordering::Relaxed);
        let word =
            NonNull::new(word).unwrap_or_else(|| crate::bug::bug!("a node without a waiter was queued"));
        crate::queue::inbox::Linked::from_raw(word)
    }

    /// Peer of a node that it has taken out: the waiting thread, if the waiter is a thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_thread(&self) -> Option<NonNull<Thread>> {
        // Relaxed: written before the node was queued, which the peer has seen.
        let word = self.word.load(Ordering::Relaxed);
        // A thread is the only waiter without a tag, and a queued node is never NEW.
        debug_assert!(!word.is_null(), "a node without a waiter was queued");
        // SAFETY: not NEW.
        (word.addr() & TAGS == 0).then(|| unsafe { NonNull::new_unchecked(word.cast()) })
    }

    /// Peer: true for an undelivered value that was handed back.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_undelivered(&self) -> bool {
        // Relaxed: written before the node was queued, which the peer has seen.
        self.word.load(Ordering::Relaxed).addr() == UNDELIVERED
    }

    /// Peer: true if the node is an offer, whose choice must be synched.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_offer(&self) -> bool {
        // Relaxed: written before the node was queued, which the peer has seen.
        self.word.load(Ordering::Relaxed).addr() & TAGS == OFFER
    }

    /// Owner of `choice`, under the lock of the list that the node is in: true if the node is an offer of it.
    pub(crate) fn is_offer_of(&self, choice: &Choice) -> bool {
        matches!(self.waiter(), At::Offer(theirs) if ptr::eq(theirs.as_ptr(), choice))
    }

    /// Peer of a node that it has taken out: synchs the choice if this is an offer. False if the choice was
    /// decided before; the node is then its owner's again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn accept(&self) -> bool {
        !self.is_offer() || left_out!(PeerSynch) || self.synch()
    }

    #[cold]
    #[inline(never)]
    fn synch(&self) -> bool {
        let At::Offer(choice) = self.waiter() else { return true };
        // SAFETY: the choice outlives its nodes, and this node is the peer's until `set_stale` or `end`.
        let is_ours = unsafe { choice.as_ref() }.synch();
        if !is_ours {
            self.set_stale();
        }
        is_ours
    }

    /// Peer: the choice of this node was decided before; gives the node back.
    pub(crate) fn set_stale(&self) {
        if left_out!(Stale) {
            return;
        }
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(STALE), Ordering::Release);
    }

    /// Owner of a node that is not queued: makes it an offer of `choice`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_offer(&self, choice: &Choice) {
        let word = ptr::from_ref(choice).cast_mut().cast::<()>().map_addr(|addr| addr | OFFER);
        // Relaxed: published by the queueing.
        self.word.store(word, Ordering::Relaxed);
    }

    /// Peer: the slot is written; keeps the owner waiting while its parasite is notified.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn hold(&self) {
        if left_out!(Held) {
            return self.end(true);
        }
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(HELD), Ordering::Release);
    }

    /// Peer: gives the node back to its owner.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(&self, met: bool) {
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(if met { MET } else { CLOSED }), Ordering::Release);
    }

    /// Owner of a node that is not queued: sets its waiter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_waiter(&self, waiter: Option<Waiter>) {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        // Relaxed: published by the queueing.
        self.word.store(word, Ordering::Relaxed);
    }

    /// Owner, under the lock of the list that the node is in: replaces the waiter and returns the old one.
    pub(crate) fn replace_waiter(&self, waiter: Waiter) -> Waiter {
        let At::Waiting(old) = self.waiter() else { crate::bug::bug!("a queued node without a waiter") };
        self.set_waiter(Some(waiter));
        old
    }

    /// Marks a node as an undelivered value before it is queued.
    pub(crate) fn set_undelivered(&self) {
        // Relaxed: published by the queueing.
        self.word.store(code(UNDELIVERED), Ordering::Relaxed);
    }
}
