//! The blocking send, receive and swap of a rendezvous channel, from arrival to end.
//!
//! # Invariants
//! 1. A waiter holds a reference to its own end of the channel, so its side is not gone while it waits.
//! 2. The node's word decides a waiter's outcome, not the reason why its block ended.
//! 3. A parasite that is attached inside this call runs as its very last step ([`deal`](super::deal)), when
//!    the call holds nothing of the channel any more.

#[cfg(not(loom))]
use super::deal::deal_with_thread;
use super::deal::{deal, deal_in_choice, notify};
use super::ends::Sender;
use super::wait_node::{At, NodeHead, NodeState, WaitNode};
use super::wait_queue::{Arrival, Side, WaitQueue};
use crate::bias::Bias;
use crate::queue::list::List;
use crate::sched::made::Counted;
use crate::sched::parasite::task::Form;
use crate::sched::wait::{self, Waited};
use crate::sched::{self, Wait, Waiter, Who};
#[cfg(not(loom))]
use crate::sched::{coop, worker::Worker};
use crate::sync_shim::Arc;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};
use std::panic::Location;
use std::ptr::NonNull;
use std::time::Instant;

/// The channel itself.
#[repr(C)]
pub struct Chan<T> {
    pub(super) wait_queue: WaitQueue,
    pub(in crate::channel) counted: Counted,
    _values: PhantomData<*mut T>,
}

// SAFETY: values of `T` are moved between kernel threads; the wait queue orders all accesses.
unsafe impl<T: Send> Send for Chan<T> {}
// SAFETY: shared access goes through the wait queue, and moves values of `T` only.
unsafe impl<T: Send> Sync for Chan<T> {}

/// The end of an operation that may wait, with the content of the node's slot.
pub(in crate::channel) enum Ended<T> {
    /// The value has been moved (for a receiver, and a swapper, into the slot).
    Met(MaybeUninit<T>),
    Closed(MaybeUninit<T>),
    TimedOut(MaybeUninit<T>),
}

/// An undelivered value that was handed back, queued as a sender without a thread. The node comes first: the
/// peer that takes it frees the whole struct.
#[repr(C)]
pub(super) struct Undelivered<T> {
    node: WaitNode<T>,
    /// Counts as a sender while the value waits.
    _sender: Sender<T>,
}

#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
fn new_bias() -> Bias {
    Bias::new()
}

/// Under the checker, a channel has an owner only where a thread plays a worker: fewer states to explore.
#[cfg(loom)]
fn new_bias() -> Bias {
    if crate::model::slot().is_some() { Bias::new() } else { Bias::shared() }
}

/// The wait reason of `side`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn reason(side: Side) -> Wait {
    match side {
        Side::Sender => Wait::Send,
        Side::Receiver => Wait::Recv,
        Side::Swapper => Wait::Swap,
    }
}

impl<T> Chan<T> {
    pub(super) fn new(attach_inline: bool, site: &'static Location<'static>) -> Self {
        Self::of(new_bias(), attach_inline, site)
    }

    pub(super) fn for_once(site: &'static Location<'static>) -> Self {
        Self::of(Bias::shared(), false, site)
    }

    fn of(bias: Bias, attach_inline: bool, site: &'static Location<'static>) -> Self {
        Self {
            wait_queue: WaitQueue::new(bias, attach_inline),
            counted: Counted::new(site, offset_of!(Self, counted)),
            _values: PhantomData,
        }
    }

    /// A channel of swappers, whose ends count as senders.
    pub(in crate::channel) fn for_swaps(site: &'static Location<'static>) -> Self {
        let this = Self::new(false, site);
        this.counted.receivers.remove();
        this
    }

