//! A send, a receive or a swap as an event.
//!
//! # States (`OfferState`)
//! ```text
//! New --offer--> Offered --withdraw--> New (lost), Met or Closed (won)
//!  └──attempt, offer--> Met or Closed --finish--> Done
//! ```
//! # Invariants
//! 1. The node is queued in Offered only, and the branch does not move in that state (contract of
//!    [`Steps::offer`]).
//! 2. A sender's slot is full in all states but Met and Done; a receiver's is full in Met; a swapper's is full in all but Done.
//!
//! # Cancellation
//! If a receive branch that has met is dropped before `finish`, its value goes back into the channel. A swap branch drops the
//! value that it has.

use super::deal::deal_in_choice;
use super::ends::{Receiver, Sender, full};
use super::exchange::reason;
use super::exchange::{Chan, Ended};
use super::wait_node::{At, NodeHead, WaitNode};
use super::wait_queue::{Arrival, Offering, Side, WaitQueue};
use crate::channel::swap::SwapChannel;
use crate::channel::{RecvError, SendError};
use crate::events::Event;
use crate::events::algebra::awaitable;
use crate::events::protocol::{Branch, Choice, ChoiceRef, Offered, Steps};
use crate::sched::parts::Told;
use crate::sync_shim::Arc;
use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// One end of a channel, borrowed or owned.
pub trait End {
    /// The type of the values.
    type Item;
    /// The result type of this end's operation.
    type Output;
    const SIDE: Side;
    fn chan(&self) -> &Arc<Chan<Self::Item>>;
    /// Converts the slot of an operation that has met or failed into its result.
    ///
    /// # Safety
    /// The slot is full exactly if a sender has not met, a receiver has met, or a swapper is not Done (invariant 2), and is not
    /// used again.
    unsafe fn output(met: bool, slot: MaybeUninit<Self::Item>) -> Self::Output;
}

macro_rules! ends {
    ($($end:ty),+ => $side:expr, $output:ty, $of:expr) => {$(
        impl<T> End for $end {
            type Item = T;
            type Output = $output;
            const SIDE: Side = $side;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn chan(&self) -> &Arc<Chan<T>> {
                &self.0
            }
            /// # Safety
            /// As for [`End::output`].
            #[cfg_attr(not(debug_assertions), inline(always))]
            unsafe fn output(met: bool, slot: MaybeUninit<T>) -> $output {
                let of: fn(bool, MaybeUninit<T>) -> $output = $of;
                of(met, slot)
            }
        }
    )+};
}

ends!(Sender<T>, &Sender<T> => Side::Sender, Result<(), SendError<T>>, |met, slot| {
    // SAFETY: a sender's slot that has not met is full.
    if met { Ok(()) } else { Err(SendError(unsafe { full(slot) })) }
});
ends!(SwapChannel<T>, &SwapChannel<T> => Side::Swapper, T, |_, slot| {
    // SAFETY: a swapper's slot is full.
    unsafe { full(slot) }
});
ends!(Receiver<T>, &Receiver<T> => Side::Receiver, Result<T, RecvError>, |met, slot| {
    // SAFETY: a receiver's slot that has met is full.
    if met { Ok(unsafe { full(slot) }) } else { Err(RecvError) }
});

/// The event of [`Receiver::recv_evt`].
#[derive(Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct RecvEvt<R>(R);

/// The event of [`Sender::send_evt`].
#[derive(Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct SendEvt<S: End>(S, S::Item);

awaitable!({R: End} RecvEvt<R>, R::Output);
awaitable!({S: End} SendEvt<S>, S::Output);

impl<R: End> RecvEvt<R> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(end: R) -> Self {
        Self(end)
    }
}

impl<S: End> SendEvt<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::channel) fn new(end: S, value: S::Item) -> Self {
        Self(end, value)
    }
}

impl<R: End> Event for RecvEvt<R> {
    type Branch = Offer<R>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Offer<R> {
        Offer::new(self.0, MaybeUninit::uninit())
    }

    /// A lone receive event is a plain receive.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sync(self) -> R::Output {
        alone::<R>(self.0.chan(), MaybeUninit::uninit())
    }
}

impl<S: End> Event for SendEvt<S> {
    type Branch = Offer<S>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Offer<S> {
        Offer::new(self.0, MaybeUninit::new(self.1))
    }

