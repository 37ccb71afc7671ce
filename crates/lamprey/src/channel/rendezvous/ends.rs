//! The public face of the rendezvous channel: a send and a receive happen together, or wait for each other
//! ([`exchange`](super::exchange)).

use super::deal::deal;
use super::exchange::{Chan, Ended};
use super::future::Exchange;
use super::offer::{RecvEvt, SendEvt};
use super::wait_queue::{Arrival, Side};
use crate::channel::err::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use crate::channel::iter::iterates;
use crate::sched::coop;
use crate::sync_shim::Arc;
use crate::time;
use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::time::Duration;

/// A channel without a buffer: `send` and `recv` wait for each other.
///
/// Both ends can be cloned, sent to other threads, and used from hosts of any runtime and from OS threads.
/// When one side is gone (all its clones dropped), the other side's calls fail, including those that wait.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || (1..=3).for_each(|n| tx.send(n).unwrap()));
///     assert_eq!(rx.iter().sum::<i32>(), 6);
/// });
/// ```
/// Three workers take jobs from one channel and give results to another. Nothing is buffered, so the input is
/// read no faster than the workers take it, and each end of the work is the end of a channel:
/// ```
/// lamprey::run(|| {
///     let (jobs, job) = lamprey::channel::<u64>();
///     let (results, result) = lamprey::channel();
///     for _ in 0..3 {
///         let (job, results) = (job.clone(), results.clone());
///         lamprey::spawn(move || {
///             // Until the sender of jobs is gone.
///             for n in job {
///                 let factorial: u64 = (1..=n).product();
///                 if results.send((n, factorial)).is_err() {
///                     return; // no thread wants results any more
///                 }
///             }
///         });
///     }
///     drop((job, results)); // the workers have their own
///     lamprey::spawn(move || (1..=10).for_each(|n| jobs.send(n).unwrap()));
///
///     // Until the last worker is gone.
///     let mut factorials: Vec<_> = result.iter().collect();
///     factorials.sort();
///     assert_eq!((factorials.len(), factorials[9]), (10, (10, 3_628_800)));
/// });
/// ```
/// Values cross kernel threads, so they must be `Send`:
/// ```compile_fail,E0277
/// let (tx, rx) = lamprey::channel::<std::rc::Rc<u8>>();
/// lamprey::spawn(move || tx.send(std::rc::Rc::new(1)));
/// ```
#[doc(alias = "rendezvous")]
#[doc(alias = "sync_channel")]
#[doc(alias = "unbuffered")]
#[doc(alias = "zero")]
#[doc(alias = "chan")]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    ends(Chan::new(false, Location::caller()))
}

/// A channel without owner bias: for a channel that is used once, from any thread.
#[track_caller]
pub(crate) fn channel_for_once<T>() -> (Sender<T>, Receiver<T>) {
    ends(Chan::for_once(Location::caller()))
}

/// As [`channel`]; a parasite that waits here is attached **inside** the `send` or `recv` that unblocks it:
/// it runs on the caller's stack, before that call returns (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight
/// Asynchrony Using Parasitic Threads*, 2011, 2.2).
///
/// This saves one queue. But if the caller holds a lock or a `RefCell` borrow that the parasite needs too,
/// the parasite deadlocks or panics. Therefore the default is to run it at the caller's next scheduling
/// point. At most one such attach is active on a stack: a parasite that is unblocked inside it waits for the
/// next scheduling point.
///
/// # Examples
/// ```
/// # use std::sync::atomic::{AtomicU32, Ordering};
/// # lamprey::run(|| {
/// static GOT: AtomicU32 = AtomicU32::new(0);
/// let (tx, rx) = lamprey::channel_attach_inline();
/// lamprey::parasite(async move { GOT.store(rx.recv_async().await.unwrap(), Ordering::Relaxed) }).detach();
/// tx.send(5).unwrap();
/// assert_eq!(GOT.load(Ordering::Relaxed), 5);
/// # });
/// ```
#[cfg(not(loom))]
#[track_caller]
pub fn channel_attach_inline<T>() -> (Sender<T>, Receiver<T>) {
    ends(Chan::new(true, Location::caller()))
}

fn ends<T>(chan: Chan<T>) -> (Sender<T>, Receiver<T>) {
    let chan = Arc::new(chan);
    (Sender(chan.clone()), Receiver(chan))
}

/// The sending end of a [`channel`].
pub struct Sender<T>(pub(in crate::channel) Arc<Chan<T>>);

