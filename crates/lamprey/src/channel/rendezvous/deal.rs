//! The meeting of two sides: the value is moved, and the one that waits is woken.
//!
//! Invariant: whoever calls these has taken the node out of its queue, and must end and wake it, once
//! ([`wait_node`](super::wait_node), invariants 1 to 3).

use super::exchange::free_undelivered;
use super::wait_node::{At, NodeHead, NodeState, WaitNode};
use super::wait_queue::Side;
use crate::sched;
use crate::sched::parasite::notify::Delivery;
use crate::sched::parasite::task::{Form, Task};
#[cfg(not(loom))]
use crate::sched::{coop, thread::Thread, worker::Worker};
use crate::sync_shim::left_out;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Moves the value between our slot and the peer's, and wakes the peer. Returns the new content of our slot.
///
/// # Safety
/// The caller has just taken `peer` out, and is of `side`; `mine` is full if that [gives](Side::gives).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn deal<T>(
    side: Side,
    mine: MaybeUninit<T>,
    peer: NonNull<NodeHead>,
    form: Form,
) -> MaybeUninit<T> {
    // SAFETY: as promised by the caller, also for the wake, which comes once.
    unsafe {
        let (got, is_awaited) = move_value(side, mine, peer);
        if is_awaited {
            wake(peer, true, form);
        }
        got
    }
}

/// [`deal`] for events: the wake, which is most of it, is compiled once.
///
/// # Safety
/// As for `deal`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn deal_in_choice<T>(
    side: Side,
    mine: MaybeUninit<T>,
    peer: NonNull<NodeHead>,
    form: Form,
) -> MaybeUninit<T> {
    // SAFETY: as promised by the caller, also for the wake, which comes once.
    unsafe {
        let (got, is_awaited) = move_value(side, mine, peer);
        if is_awaited {
            wake_out_of_line(peer, form);
        }
        got
    }
}

/// # Safety
/// As for [`wake`].
#[inline(never)]
unsafe fn wake_out_of_line(node: NonNull<NodeHead>, form: Form) {
    // SAFETY: as promised by the caller.
    unsafe { wake(node, true, form) }
}

/// Moves the value between our slot and that of a peer. Returns the new content of ours.
///
/// # Safety
/// The node is the caller's, who is of `side`; `mine` is full if that [gives](Side::gives).
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn trade<T>(side: Side, mine: MaybeUninit<T>, peer: &WaitNode<T>) -> MaybeUninit<T> {
    // SAFETY: as promised by the caller.
    unsafe {
        match side {
            Side::Sender => {
                peer.slot.with_mut(|slot| slot.write(mine));
                MaybeUninit::uninit()
            }
            Side::Receiver => peer.slot.with(|slot| slot.read()),
            Side::Swapper => peer.slot.with_mut(|slot| slot.replace(mine)),
        }
    }
}

/// [`deal`] without the wake. True if the peer must be woken: an undelivered value has nobody to wake. (No closure
/// is given the wake: in a program with several callers that is a call.)
///
/// # Safety
/// As for `deal`.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn move_value<T>(side: Side, mine: MaybeUninit<T>, peer: NonNull<NodeHead>) -> (MaybeUninit<T>, bool) {
    #[cfg(not(loom))]
    sched::count_communication();
    // SAFETY: the node is ours until it is ended (NodeState, invariant 2).
    unsafe {
        let wait_node = peer.cast::<WaitNode<T>>().as_ref();
        let got = trade(side, mine, wait_node);
        let is_undelivered = side == Side::Receiver && wait_node.is_undelivered();
        if is_undelivered {
            free_undelivered::<T>(peer, false);
        }
        (got, !is_undelivered)
    }
}

/// [`deal`] with a thread, on a worker. The usual case, a host of the same worker, takes a few steps.
///
/// # Safety
/// As for [`deal`]; the node's waiter is `thread`, and `worker` the calling kernel thread's.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn deal_with_thread<T>(
    worker: &Worker,
    side: Side,
    mine: MaybeUninit<T>,
    peer: NonNull<NodeHead>,
    thread: NonNull<Thread>,
    form: Form,
) -> MaybeUninit<T> {
    worker.remote.counters.communications.add(1);
    // SAFETY: the node is ours until it is ended (NodeState, invariant 2); its thread is woken after that,
    // once.
    unsafe {
        let wait_node = peer.cast::<WaitNode<T>>().as_ref();
        let got = trade(side, mine, wait_node);
        wait_node.end(true);
        match worker.wake_neighbour(thread) {
            Some(false) => {}
            Some(true) => coop::call_is_done(),
            None => {
                sched::wake_thread(thread, form);
                coop::call_is_done();
            }
        }
        got
    }
}

/// Ends a peer's wait and wakes it.
///
/// # Safety
/// The caller has taken the node out, and it is no undelivered value. The node is its owner's again before
/// the wake.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn wake(node: NonNull<NodeHead>, met: bool, form: Form) {
    // SAFETY: the node is ours until `end`; the waiter is copied out before that, and the node is held while
    // a parasite is notified (NodeState, invariant 3).
    unsafe {
        let wait_node = &node.as_ref().value;
        let waiter = wait_node.raw_waiter();
        // Ordered tests instead of a jump table, for the reason given at `Waiter::as_task`.
        if let Some(thread) = waiter.as_thread() {
            wait_node.end(met);
            sched::wake_thread(thread, form);
        } else if let Some(task) = waiter.as_task() {
            notify(wait_node, task, met).deliver(form);
        } else if wait_node.is_offer() {
            wake_choice(wait_node, met, form);
        } else {
            wait_node.end(met);
            waiter.run_kept(form);
        }
    }
}

/// [`wake`] for an offer, whose choice the caller has synched.
///
/// # Safety
/// As for [`wake`].
#[inline(never)]
unsafe fn wake_choice(wait_node: &NodeState, met: bool, form: Form) {
    let At::Offer(choice) = wait_node.waiter() else { return };
    // SAFETY: the choice lives until its node is ended; its waiter is the winner's, and is read before that.
    unsafe {
        if left_out!(EarlyWaiter) {
            wait_node.end(met);
            let Some(waiter) = choice.as_ref().waiter() else { return };
            return waiter.run_kept(form);
        }
        let Some(waiter) = choice.as_ref().waiter() else { return wait_node.end(met) };
        match waiter.as_task() {
            Some(task) => notify(wait_node, task, met).deliver(form),
            None => {
                wait_node.end(met);
                waiter.run_kept(form);
            }
        }
    }
}

/// Ends a parasite's wait. The caller carries the delivery out when it holds nothing of the channel any more.
///
/// # Safety
/// As for [`wake`]; `task` is the node's waiter.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn notify(wait_node: &NodeState, task: NonNull<Task>, met: bool) -> Delivery {
    wait_node.hold();
    // SAFETY: the parasite is alive while the node is held (NodeState, invariant 3).
    let delivery = unsafe { Task::notify(task) };
    wait_node.end(met);
    delivery
}
