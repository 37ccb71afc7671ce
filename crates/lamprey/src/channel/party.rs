//! What a waiting thread or future shows to its peer: a word and a place for the value.
//!
//! # States (`word`)
//! ```text
//! NEW --queue--> a waiter --taken by a peer--> MET or CLOSED            a thread, woken after that; a foreign waker
//!                         --taken by a peer--> HELD, then MET or CLOSED a stackless parasite
//!                         --left by its owner--> (the owner's again)
//! NEW --queue--> an offer --taken by a peer who synched its choice--> as a waiter, whose waiter is the choice's
//!                         --taken by a peer who did not--> STALE
//!                         --left by its owner--> (the owner's again)
//! GHOST   a value that was handed back: no owner, the node is boxed and belongs to whoever takes it out
//! ```
//!
//! # Invariants
//! 1. Between "taken" and MET, CLOSED or STALE the node is the peer's, who runs no code of the program
//!    meanwhile and does not switch: its owner may spin for that.
//! 2. The peer does not touch the node after it has written MET, CLOSED or STALE, nor the choice behind an
//!    offer.
//! 3. **Held**: a parasite may be woken by several nodes at once (a `select!`), by different kernel threads,
//!    and a wake node holds no reference to it. So the peer notifies it while the word is HELD, and its
//!    future, which owns the node, is not dropped before HELD has ended: the parasite is alive for the
//!    notification.
//!
//! # Orderings
//! Every store of the word by the peer is Release, every load by the owner Acquire: the slot's content goes
//! with it.
//!
//! # Checked by
//! `model::channel` (loom, threads), `model::party` (loom, a future with two nodes), `model::choice`
//! (offers), `tests/channel/put_back.rs`, `tests/time/moves.rs`.

use crate::events::protocol::Choice;
use crate::queue::list::Node;
use crate::sched::Waiter;
use crate::sched::thread::Thread;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// See the module's text.
pub(crate) struct Party<T> {
    word: AtomicPtr<()>,
    pub(crate) slot: UnsafeCell<MaybeUninit<T>>,
}

pub(crate) type PartyNode<T> = Node<Party<T>>;

/// What the word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Not queued.
    New,
    Waiting(Waiter),
    /// As `Waiting`, and who takes the node must synch this choice before all else.
    Offer(NonNull<Choice>),
    /// Taken, but not yet its owner's again.
    Held,
    /// The value has been moved.
    Met,
    /// The other side is gone; the value is where it was.
    Closed,
    /// An offer that somebody took who found its choice decided.
    Stale,
    Ghost,
}

const NEW: usize = 0;
const HELD: usize = 1;
const MET: usize = 2;
const CLOSED: usize = 3;
const GHOST: usize = 4;
const STALE: usize = 5;

/// The low bits of a word that points at a choice: no thread's, no task's, and more than a foreign waker's.
const OFFER: usize = 6;
const TAGS: usize = 7;

/// Of a word that is no code but perhaps NEW.
#[cfg_attr(not(debug_assertions), inline(always))]
fn waiting(word: *mut ()) -> At {
    let Some(word) = NonNull::new(word) else { return At::New };
    if word.addr().get() & TAGS != OFFER {
        return At::Waiting(crate::queue::inbox::Linked::from_raw(word));
    }
    // SAFETY: a pointer to a choice, without its tag: not null.
    At::Offer(unsafe { NonNull::new_unchecked(word.as_ptr().map_addr(|addr| addr & !TAGS)) }.cast())
}

fn code(code: usize) -> *mut () {
    ptr::without_provenance_mut(code)
}