/// The receiving end of a [`channel`].
pub struct Receiver<T>(pub(super) Arc<Chan<T>>);

/// # Safety
/// The slot is full: a receiver's slot that has met, a sender's that has not, or a swapper's.
pub(in crate::channel) unsafe fn full<T>(slot: MaybeUninit<T>) -> T {
    // SAFETY: by contract.
    unsafe { slot.assume_init() }
}

impl<T> Sender<T> {
    /// Hands `value` to a receiver, waiting for one if necessary.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left.
    ///
    /// # Cancellation
    /// The commit point is the moment when a receiver takes the value, even while this call is blocked. A
    /// host that is cancelled before that unwinds from here, and the value is dropped. A host that is
    /// cancelled later returns as usual, and unwinds at its next blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no
    /// receiver is there, it gets the error and the value, as if no receiver were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match self.0.exchange(Side::Sender, MaybeUninit::new(value), None) {
            Ended::Met(_) => Ok(()),
            // SAFETY: a sender's slot that has not met.
            Ended::Closed(slot) | Ended::TimedOut(slot) => Err(SendError(unsafe { full(slot) })),
        }
    }

    /// [`send`](Self::send) for async code: ready once a receiver has the value.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left.
    ///
    /// # Cancellation
    /// Dropping the future withdraws it: the value either has been received or is dropped with the future.
    /// The caller cannot tell which; [`send_timeout`](Self::send_timeout) can.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send_async(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        Exchange::send(&self.0, value)
    }

    /// [`send`](Self::send) as an event, for a choice. If another event is chosen, `value` is dropped with
    /// this one.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose};
    /// # lamprey::run(|| {
    /// let ((tx, rx), (other, _rx)) = (lamprey::channel(), lamprey::channel());
    /// lamprey::spawn(move || rx.recv());
    /// let sent = choose((tx.send_evt(1), other.send_evt(2)));
    /// assert!(sent.sync().is_ok());
    /// # });
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send_evt(&self, value: T) -> SendEvt<&Self> {
        SendEvt::new(self, value)
    }

    /// [`send_evt`](Self::send_evt) that owns the sender.
    pub fn into_send_evt(self, value: T) -> SendEvt<Self> {
        SendEvt::new(self, value)
    }

    /// Hands `value` to a receiver if one is waiting.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        // SAFETY: the contract of `meet` is about a node; this call has none.
        let sent = match unsafe { self.0.wait_queue.meet(Side::Sender, None) } {
            Arrival::Peer(peer) | Arrival::Thread(peer, _) => {
                // SAFETY: just taken out; our slot is full.
                unsafe { deal(Side::Sender, MaybeUninit::new(value), peer, self.0.form()) };
                Ok(())
            }
            Arrival::Waiting => Err(TrySendError::Full(value)),
            Arrival::Closed => Err(TrySendError::Disconnected(value)),
        };
        coop::tried(sent, Result::is_err)
    }

    /// As [`send`](Self::send), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value.
    ///
    /// # Cancellation
    /// As for `send`.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.0.exchange(Side::Sender, MaybeUninit::new(value), time::deadline(timeout)) {
            Ended::Met(_) => Ok(()),
            // SAFETY: a sender's slot that has not met.
            Ended::Closed(slot) => Err(SendTimeoutError::Disconnected(unsafe { full(slot) })),
            // SAFETY: a sender's slot that has not met is full.
            Ended::TimedOut(slot) => Err(SendTimeoutError::Timeout(unsafe { full(slot) })),
        }
    }
}

