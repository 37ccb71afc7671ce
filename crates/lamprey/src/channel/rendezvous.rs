//! The rendezvous channel: a send and a receive happen together, or wait for each other.
//!
//! Invariants:
//! 1. A thread that waits here holds a reference to its own end, so while it waits its side is not gone.
//! 2. A waiter's outcome is decided by its node (`outcome`), never by why its block ended.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::meeting::{Arrival, End, Meeting, Party, PartyNode, Side};
use crate::sched::{self, Wait, Woke};
use crate::sync_shim::{Arc, AtomicUsize, Ordering};
use crate::time;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// A channel without a buffer: `send` and `recv` wait for each other.
///
/// Both ends can be cloned, sent to other threads and used from hosts of any runtime and from OS threads alike. When
/// one side is gone (all its clones dropped), the other side's calls fail, those that wait included.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
///     assert_eq!(rx.iter().sum::<i32>(), 6);
/// });
/// ```
/// Values cross kernel threads, so they must be `Send`:
/// ```compile_fail,E0277
/// let (tx, rx) = lamprey::channel::<std::rc::Rc<u8>>();
/// lamprey::spawn(move || tx.send(std::rc::Rc::new(1)));
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let chan = Arc::new(Chan {
        meeting: Meeting::new(),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
    });
    (Sender(chan.clone()), Receiver(chan))
}

/// The sending end of a [`channel`].
pub struct Sender<T>(Arc<Chan<T>>);

/// The receiving end of a [`channel`].
pub struct Receiver<T>(Arc<Chan<T>>);

struct Chan<T> {
    meeting: Meeting<T>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

/// How an operation that may wait has ended, with the node's slot as it then is.
enum Ended<T> {
    /// The value has been moved (into the slot, for a receiver).
    Met(MaybeUninit<T>),
    Closed(MaybeUninit<T>),
    TimedOut(MaybeUninit<T>),
}

impl<T> Chan<T> {
    /// Meets the other side, waiting for it if need be. `slot` is full for a sender, empty for a receiver.
    #[inline(always)]
    fn exchange(&self, side: Side, slot: MaybeUninit<T>, deadline: Option<Instant>) -> Ended<T> {
        // SAFETY: without a node of ours there is nothing to promise.
        match unsafe { self.meeting.meet(side, None) } {
            // SAFETY: the peer was just taken out.
            Arrival::Peer(peer) => return Ended::Met(unsafe { deal(side, slot, peer) }),
            Arrival::Closed => return closed(side, slot),
            Arrival::Waiting if sched::must_not_block() => return Ended::Closed(slot),
            Arrival::Waiting => {}
        }
        let node = Party::node(sched::waiter(), slot);
        // SAFETY: `node` is fresh, stays here until it is out again (below), and its waiter is this thread.
        match unsafe { self.meeting.meet(side, Some(NonNull::from(&node))) } {
            // SAFETY: our node was not queued, so its slot is ours; the peer was just taken out.
            Arrival::Peer(peer) => Ended::Met(unsafe { deal(side, node.value.take(), peer) }),
            // SAFETY: as above.
            Arrival::Closed => closed(side, unsafe { node.value.take() }),
            Arrival::Waiting => {
                let reason = if side == Side::Sender { Wait::Send } else { Wait::Recv };
                let woke = time::block_until(reason, deadline);
                if woke != Woke::Woken {
                    return self.interrupted(side, reason, &node, woke);
                }
                if node.value.end.get() == End::Waiting {
                    crate::bug::bug!("a thread was woken although nobody took its node");
                }
                match outcome(&node) {
                    Ended::Closed(slot) => closed(side, slot),
                    ended => ended,
                }
            }
        }
    }

    /// The block ended early: takes our node out, or waits for whoever was faster.
    #[cold]
    #[inline(never)]
    fn interrupted(&self, side: Side, reason: Wait, node: &PartyNode<T>, woke: Woke) -> Ended<T> {
        // SAFETY: queued by this thread.
        if !unsafe { self.meeting.leave(side, NonNull::from(node)) } {
            sched::block_until_woken(reason);
        }
        let ended = outcome(node);
        if woke == Woke::Cancelled { cancelled(side, ended) } else { ended }
    }

