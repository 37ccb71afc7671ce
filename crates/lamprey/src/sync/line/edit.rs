//! The operations on a line under EDIT, and the wakes that they leave pending.

use super::super::policy::{Order, Wake};
use super::{BATCH, Decision, HELD, LockKind, WOKEN};
use crate::channel::{At, NodeHead, NodeState, PendingWake, WaitNode};
use crate::events::protocol::{Choice, Offered};
use crate::queue::list::List;
use crate::sched::Waiter;
use crate::sched::parasite::task::{Form, Task};
use crate::sync_shim::left_out;
use std::ptr::NonNull;

/// How a thread arrives at a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comes {
    /// No thread waits.
    First,
    /// Other threads wait.
    Behind,
    /// It was woken to try again, and is queued in front if it must wait again.
    Again,
}

/// The content of a line, for the holder of EDIT.
pub(super) struct Edit<'a, S> {
    pub(super) state: &'a mut S,
    pub(super) list: List<NodeState>,
    pub(super) held: bool,
    pub(super) woken: bool,
    /// Whether other waiters are served: not after a thread has only queued itself, or found its node taken
    /// out.
    pub(super) serves: bool,
}

/// Pending wakes.
pub(super) struct Batch {
    pending_wake: [Option<PendingWake>; BATCH],
    len: usize,
}

impl<'a, S> Edit<'a, S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(state: &'a mut S, list: List<NodeState>, bits: usize) -> Self {
        Self { state, list, held: bits & HELD != 0, woken: bits & WOKEN != 0, serves: true }
    }
}

impl<S: LockKind> Edit<'_, S> {
    fn comes(&self) -> Comes {
        if self.list.is_empty() { Comes::First } else { Comes::Behind }
    }

    /// An arrival of a thread that does not wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn arrive_or_go(&mut self, want: &mut u32) -> bool {
        let (mut state, mut held) = (*self.state, self.held);
        let has = state.arrive(&mut held, want, self.comes());
        if has {
            (*self.state, self.held) = (state, held);
        }
        has
    }

    /// # Safety
    /// As for [`Line::join`](super::Line).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn arrive(&mut self, node: NonNull<NodeHead>, again: bool, order: Order) -> bool {
        let comes = if again { Comes::Again } else { self.comes() };
        if again && !left_out!(LineWoken) {
            self.woken = false;
        }
        // SAFETY: not queued, so it is its owner's, the caller's.
        let wait_node = unsafe { node.cast::<WaitNode<u32>>().as_ref() };
        let has = !left_out!(LineBlind)
            // SAFETY: not queued, so its slot is the caller's too; written when the node was made.
            && wait_node.slot.with_mut(|want| unsafe {
                arrives(self.state, &mut self.held, (*want).assume_init_mut(), comes, order)
            });
        if !has {
            self.serves = false;
            // SAFETY: as promised by the caller; EDIT is held.
            unsafe { self.queue(node, again || order == Order::Lifo) };
        }
        has
    }

    /// [`arrive`](Self::arrive) of an offer of `choice`.
    ///
    /// # Safety
    /// As for `arrive`; the choice is the caller's.
    pub(super) unsafe fn offer(&mut self, node: NonNull<NodeHead>, choice: &Choice, order: Order) -> Offered {
        let (mut state, mut held) = (*self.state, self.held);
        // SAFETY: not queued, so it is its owner's, the caller's.
        let slot = unsafe { &node.cast::<WaitNode<u32>>().as_ref().slot };
        // SAFETY: the slot is the caller's, since the node is not queued; written when the node was made.
        let has = slot.with_mut(|want| unsafe {
            arrives(&mut state, &mut held, (*want).assume_init_mut(), self.comes(), order)
        });
        self.serves = has;
        if has && !choice.synch() {
            self.serves = false;
            return Offered::Lost;
        }
        (*self.state, self.held) = (state, held);
        if has {
            return Offered::Won;
        }
        // SAFETY: as promised by the caller; EDIT is held.
        unsafe { self.queue(node, order == Order::Lifo) };
        Offered::Waiting
    }

    /// # Safety
    /// As for [`List::push`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn queue(&mut self, node: NonNull<NodeHead>, in_front: bool) {
        // SAFETY: as promised by the caller.
        unsafe { if in_front { self.list.push_front(node) } else { self.list.push(node) } }
    }

    /// # Safety
    /// As for [`Line::leave`](super::Line).
    pub(super) unsafe fn leave(&mut self, node: NonNull<NodeHead>) -> bool {
        // SAFETY: linked in this list, if at all (contract).
        let has_left = unsafe { self.list.remove(node) };
        if has_left {
            // SAFETY: the node is its owner's again, the caller's.
            self.state.left(&mut self.held, unsafe { super::want_of(node.cast::<WaitNode<u32>>().as_ref()) });
        }
        self.serves = has_left;
        has_left
    }

    /// Takes out the waiters that can go on now, until the batch is full.
    pub(super) fn serve(&mut self, batch: &mut Batch) {
        while !self.woken
            && !batch.is_full()
            && let Some(node) = self.list.first()
        {
            // SAFETY: linked, so alive, and the holder of EDIT owns its slot.
            let wait_node = unsafe { node.cast::<WaitNode<u32>>().as_ref() };
            let (mut state, mut held) = (*self.state, self.held);
            // SAFETY: the holder of EDIT owns the slot of a linked node; written when the node was made.
            let turn =
                wait_node.slot.with_mut(|want| unsafe { state.take(&mut held, (*want).assume_init_mut()) });
            if turn == Decision::Waits {
                break;
            }
            // SAFETY: linked in this list.
            unsafe { self.list.remove(node) };
            // If `accept` returns false, the node of the stale offer may be freed already.
            if wait_node.accept() {
                (*self.state, self.held) = (state, held);
                self.woken = turn == Decision::Tries && !self.list.is_empty();
                end(wait_node, turn == Decision::Has).into_iter().for_each(|wake| batch.push(wake));
            }
        }
    }
}