impl<T> Receiver<T> {
    /// Takes a value from a sender, waiting for one if necessary.
    ///
    /// # Errors
    /// [`RecvError`] if no sender is left.
    ///
    /// # Cancellation
    /// The commit point is the moment when a sender gives the value, even while this call is blocked. A host
    /// that is cancelled before that unwinds from here, and has taken nothing. A host that is cancelled later
    /// returns the value, and unwinds at its next blocking call.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no
    /// sender is there, the call fails as if no sender were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.0.exchange(Side::Receiver, MaybeUninit::uninit(), None) {
            // SAFETY: a receiver's slot that has met.
            Ended::Met(slot) => Ok(unsafe { full(slot) }),
            Ended::Closed(_) | Ended::TimedOut(_) => Err(RecvError),
        }
    }

    /// [`recv`](Self::recv) for async code: ready once a sender has handed its value over.
    ///
    /// # Errors
    /// [`RecvError`] if no sender is left.
    ///
    /// # Cancellation
    /// Dropping the future withdraws it, and no value is lost: a value that it was given and has not returned
    /// goes to another receiver, or back into the channel, in front of all values that wait there. If no
    /// sender is left by then, the next receive gets it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let doubled = lamprey::parasite(async move { rx.recv_async().await.unwrap() * 2 });
    /// tx.send(21).unwrap();
    /// assert_eq!(doubled.join().unwrap(), 42);
    /// # });
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> + use<'_, T> {
        Exchange::recv(&self.0)
    }

    /// [`recv`](Self::recv) as an event, for a choice.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose};
    /// # lamprey::run(|| {
    /// let ((tx, a), (_tx, b)) = (lamprey::channel(), lamprey::channel());
    /// lamprey::spawn(move || tx.send(1));
    /// assert_eq!(choose([a.recv_evt(), b.recv_evt()]).sync(), Ok(1));
    /// # });
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv_evt(&self) -> RecvEvt<&Self> {
        RecvEvt::new(self)
    }

    /// [`recv_evt`](Self::recv_evt) that owns the receiver.
    pub fn into_recv_evt(self) -> RecvEvt<Self> {
        RecvEvt::new(self)
    }

    /// Takes a value if a sender is waiting.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        // SAFETY: the contract of `meet` is about a node; this call has none.
        let received = match unsafe { self.0.wait_queue.meet(Side::Receiver, None) } {
            Arrival::Peer(peer) | Arrival::Thread(peer, _) => {
                // SAFETY: the peer was just taken out; a receiver's slot is full after `deal`.
                Ok(unsafe { full(deal(Side::Receiver, MaybeUninit::uninit(), peer, self.0.form())) })
            }
            Arrival::Waiting => Err(TryRecvError::Empty),
            Arrival::Closed => Err(TryRecvError::Disconnected),
        };
        coop::tried(received, Result::is_err)
    }

    /// As [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// As for `recv`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match self.0.exchange(Side::Receiver, MaybeUninit::uninit(), time::deadline(timeout)) {
            // SAFETY: a receiver's slot that has met.
            Ended::Met(slot) => Ok(unsafe { full(slot) }),
            Ended::Closed(_) => Err(RecvTimeoutError::Disconnected),
            Ended::TimedOut(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// An iterator over the received values, until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// An iterator over the values whose senders are waiting now.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

iterates!(&, Receiver<T>, T, |rx: &Receiver<T>| rx.recv().ok());

/// The iterator of [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Sender<T> {
    /// Drops this handle without closing its side: even if it is the last sender, the receivers are not
    /// notified.
    pub(crate) fn keep_open(self) {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: moved out once; only the rest of the handle's drop, the count, is left out.
        drop(unsafe { std::ptr::read(&this.0) });
    }

    /// Another sending handle of `chan`.
    pub(super) fn of(chan: &Arc<Chan<T>>) -> Self {
        chan.counted.senders.add();
        Self(chan.clone())
    }
}

macro_rules! closes {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Closes the channel for all: from now on sends fail, and those that wait get their values back; receivers get
            /// the error that they get when no sender is left. (A value that a dropped future has handed back is received
            /// first.) False if it was closed already, by such a call or because a side is gone.
            ///
            /// # Examples
            /// ```
            /// # lamprey::run(|| {
            /// let (tx, rx) = lamprey::channel();
            /// let theirs = tx.clone();
            /// let sender = lamprey::spawn(move || theirs.send(1));
            /// assert!(rx.close());
            /// assert!(!tx.close());
            /// assert_eq!(sender.join().unwrap(), Err(lamprey::SendError(1)));
            /// assert!(rx.recv().is_err());
            /// # });
            /// ```
            ///
            /// # Blocking
            /// Never.
            pub fn close(&self) -> bool {
                self.0.shut()
            }

            /// True if no value will be sent any more: the channel has been [closed](Self::close), or a side is gone for good.
            pub fn is_closed(&self) -> bool {
                coop::look();
                self.0.wait_queue.is_closed()
            }

            /// True if both are ends of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.0, &other.0)
            }
        }
    };
}

closes!(Sender);
closes!(Receiver);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.counted.senders.add();
        Self(self.0.clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.counted.receivers.add();
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.counted.senders.remove() {
            self.0.disconnect(Side::Sender);
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.0.counted.receivers.remove() {
            self.0.disconnect(Side::Receiver);
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