impl<T> Party<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn node(waiter: Option<Waiter>, slot: MaybeUninit<T>) -> PartyNode<T> {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        Node::new(Self { word: AtomicPtr::new(word), slot: UnsafeCell::new(slot) })
    }

    /// What the word says now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn at(&self) -> At {
        // Acquire pairs with the Release stores in `end`, `hold` and `set_stale`.
        let word = self.word.load(Ordering::Acquire);
        match word.addr() {
            NEW => At::New,
            HELD => At::Held,
            MET => At::Met,
            CLOSED => At::Closed,
            GHOST => At::Ghost,
            STALE => At::Stale,
            _ => waiting(word),
        }
    }

    /// Owner of a node that has been taken: waits until it is its own again.
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

    /// Peer: the node's waiter, copied out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn waiter(&self) -> At {
        // Relaxed: written before the node was queued, which the peer has seen by taking it out.
        let word = self.word.load(Ordering::Relaxed);
        if word.addr() == GHOST { At::Ghost } else { waiting(word) }
    }

    /// Peer: as [`waiter`](Self::waiter), of a node that is no ghost; neither thread nor task if it is an
    /// offer.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn raw_waiter(&self) -> Waiter {
        // Relaxed: as in `waiter`.
        let word = self.word.load(Ordering::Relaxed);
        let word =
            NonNull::new(word).unwrap_or_else(|| crate::bug::bug!("a node without a waiter was queued"));
        crate::queue::inbox::Linked::from_raw(word)
    }

    /// Peer, of a node that it has taken out: the thread that waits, if it is a thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_thread(&self) -> Option<NonNull<Thread>> {
        // Relaxed: as in `waiter`.
        let word = self.word.load(Ordering::Relaxed);
        // Of all that a queued node's word may be, only a thread has no tag; NEW is not queued.
        debug_assert!(!word.is_null(), "a node without a waiter was queued");
        // SAFETY: not NEW.
        (word.addr() & TAGS == 0).then(|| unsafe { NonNull::new_unchecked(word.cast()) })
    }

    /// Peer: true of a value that was handed back.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_ghost(&self) -> bool {
        // Relaxed: as in `waiter`.
        self.word.load(Ordering::Relaxed).addr() == GHOST
    }

    /// Peer: true if the node is an offer, so that its choice is to be synched.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_offer(&self) -> bool {
        // Relaxed: as in `waiter`.
        self.word.load(Ordering::Relaxed).addr() & TAGS == OFFER
    }

    /// Peer, of a node that it has taken out: synchs the choice if this is an offer. False if that was
    /// decided before: then the node is its owner's again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn accept(&self) -> bool {
        !self.is_offer() || left_out!(PeerSynch) || self.synch()
    }

    #[cold]
    #[inline(never)]
    fn synch(&self) -> bool {
        let At::Offer(choice) = self.waiter() else { return true };
        // SAFETY: the choice outlives its nodes, and this one is not its owner's before `set_stale`, or
        // `end`.
        let is_ours = unsafe { choice.as_ref() }.synch();
        if !is_ours {
            self.set_stale();
        }
        is_ours
    }

    /// Peer: the choice of this node was decided before.
    pub(crate) fn set_stale(&self) {
        if left_out!(Stale) {
            return;
        }
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(STALE), Ordering::Release);
    }

    /// Owner, of a node that is not queued: an offer of `choice`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_offer(&self, choice: &Choice) {
        let word = ptr::from_ref(choice).cast_mut().cast::<()>().map_addr(|addr| addr | OFFER);
        // Relaxed: published by the queueing.
        self.word.store(word, Ordering::Relaxed);
    }

    /// Peer: the value is in its place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn hold(&self) {
        if left_out!(Held) {
            return self.end(true);
        }
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(HELD), Ordering::Release);
    }

    /// Peer: the node is its owner's again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn end(&self, met: bool) {
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(if met { MET } else { CLOSED }), Ordering::Release);
    }

    /// Owner, of a node that is not queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_waiter(&self, waiter: Option<Waiter>) {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        // Relaxed: published by the queueing.
        self.word.store(word, Ordering::Relaxed);
    }

    /// Owner, under the lock of the list that the node is in.
    pub(crate) fn replace_waiter(&self, waiter: Waiter) -> Waiter {
        let At::Waiting(old) = self.waiter() else { crate::bug::bug!("a queued node without a waiter") };
        self.set_waiter(Some(waiter));
        old
    }

    /// Of a node that is about to be handed back.
    pub(crate) fn set_ghost(&self) {
        // Relaxed: published by the queueing.
        self.word.store(code(GHOST), Ordering::Relaxed);
    }

    /// Moves the slot's content out.
    ///
    /// # Safety
    /// The node is out of the channel and the caller has it to itself.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn take(&self) -> MaybeUninit<T> {
        // SAFETY: nobody else touches the slot (contract).
        self.slot.with(|slot| unsafe { slot.read() })
    }
}