    /// The last handle of a side is gone: everyone who waits is of the other side.
    #[cold]
    fn disconnect(&self) {
        self.meeting.close(|node| {
            // SAFETY: taken out by `close`: ours until the wake, which is owed by us.
            unsafe {
                let waiter = node.as_ref().value.waiter;
                node.as_ref().value.end.set(End::Closed);
                waiter.wake();
            }
        });
    }
}

/// What has become of our node, now that it is out and ours again.
#[inline(always)]
fn outcome<T>(node: &PartyNode<T>) -> Ended<T> {
    // SAFETY: whoever took the node out is done with it.
    let slot = unsafe { node.value.take() };
    match node.value.end.get() {
        End::Met => Ended::Met(slot),
        End::Closed => Ended::Closed(slot),
        End::Waiting => Ended::TimedOut(slot),
    }
}

/// The other side is gone. Where a runtime ends, often because it has been cancelled: then so has the caller, perhaps,
/// and is to hear of that first.
#[cold]
fn closed<T>(side: Side, slot: MaybeUninit<T>) -> Ended<T> {
    if sched::is_cancelled() { cancelled(side, Ended::Closed(slot)) } else { Ended::Closed(slot) }
}

/// A cancelled host unwinds: what it still holds is dropped first. A value that was received is dropped with it, a
/// value that was sent is gone.
#[cold]
fn cancelled<T>(side: Side, ended: Ended<T>) -> ! {
    let held = match ended {
        Ended::Met(slot) => (side == Side::Receiver).then_some(slot),
        Ended::Closed(slot) | Ended::TimedOut(slot) => (side == Side::Sender).then_some(slot),
    };
    if let Some(slot) = held {
        // SAFETY: a receiver's slot is full after it has met, a sender's until then.
        drop(unsafe { slot.assume_init() });
    }
    sched::unwind_cancelled()
}

/// Moves the value between our slot and the peer's, and wakes the peer. Returns what we then hold.
///
/// # Safety
/// The caller has just taken `peer` out, and is of `side`; `mine` is full if that is the sender's.
#[inline(always)]
unsafe fn deal<T>(side: Side, mine: MaybeUninit<T>, peer: NonNull<PartyNode<T>>) -> MaybeUninit<T> {
    // SAFETY: the node is ours until the wake (Meeting, invariant 2); the waiter is copied out before it.
    unsafe {
        let party = &peer.as_ref().value;
        let got = match side {
            Side::Sender => {
                party.slot.with_mut(|slot| slot.write(mine));
                MaybeUninit::uninit()
            }
            Side::Receiver => party.slot.with(|slot| slot.read()),
        };
        party.end.set(End::Met);
        let waiter = party.waiter;
        waiter.wake();
        got
    }
}

/// # Safety
/// The slot is full: a receiver's that has met, or a sender's that has not.
unsafe fn full<T>(slot: MaybeUninit<T>) -> T {
    // SAFETY: by contract.
    unsafe { slot.assume_init() }
}

impl<T> Sender<T> {
    /// Hands `value` to a receiver, waiting for one if need be.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the value has then either been received or is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no receiver is
    /// there, the value comes back as if none were left.
    #[inline(always)]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match self.0.exchange(Side::Sender, MaybeUninit::new(value), None) {
            Ended::Met(_) => Ok(()),
            // SAFETY: a sender's slot that has not met.
            Ended::Closed(slot) | Ended::TimedOut(slot) => Err(SendError(unsafe { full(slot) })),
        }
    }

    /// Hands `value` to a receiver if one is waiting.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        // SAFETY: without a node of ours there is nothing to promise.
        match unsafe { self.0.meeting.meet(Side::Sender, None) } {
            Arrival::Peer(peer) => {
                // SAFETY: just taken out; our slot is full.
                unsafe { deal(Side::Sender, MaybeUninit::new(value), peer) };
                Ok(())
            }
            Arrival::Waiting => Err(TrySendError::Full(value)),
            Arrival::Closed => Err(TrySendError::Disconnected(value)),
        }
    }

    /// As [`send`](Self::send), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.0.exchange(Side::Sender, MaybeUninit::new(value), time::deadline(timeout)) {
            Ended::Met(_) => Ok(()),
            // SAFETY: a sender's slot that has not met.
            Ended::Closed(slot) => Err(SendTimeoutError::Disconnected(unsafe { full(slot) })),
            // SAFETY: as above.
            Ended::TimedOut(slot) => Err(SendTimeoutError::Timeout(unsafe { full(slot) })),
        }
    }
}

impl<T> Receiver<T> {
    /// Takes a value from a sender, waiting for one if need be.
    ///
    /// # Errors
    /// [`RecvError`] if no sender is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; a value that it was just given is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no sender is
    /// there, the call fails as if none were left.
    #[inline(always)]
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.0.exchange(Side::Receiver, MaybeUninit::uninit(), None) {
            // SAFETY: a receiver's slot that has met.
            Ended::Met(slot) => Ok(unsafe { full(slot) }),
            Ended::Closed(_) | Ended::TimedOut(_) => Err(RecvError),
        }
    }

    /// Takes a value if a sender is waiting.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        // SAFETY: without a node of ours there is nothing to promise.
        match unsafe { self.0.meeting.meet(Side::Receiver, None) } {
            // SAFETY: just taken out; what a receiver gets is full.
            Arrival::Peer(peer) => Ok(unsafe { full(deal(Side::Receiver, MaybeUninit::uninit(), peer)) }),
            Arrival::Waiting => Err(TryRecvError::Empty),
            Arrival::Closed => Err(TryRecvError::Disconnected),
        }
    }

    /// As [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match self.0.exchange(Side::Receiver, MaybeUninit::uninit(), time::deadline(timeout)) {
            // SAFETY: a receiver's slot that has met.
            Ended::Met(slot) => Ok(unsafe { full(slot) }),
            Ended::Closed(_) => Err(RecvTimeoutError::Disconnected),
            Ended::TimedOut(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// The values that come, until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The values whose senders are waiting now.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

/// See [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// See [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// As [`Iter`], owning the receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

/// Counts a handle of a side. Relaxed: made from a handle that exists, as with `Arc`.
fn add(count: &AtomicUsize) {
    // Relaxed: see above.
    count.fetch_add(1, Ordering::Relaxed);
}

/// Drops a handle of a side; true if it was the last.
fn is_last(count: &AtomicUsize) -> bool {
    // AcqRel: pairs with itself, so that the last one sees what the others did before they dropped theirs.
    count.fetch_sub(1, Ordering::AcqRel) == 1
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        add(&self.0.senders);
        Self(self.0.clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        add(&self.0.receivers);
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if is_last(&self.0.senders) {
            self.0.disconnect();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if is_last(&self.0.receivers) {
            self.0.disconnect();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}
