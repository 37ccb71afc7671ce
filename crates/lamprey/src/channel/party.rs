//! What a waiting thread or future shows to its peer: a word and a place for the value.
//!
//! # States (`word`)
//! ```text
//! NEW --queue--> a waiter --taken by a peer--> MET or CLOSED            a thread, woken after that; a foreign waker
//!                         --taken by a peer--> HELD, then MET or CLOSED a stackless parasite
//!                         --left by its owner--> (the owner's again)
//! GHOST   a value that was handed back: no owner, the node is boxed and belongs to whoever takes it out
//! ```
//!
//! # Invariants
//! 1. Between "taken" and MET or CLOSED the node is the peer's, who runs no code of the program meanwhile and does not
//!    switch: its owner may spin for that.
//! 2. The peer does not touch the node after it has written MET or CLOSED.
//! 3. **Held**: a parasite may be woken by several nodes at once (a `select!`), by different kernel threads, and a wake node
//!    holds no reference to it. So the peer notifies it while the word is HELD, and its future, which owns the node, is not
//!    dropped before HELD has ended: the parasite is alive for the notification.
//!
//! # Orderings
//! Every store of the word by the peer is Release, every load by the owner Acquire: the slot's content goes with it.
//!
//! # Checked by
//! `model::channel` (loom, threads), `model::party` (loom, a future with two nodes), `tests/channel_async.rs`.

use crate::queue::list::Node;
use crate::sched::Waiter;
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, relax};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// See the module's text.
pub(super) struct Party<T> {
    word: AtomicPtr<()>,
    pub(super) slot: UnsafeCell<MaybeUninit<T>>,
}

pub(super) type PartyNode<T> = Node<Party<T>>;

/// What the word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Not queued.
    New,
    Waiting(Waiter),
    /// Taken, but not yet its owner's again.
    Held,
    /// The value has been moved.
    Met,
    /// The other side is gone; the value is where it was.
    Closed,
    Ghost,
}

const NEW: usize = 0;
const HELD: usize = 1;
const MET: usize = 2;
const CLOSED: usize = 3;
const GHOST: usize = 4;

fn code(code: usize) -> *mut () {
    ptr::without_provenance_mut(code)
}

/// A broken variant for the checker: the node is its owner's again before the parasite has been notified.
#[inline(always)]
fn is_let_go() -> bool {
    #[cfg(loom)]
    return crate::model::is_broken(crate::model::Broken::Held);
    #[cfg(not(loom))]
    false
}

impl<T> Party<T> {
    #[inline(always)]
    pub(super) fn node(waiter: Option<Waiter>, slot: MaybeUninit<T>) -> PartyNode<T> {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        Node::new(Self { word: AtomicPtr::new(word), slot: UnsafeCell::new(slot) })
    }

    /// What the word says now.
    #[inline(always)]
    pub(super) fn at(&self) -> At {
        // Acquire pairs with the Release stores in `end` and `hold`.
        let word = self.word.load(Ordering::Acquire);
        match word.addr() {
            NEW => At::New,
            HELD => At::Held,
            MET => At::Met,
            CLOSED => At::Closed,
            GHOST => At::Ghost,
            _ => NonNull::new(word)
                .map_or(At::New, |word| At::Waiting(crate::queue::inbox::Linked::from_raw(word))),
        }
    }

    /// Owner of a node that has been taken: waits until it is its own again.
    #[inline(always)]
    pub(super) fn settled(&self) -> At {
        let mut spins = 0;
        loop {
            match self.at() {
                At::Held | At::Waiting(_) => relax(&mut spins),
                at => return at,
            }
        }
    }

    /// Peer: the node's waiter, copied out.
    #[inline(always)]
    pub(super) fn waiter(&self) -> At {
        // Relaxed: written before the node was queued, which the peer has seen by taking it out.
        let word = self.word.load(Ordering::Relaxed);
        if word.addr() == GHOST {
            return At::Ghost;
        }
        NonNull::new(word).map_or(At::New, |word| At::Waiting(crate::queue::inbox::Linked::from_raw(word)))
    }

    /// Peer: the value is in its place.
    #[inline(always)]
    pub(super) fn hold(&self) {
        if is_let_go() {
            return self.end(true);
        }
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(HELD), Ordering::Release);
    }

    /// Peer: the node is its owner's again.
    #[inline(always)]
    pub(super) fn end(&self, met: bool) {
        // Release pairs with the Acquire load in `at`.
        self.word.store(code(if met { MET } else { CLOSED }), Ordering::Release);
    }

    /// Owner, of a node that is not queued.
    #[inline(always)]
    pub(super) fn set_waiter(&self, waiter: Option<Waiter>) {
        let word = waiter.map_or(code(NEW), crate::queue::inbox::Linked::into_raw);
        // Relaxed: published by the queueing.
        self.word.store(word, Ordering::Relaxed);
    }

    /// Owner, under the lock of the list that the node is in.
    pub(super) fn replace_waiter(&self, waiter: Waiter) -> Waiter {
        let At::Waiting(old) = self.waiter() else { crate::bug::bug!("a queued node without a waiter") };
        self.set_waiter(Some(waiter));
        old
    }

    /// Of a node that is about to be handed back.
    pub(super) fn set_ghost(&self) {
        // Relaxed: published by the queueing.
        self.word.store(code(GHOST), Ordering::Relaxed);
    }

    /// Moves the slot's content out.
    ///
    /// # Safety
    /// The node is out of the channel and the caller has it to itself.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> MaybeUninit<T> {
        // SAFETY: nobody else touches the slot (contract).
        self.slot.with(|slot| unsafe { slot.read() })
    }
}
