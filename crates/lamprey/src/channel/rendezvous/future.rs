//! A send or a receive as a future: the async form of [`exchange`](super::exchange).
//!
//! # Invariants
//! 1. The node is pinned with the future. While it is queued or taken, the future is not dropped before it
//!    owns the node again ([`wait_node`](super::wait_node), invariants 1 and 3).
//! 2. The word is the future's progress: New (not polled), Waiting, Met or Closed (not yet returned). Once
//!    the future has returned, `chan` is `None`.
//! 3. A sender's slot is full until it has met; a receiver's is full from then until the value is returned.
//!
//! # Cancellation
//! A value that a dropped receive future was given goes back into the channel.

use super::deal::deal;
use super::ends::full;
use super::exchange::{Chan, reason};
use super::wait_node::{At, NodeHead, WaitNode};
use super::wait_queue::{Arrival, Side};
use crate::channel::{RecvError, SendError};
use crate::sched::parasite::task::Task;
use crate::sched::{self, Waiter};
use crate::sync_shim::Arc;
use std::future::Future;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The future of a send (`IS_SEND`) or a receive.
#[must_use = "a future does nothing until it is awaited"]
pub(in crate::channel) struct Exchange<'a, T, const IS_SEND: bool> {
    /// `None` once the future has returned its result.
    chan: Option<&'a Arc<Chan<T>>>,
    node: WaitNode<T>,
    _pinned: PhantomPinned,
}

// SAFETY: a peer on another kernel thread reaches the node only through the channel's protocol; only values
// of `T` are moved between threads.
unsafe impl<T: Send, const IS_SEND: bool> Send for Exchange<'_, T, IS_SEND> {}
// SAFETY: a shared reference to this future gives access to nothing.
unsafe impl<T: Send, const IS_SEND: bool> Sync for Exchange<'_, T, IS_SEND> {}

impl<'a, T> Exchange<'a, T, true> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::channel) fn send(chan: &'a Arc<Chan<T>>, value: T) -> Self {
        Self { chan: Some(chan), node: WaitNode::new(None, MaybeUninit::new(value)), _pinned: PhantomPinned }
    }
}

impl<'a, T> Exchange<'a, T, false> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn recv(chan: &'a Arc<Chan<T>>) -> Self {
        Self { chan: Some(chan), node: WaitNode::new(None, MaybeUninit::uninit()), _pinned: PhantomPinned }
    }
}