    /// A lone send event is a plain send.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sync(self) -> S::Output {
        alone::<S>(self.0.chan(), MaybeUninit::new(self.1))
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn alone<E: End>(chan: &Chan<E::Item>, slot: MaybeUninit<E::Item>) -> E::Output {
    match chan.exchange(E::SIDE, slot, None) {
        // SAFETY: met: the slot is empty for a sender, else full.
        Ended::Met(slot) => unsafe { E::output(true, slot) },
        // SAFETY: not met: the slot is empty for a receiver, else full.
        Ended::Closed(slot) | Ended::TimedOut(slot) => unsafe { E::output(false, slot) },
    }
}

impl<R> fmt::Debug for RecvEvt<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecvEvt")
    }
}

impl<S: End> fmt::Debug for SendEvt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendEvt")
    }
}

/// The branch of a send, receive or swap event.
pub struct Offer<E: End> {
    end: E,
    state: Cell<OfferState>,
    node: WaitNode<E::Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfferState {
    New,
    Offered,
    Met,
    Closed,
    Done,
}

// SAFETY: a peer on another kernel thread accesses the node only through the channel's protocol; only items
// are moved between threads.
unsafe impl<E: End + Send> Send for Offer<E> where E::Item: Send {}

impl<E: End> Offer<E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(end: E, slot: MaybeUninit<E::Item>) -> Self {
        Self { end, state: Cell::new(OfferState::New), node: WaitNode::new(None, slot) }
    }

    /// Moves the value between the slots of this branch and `peer`.
    ///
    /// # Safety
    /// The caller has just taken `peer` out for this offer, whose node is not queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn meet(&self, peer: NonNull<NodeHead>) {
        let wait_node = &self.node;
        let form = self.end.chan().form();
        self.state.set(OfferState::Met);
        // SAFETY: the caller has just taken `peer` out (contract); our node is not queued, so its slot is
        // ours, and full if its side gives.
        unsafe {
            let mine = if E::SIDE.gives() { wait_node.take() } else { MaybeUninit::uninit() };
            let got = deal_in_choice(E::SIDE, mine, peer, form);
            if E::SIDE != Side::Sender {
                wait_node.slot.with_mut(|slot| slot.write(got));
            }
        }
    }

    /// [`meet`](Self::meet), for an offer.
    ///
    /// # Safety
    /// As for `meet`.
    #[cold]
    #[inline(never)]
    unsafe fn meet_late(&self, peer: NonNull<NodeHead>) {
        // SAFETY: as promised by the caller.
        unsafe { self.meet(peer) }
    }

    /// The rest of an attempt at a channel that is not empty.
    #[inline(never)]
    fn attempt_to_meet(&self) -> bool {
        // SAFETY: the contract of `meet` is about a node; this call has none.
        match unsafe { self.end.chan().wait_queue.meet(E::SIDE, None) } {
            Arrival::Waiting => false,
            Arrival::Peer(peer) | Arrival::Thread(peer, _) => {
                // SAFETY: the peer was just taken out, and our node is not queued.
                unsafe { self.meet(peer) };
                true
            }
            Arrival::Closed => self.refuse(),
        }
    }
}

/// [`Steps::offer`], as far as it does not depend on the type of the values: compiled once.
///
/// # Safety
/// As for `Steps::offer`; `state` and `node` are of one [`Offer`] of this side of the channel.
#[inline(never)]
unsafe fn queue_offer(
    wait_queue: &WaitQueue,
    side: Side,
    state: &Cell<OfferState>,
    node: NonNull<NodeHead>,
    choice: &Choice,
) -> Offering {
    state.set(OfferState::Offered);
    // SAFETY: not queued, alive, and does not move until it is withdrawn (contract).
    unsafe {
        node.as_ref().value.set_offer(choice);
        // Emptiness can be read outside of a section: a crowd of senders need not enter one in vain.
        if wait_queue.is_empty() && wait_queue.offer_first(side, node) {
            return Offering::Waiting;
        }
        queue_offer_behind(wait_queue, side, state, node, choice)
    }
}

/// The rest of [`queue_offer`], in a function of its own: the usual case then saves no registers.
///
/// # Safety
/// As for `queue_offer`.
#[inline(never)]
unsafe fn queue_offer_behind(
    wait_queue: &WaitQueue,
    side: Side,
    state: &Cell<OfferState>,
    node: NonNull<NodeHead>,
    choice: &Choice,
) -> Offering {
    // SAFETY: as promised by the caller.
    let offering = unsafe { wait_queue.offer(side, node, choice) };
    match offering {
        Offering::Waiting | Offering::Peer(_) => {}
        Offering::Closed => state.set(OfferState::Closed),
        Offering::Lost => state.set(OfferState::New),
    }
    offering
}