/// [`LockKind::arrive`]; in LIFO order an arriving thread may also go before those that wait: it is then the
/// first in line.
#[cfg_attr(not(debug_assertions), inline(always))]
fn arrives<S: LockKind>(state: &mut S, held: &mut bool, want: &mut u32, comes: Comes, order: Order) -> bool {
    let is_first = comes == Comes::Behind && order == Order::Lifo;
    state.arrive(held, want, comes) || (is_first && state.take(held, want) == Decision::Has)
}

/// Ends the wait of a node that was just taken out; if it is an offer, its choice is synched.
///
/// A thread does not free the node before its wake. A future leaves the line (or finds its node taken out)
/// under EDIT before it is dropped, so it is not dropped before this EDIT ends: a parasite is alive during
/// the notification.
#[cfg_attr(not(debug_assertions), inline(always))]
fn end(wait_node: &NodeState, has: bool) -> Option<PendingWake> {
    let waiter = match wait_node.waiter() {
        At::Waiting(waiter) => Some(waiter),
        // SAFETY: the choice lives until its node is ended; its waiter is the winner's.
        At::Offer(choice) => unsafe { choice.as_ref() }.waiter(),
        _ => crate::bug::bug!("a node without a waiter was queued"),
    };
    wait_node.end(has);
    let waiter = waiter?;
    Some(match waiter.as_task() {
        #[cfg(loom)]
        Some(_) if left_out!(GateNotify) => PendingWake::Late(waiter),
        // SAFETY: the parasite is alive until EDIT ends: its future is dropped only after an EDIT of its own.
        Some(task) => PendingWake::Task(unsafe { Task::notify(task) }),
        None => PendingWake::Waiter(waiter),
    })
}

impl Batch {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new() -> Self {
        Self { pending_wake: [const { None }; BATCH], len: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == BATCH
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, pending_wake: PendingWake) {
        self.pending_wake[self.len] = Some(pending_wake);
        self.len += 1;
    }

    pub(super) fn is_several(&self) -> bool {
        self.len > 1
    }

    /// The wake of a batch of at most one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn into_single(self) -> Option<PendingWake> {
        let [pending_wake, ..] = self.pending_wake;
        pending_wake
    }

    /// Delivers the wakes that run no user code, oldest first; pushes the others to `last`.
    pub(super) fn deliver_to_threads(self, last: &mut Vec<PendingWake>) {
        for pending_wake in self.pending_wake.into_iter().flatten() {
            if pending_wake.runs_code() { last.push(pending_wake) } else { pending_wake.deliver(Form::Soon) }
        }
    }
}

impl PendingWake {
    /// Delivers the only wake of an EDIT.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn deliver_by(self, wake: Wake) {
        match self {
            PendingWake::Waiter(waiter) if wake == Wake::Switch => switch_over(waiter),
            pending_wake => pending_wake.deliver(Form::AsTask),
        }
    }
}

/// Wakes `waiter` and switches to it at once, if it is a host of this worker.
fn switch_over(waiter: Waiter) {
    #[cfg(not(loom))]
    if let Some(thread) = waiter.as_thread()
        // SAFETY: the waiter was taken out of its node, and is woken once: here, or at the end of this
        // function.
        && unsafe { crate::sched::switch_over(thread) }
    {
        return;
    }
    PendingWake::Waiter(waiter).deliver(Form::AsTask);
}