    /// How parasites that wait here are attached when they are woken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn form(&self) -> Form {
        if self.wait_queue.attaches_inline() { Form::Inline } else { Form::AsTask }
    }

    /// Meets the other side, waiting for it if necessary. `slot` is full if `side` gives.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::channel) fn exchange(
        &self,
        side: Side,
        slot: MaybeUninit<T>,
        deadline: Option<Instant>,
    ) -> Ended<T> {
        #[cfg(not(loom))]
        if let Some(worker) = Worker::current() {
            return self.exchange_on(worker, side, slot, deadline);
        }
        self.exchange_elsewhere(side, slot, deadline)
    }

    /// [`exchange`](Self::exchange) on a worker, which the caller has looked up.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn exchange_on(
        &self,
        worker: &Worker,
        side: Side,
        slot: MaybeUninit<T>,
        deadline: Option<Instant>,
    ) -> Ended<T> {
        // SAFETY: the contract of `meet_from` is about a node; this call has none.
        let arrival = unsafe { self.wait_queue.meet_from(worker.slot(), side, None) };
        // Ordered tests instead of a jump table: the first two results are the usual ones.
        if let Arrival::Thread(peer, thread) = arrival {
            // SAFETY: the peer was just taken out.
            return Ended::Met(unsafe { deal_with_thread(worker, side, slot, peer, thread, self.form()) });
        }
        if !matches!(arrival, Arrival::Waiting) {
            let ended = self.end_at_once(side, slot, arrival);
            coop::call_is_done();
            return ended;
        }
        // The steps of `wait::wait`, inlined here.
        if std::thread::panicking() {
            return Ended::Closed(slot);
        }
        worker.attach_ready();
        let node = WaitNode::new(Some(Waiter::thread(worker.running())), slot);
        // SAFETY: `node` is new, stays here until the wait has ended, and its waiter is this thread.
        let arrival = unsafe { self.wait_queue.meet_from(worker.slot(), side, Some(node.queued())) };
        if !matches!(arrival, Arrival::Waiting) {
            return self.met_late(side, &node, arrival);
        }
        let queued = &node;
        let waited = wait::queued_on(worker, reason(side).on_counted(&self.counted), deadline, move || {
            self.leave(side, queued)
        });
        self.after_wait(side, &node, arrival, waited)
    }

    /// The rarer ends of an arrival without a node.
    #[cfg(not(loom))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end_at_once(&self, side: Side, slot: MaybeUninit<T>, arrival: Arrival) -> Ended<T> {
        if let Arrival::Peer(peer) = arrival {
            // SAFETY: the peer was just taken out.
            return Ended::Met(unsafe { deal(side, slot, peer, self.form()) });
        }
        closed(side, slot)
    }

    /// [`exchange`](Self::exchange) on a kernel thread outside of every runtime.
    #[inline(never)]
    fn exchange_elsewhere(&self, side: Side, slot: MaybeUninit<T>, deadline: Option<Instant>) -> Ended<T> {
        let (node, mut arrival) = (WaitNode::new(None, slot), Arrival::Waiting);
        let enter = |me: Waiter| {
            node.set_waiter(Some(me));
            // SAFETY: `node` is new, stays here until the wait has ended, and its waiter is this thread.
            arrival = unsafe { self.wait_queue.meet(side, Some(node.queued())) };
            matches!(arrival, Arrival::Waiting)
        };
        let waited =
            wait::wait(reason(side).on_counted(&self.counted), deadline, enter, |_| self.leave(side, &node));
        self.after_wait(side, &node, arrival, waited)
    }

    /// Takes our node out; false if another thread has taken it.
    fn leave(&self, side: Side, node: &WaitNode<T>) -> bool {
        // SAFETY: queued by this thread.
        unsafe { self.wait_queue.leave(side, node.queued()) }
    }

    /// A peer was there when our node was about to be queued.
    #[cold]
    fn met_late(&self, side: Side, node: &WaitNode<T>, arrival: Arrival) -> Ended<T> {
        // SAFETY: our node was not queued, so its slot is ours; a peer was just taken out.
        unsafe {
            match arrival {
                Arrival::Peer(peer) | Arrival::Thread(peer, _) => {
                    Ended::Met(deal(side, node.take(), peer, self.form()))
                }
                _ => closed(side, node.take()),
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn after_wait(&self, side: Side, node: &WaitNode<T>, arrival: Arrival, waited: Waited) -> Ended<T> {
        match waited {
            Waited::Woken => match outcome(node) {
                Ended::Closed(slot) => closed(side, slot),
                ended => ended,
            },
            Waited::Done => self.met_late(side, node, arrival),
            _ => Self::after_early(side, node, waited),
        }
    }

    /// The wait ended early, or did not begin.
    #[cold]
    #[inline(never)]
    fn after_early(side: Side, node: &WaitNode<T>, waited: Waited) -> Ended<T> {
        if let Waited::Late(_) = waited {
            return match outcome(node) {
                // The value was moved: the caller gets that result, and its cancellation at its next blocking
                // call.
                Ended::Closed(slot) if waited.is_cancelled() => cancelled(side, slot),
                ended => ended,
            };
        }
        // SAFETY: the node is out, or never was queued.
        let slot = unsafe { node.take() };
        match waited {
            Waited::Refused => Ended::Closed(slot),
            _ if waited.is_cancelled() => cancelled(side, slot),
            _ => Ended::TimedOut(slot),
        }
    }

    /// The last handle of `side` is gone: all waiters are of the other side.
    #[cold]
    #[inline(never)]
    pub(super) fn disconnect(&self, side: Side) {
        let left = self.wait_queue.close(side);
        // The usual case.
        if left.is_empty() {
            return;
        }
        for handed_back in end_all(&[left]) {
            // SAFETY: taken out by `close`, and still full.
            let free = || unsafe { free_undelivered::<T>(handed_back, true) };
            #[cfg(not(loom))]
            crate::bug::quietly(free);
            #[cfg(loom)]
            free();
        }
    }

    /// Closes the channel although both sides are there; false if it was closed.
    #[cold]
    #[inline(never)]
    pub(super) fn shut(&self) -> bool {
        let Some(left) = self.wait_queue.shut() else { return false };
        let undelivered = end_all(&left);
        debug_assert!(undelivered.is_empty(), "they stay in the channel");
        true
    }

    /// Hands back a value that a receiver was given and did not return: it goes to another receiver, or waits
    /// for one.
    #[cold]
    #[inline(never)]
    pub(super) fn put_back(chan: &Arc<Self>, slot: MaybeUninit<T>) {
        let handed_back =
            Box::new(Undelivered { node: WaitNode::new(None, slot), _sender: Sender::of(chan) });
        handed_back.node.set_undelivered();
        let node = NonNull::from(Box::leak(handed_back)).cast::<NodeHead>();
        // SAFETY: the node is new and boxed; if `put_back` did not queue it, it is still ours.
        unsafe {
            if let Some(receiver) = chan.wait_queue.put_back(node) {
                let value = node.cast::<WaitNode<T>>().as_ref().take();
                deal_in_choice(Side::Sender, value, receiver, Form::Soon);
                free_undelivered::<T>(node, false);
            }
        }
    }
}

/// Ends and wakes all waiters of a channel that is closed now. Returns the undelivered values, which are the
/// caller's.
#[cold]
#[inline(never)]
fn end_all(left: &[List<NodeState>]) -> Vec<NonNull<NodeHead>> {
    // Everything that may run code of the program comes after all nodes have been ended, because that code
    // may wait for one of their owners: the destructor of a value, a foreign waker, a parasite that is sent
    // to its own worker and finds its runtime gone.
    let (mut ghosts, mut foreign, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    // A node is unlinked before its thread is woken; the owners of those behind it cannot go before their own
    // wake.
    left.iter().flat_map(|list| std::iter::from_fn(|| list.pop())).for_each(|node| {
        // SAFETY: taken out by `close`, so the node is ours until it is ended, and we must wake its owner. No
        // parasite is attached inline here.
        unsafe {
            let wait_node = &node.as_ref().value;
            let waiter = match wait_node.waiter() {
                At::Undelivered => return ghosts.push(node),
                At::Offer(_) if !wait_node.accept() => return,
                At::Offer(choice) => match choice.as_ref().waiter() {
                    Some(waiter) => waiter,
                    None => return wait_node.end(false),
                },
                At::Waiting(waiter) => waiter,
                _ => crate::bug::bug!("a node without a waiter was queued"),
            };
            match waiter.who() {
                Who::Task(task) => match notify(wait_node, task, false) {
                    delivery if delivery.is_sent() => sent.push(delivery),
                    delivery => delivery.deliver(Form::Soon),
                },
                Who::Foreign(_) => {
                    wait_node.end(false);
                    foreign.push(waiter);
                }
                _ => {
                    wait_node.end(false);
                    waiter.wake();
                }
            }
        }
    });
    sent.into_iter().for_each(|delivery| delivery.deliver(Form::Soon));
    for waiter in foreign {
        // SAFETY: taken out of its node above, and woken only here.
        unsafe { waiter.wake() };
    }
    ghosts
}

/// Frees an undelivered value's node, and the value if it is still in the slot.
///
/// # Safety
/// The node is a [`Undelivered`]'s, taken out or never queued, and only the caller has it.
#[cold]
#[inline(never)]
pub(super) unsafe fn free_undelivered<T>(node: NonNull<NodeHead>, full: bool) {
    // SAFETY: by contract; made by `put_back` as a box.
    unsafe {
        let handed_back = Box::from_raw(node.cast::<Undelivered<T>>().as_ptr());
        if full {
            drop(handed_back.node.take().assume_init());
        }
    }
}

/// The outcome of our node after we were woken.
#[cfg_attr(not(debug_assertions), inline(always))]
fn outcome<T>(node: &WaitNode<T>) -> Ended<T> {
    let at = node.at();
    // SAFETY: the thread that took the node out is done with it: it has woken us.
    let slot = unsafe { node.take() };
    match at {
        At::Met => Ended::Met(slot),
        At::Closed => Ended::Closed(slot),
        _ => crate::bug::bug!("a thread was woken although nobody took its node"),
    }
}

/// The result when the other side is gone. That often means that a runtime was cancelled and ends; if the
/// caller has been cancelled too, it unwinds instead.
#[cold]
fn closed<T>(side: Side, slot: MaybeUninit<T>) -> Ended<T> {
    if sched::is_cancelled() { cancelled(side, slot) } else { Ended::Closed(slot) }
}

/// Unwinds a cancelled host; a value that it has not sent is dropped first.
#[cold]
fn cancelled<T>(side: Side, slot: MaybeUninit<T>) -> ! {
    if side.gives() {
        // SAFETY: the slot of who gives is full until it has met.
        drop(unsafe { slot.assume_init() });
    }
    sched::unwind_cancelled()
}