/// [`Steps::withdraw`]: compiled once.
///
/// # Safety
/// `state` and `node` are of one [`Offer`] of this side of the channel, which is the caller's.
#[inline(never)]
unsafe fn withdraw_offer(
    wait_queue: &WaitQueue,
    side: Side,
    state: &Cell<OfferState>,
    node: NonNull<NodeHead>,
) -> bool {
    if state.get() == OfferState::Offered {
        // A peer is done with a node that has met, and no queue has it.
        // SAFETY: alive (contract).
        if unsafe { node.as_ref() }.value.has_met() {
            state.set(OfferState::Met);
            return true;
        }
        // By far the usual case: queued by the owner of this branch, with this side.
        if wait_queue.leave_alone(side, node) {
            state.set(OfferState::New);
            return false;
        }
    }
    // SAFETY: as promised by the caller.
    unsafe { settle_offer(wait_queue, side, state, node) }
}

/// The rest of [`withdraw_offer`], in a function of its own for the same reason.
///
/// # Safety
/// As for `withdraw_offer`.
#[inline(never)]
unsafe fn settle_offer(
    wait_queue: &WaitQueue,
    side: Side,
    state: &Cell<OfferState>,
    node: NonNull<NodeHead>,
) -> bool {
    let now = match state.get() {
        OfferState::Done => crate::bug::bug!("an offer was withdrawn after its end"),
        // SAFETY: queued by the owner of this branch, with this side.
        OfferState::Offered if unsafe { wait_queue.leave(side, node) } => OfferState::New,
        // SAFETY: alive (contract).
        OfferState::Offered => match unsafe { node.as_ref() }.value.settled() {
            At::Met => OfferState::Met,
            At::Closed => OfferState::Closed,
            _ => OfferState::New,
        },
        at => at,
    };
    state.set(now);
    now != OfferState::New
}

impl<E: End> Steps for Offer<E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, _: Option<&mut Context<'_>>) -> bool {
        !self.end.chan().wait_queue.is_empty() && self.attempt_to_meet()
    }

    /// # Safety
    /// As for [`Steps::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        let (wait_queue, node) = (&self.end.chan().wait_queue, self.node.queued());
        // SAFETY: as promised by the caller.
        let offering = unsafe { queue_offer(wait_queue, E::SIDE, &self.state, node, choice.0) };
        // Ordered tests instead of a jump table: the first result is the usual one.
        if let Offering::Waiting = offering {
            return Offered::Waiting;
        }
        match offering {
            Offering::Peer(peer) => {
                // SAFETY: the peer was just taken out for us, and our node was not queued.
                unsafe { self.meet_late(peer) };
                Offered::Won
            }
            Offering::Waiting => Offered::Waiting,
            Offering::Closed => Offered::Won,
            Offering::Lost => Offered::Lost,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self) -> bool {
        // SAFETY: our own state and node.
        unsafe { withdraw_offer(&self.end.chan().wait_queue, E::SIDE, &self.state, self.node.queued()) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&self, _: bool) {}

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(reason(E::SIDE).on_counted(&self.end.chan().counted));
    }

    fn is_refused(&self) -> bool {
        self.state.get() == OfferState::Closed
    }

    fn refuse(&self) -> bool {
        self.state.set(OfferState::Closed);
        true
    }
}

impl<E: End> Branch for Offer<E> {
    type Output = E::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<E::Output> {
        let met = match self.state.replace(OfferState::Done) {
            OfferState::Met => true,
            OfferState::Closed => false,
            _ => crate::bug::bug!("an offer that did not win gave a result"),
        };
        // SAFETY: in Met and Closed the node is ours; the state is Done now, so the slot is not used again.
        Poll::Ready(unsafe { E::output(met, self.node.take()) })
    }
}

impl<E: End> Drop for Offer<E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        let state = self.state.get();
        let is_full = match E::SIDE {
            Side::Sender => state != OfferState::Met && state != OfferState::Done,
            Side::Receiver => state == OfferState::Met,
            Side::Swapper => state != OfferState::Done,
        };
        if !is_full {
            return;
        }
        // SAFETY: not queued (the branch was withdrawn), and full.
        let slot = unsafe { self.node.take() };
        if E::SIDE == Side::Receiver {
            Chan::put_back(self.end.chan(), slot);
        } else {
            // SAFETY: as above.
            drop(unsafe { slot.assume_init() });
        }
    }
}