impl<T, const IS_SEND: bool> Exchange<'_, T, IS_SEND> {
    const SIDE: Side = if IS_SEND { Side::Sender } else { Side::Receiver };

    /// Ready with true if it has met, false if the channel is closed; the slot is then as after a blocking
    /// wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_exchange(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(chan) = self.chan else { polled_again() };
        let wait_node = &self.node;
        // Ordered tests instead of a jump table: the first two states are the usual ones.
        let at = wait_node.at();
        if at == At::New {
            self.arrive(chan, cx)
        } else if at == At::Met {
            Poll::Ready(true)
        } else {
            self.look_again(at, chan, cx)
        }
    }

    #[cold]
    fn look_again(&self, at: At, chan: &Chan<T>, cx: &mut Context<'_>) -> Poll<bool> {
        if let At::Waiting(waiter) = at
            && (waiter.is_of(cx) || self.renew(chan, cx))
        {
            return Poll::Pending;
        }
        Poll::Ready(self.node.settled() == At::Met)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arrive(&self, chan: &Chan<T>, cx: &mut Context<'_>) -> Poll<bool> {
        if sched::gives_way(cx) {
            return Poll::Pending;
        }
        if Task::of(cx).is_some() {
            // A parasite as the waiter takes nothing, so the node is given at once.
            return self.queue(chan, cx);
        }
        // SAFETY: the contract of `meet` is about a node; this call has none.
        match unsafe { chan.wait_queue.meet(Self::SIDE, None) } {
            // SAFETY: the peer was just taken out; our node is not queued.
            Arrival::Peer(peer) | Arrival::Thread(peer, _) => unsafe { self.deal_with(peer, chan) },
            Arrival::Closed => Poll::Ready(false),
            Arrival::Waiting => self.queue(chan, cx),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn queue(&self, chan: &Chan<T>, cx: &mut Context<'_>) -> Poll<bool> {
        let wait_node = &self.node;
        let waiter = self.waiter(chan, cx);
        wait_node.set_waiter(Some(waiter));
        // SAFETY: pinned and unlinked; stays until it has left or has been taken and settled (invariant 1).
        let arrival = unsafe { chan.wait_queue.meet(Self::SIDE, Some(self.node.queued())) };
        if matches!(arrival, Arrival::Waiting) {
            return Poll::Pending;
        }
        wait_node.set_waiter(None);
        // SAFETY: the waiter is in no queued node.
        unsafe { waiter.forget_of_node() };
        match arrival {
            // SAFETY: the peer was just taken out; our node is not queued.
            Arrival::Peer(peer) | Arrival::Thread(peer, _) => unsafe { self.deal_with(peer, chan) },
            _ => Poll::Ready(false),
        }
    }

    /// # Safety
    /// The caller has just taken `peer` out; our own node is not queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn deal_with(&self, peer: NonNull<NodeHead>, chan: &Chan<T>) -> Poll<bool> {
        let wait_node = &self.node;
        // SAFETY: as promised by the caller; the slot is ours, and full if it is a sender's.
        unsafe {
            if IS_SEND {
                deal(Side::Sender, wait_node.take(), peer, chan.form());
            } else {
                let got = deal(Side::Receiver, MaybeUninit::uninit(), peer, chan.form());
                wait_node.slot.with_mut(|slot| slot.write(got));
            }
        }
        Poll::Ready(true)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn waiter(&self, chan: &Chan<T>, cx: &Context<'_>) -> Waiter {
        let on = reason(Self::SIDE).on_counted(&chan.counted);
        Waiter::of_node(cx, (&raw const self.node).addr(), on)
    }

    /// Replaces the waker; false if the node has been taken.
    #[cold]
    fn renew(&self, chan: &Chan<T>, cx: &mut Context<'_>) -> bool {
        let waiter = self.waiter(chan, cx);
        // SAFETY: queued by this future.
        let old = unsafe { chan.wait_queue.renew(self.node.queued(), waiter) };
        // SAFETY: the old waiter is not in the node any more, or the new one never was.
        unsafe { old.unwrap_or(waiter).forget_of_node() };
        old.is_some()
    }

    /// The future is dropped before it returned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn give_up(&self, chan: &Arc<Chan<T>>) {
        let wait_node = &self.node;
        let at = match wait_node.at() {
            At::Waiting(waiter)
                // SAFETY: queued by this future; taken or not, it is ours afterwards.
                if unsafe { chan.wait_queue.leave(Self::SIDE, self.node.queued()) } =>
            {
                // SAFETY: the node is ours again.
                unsafe { waiter.forget_of_node() };
                At::New
            }
            At::New => At::New,
            _ => wait_node.settled(),
        };
        if IS_SEND && at != At::Met {
            // SAFETY: ours, and a sender's slot is full until it has met.
            drop(unsafe { wait_node.take().assume_init() });
        } else if !IS_SEND && at == At::Met {
            // SAFETY: ours, and full.
            Chan::put_back(chan, unsafe { wait_node.take() });
        }
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("a send or receive was polled after it had returned")
}

impl<T> Future for Exchange<'_, T, true> {
    type Output = Result<(), SendError<T>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let met = std::task::ready!(self.poll_exchange(cx));
        // SAFETY: `chan` is not part of what is pinned.
        unsafe { self.as_mut().get_unchecked_mut() }.chan = None;
        // SAFETY: the node is ours again, and a sender's slot that has not met is full.
        Poll::Ready(if met { Ok(()) } else { Err(SendError(unsafe { full(self.node.take()) })) })
    }
}

impl<T> Future for Exchange<'_, T, false> {
    type Output = Result<T, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let met = std::task::ready!(self.poll_exchange(cx));
        // SAFETY: `chan` is not part of what is pinned.
        unsafe { self.as_mut().get_unchecked_mut() }.chan = None;
        // SAFETY: the node is ours again, and a receiver's slot that has met is full.
        Poll::Ready(if met { Ok(unsafe { full(self.node.take()) }) } else { Err(RecvError) })
    }
}

impl<T, const IS_SEND: bool> Drop for Exchange<'_, T, IS_SEND> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let Some(chan) = self.chan {
            self.give_up(chan);
        }
    }
}
