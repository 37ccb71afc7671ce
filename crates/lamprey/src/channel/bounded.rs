//! The bounded channel: a ring of places between senders and receivers.
//!
//! # Examples
//! Two stages of a pipeline with a buffer between them. The first is held back when it is four lines ahead;
//! the statistics, which must not hold up anything, are dropped when their buffer is full.
//! ```
//! use lamprey::TrySendError;
//! use std::collections::BTreeMap;
//!
//! const LOG: &str = "GET /a 200\nGET /b 404\nbroken\nGET /a 200\nPOST /a 500\n";
//!
//! lamprey::run(|| {
//!     let (lines, line) = lamprey::bounded::<String>(4);
//!     let (stats, stat) = lamprey::bounded::<usize>(1);
//!
//!     let reader = lamprey::spawn(move || {
//!         for text in LOG.lines() {
//!             lines.send(text.to_owned())?; // waits while the buffer is full
//!         }
//!         Ok::<(), lamprey::SendError<String>>(())
//!     });
//!     let counter = lamprey::spawn(move || {
//!         let mut codes = BTreeMap::new();
//!         for (n, text) in line.iter().enumerate() {
//!             if let Some(code) = text.split(' ').nth(2) {
//!                 *codes.entry(code.to_owned()).or_insert(0) += 1;
//!             }
//!             match stats.try_send(n) {
//!                 Ok(()) | Err(TrySendError::Full(_)) => {} // a later one will do
//!                 Err(TrySendError::Disconnected(_)) => break,
//!             }
//!         }
//!         codes
//!     });
//!
//!     let codes = counter.join().unwrap();
//!     reader.join().unwrap().unwrap();
//!     assert_eq!(codes, BTreeMap::from([("200".into(), 2), ("404".into(), 1), ("500".into(), 1)]));
//!     assert_eq!(stat.recv(), Ok(0)); // the first; the others were dropped
//! });
//! ```

// # Invariants
// 1. A place is taken by a value, or granted to a sender that has been woken for it, or free. A value is
//    free to be received, or granted to a receiver (`channel::gate`).
// 2. A thread that waits is served by its slot, a future by a grant. A receiver that waits gets a value from
//    the sender's section, the oldest one that is there; a sender that waits has its value put into the
//    buffer by the receiver's section that makes room; either only if nobody waits on the other side, who would have
//    to be served too: then the thread is woken by a grant, and acts itself.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::gate::{Gate, Interrupted, Op, Section, WaitSpec, named_future, or_cancelled};
use super::iter::iterates;
#[cfg(not(loom))]
use crate::events::algebra::{Try, tried_evt};
#[cfg(not(loom))]
use crate::events::{FutureEvt, TriedEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::sync_shim::{Arc, UnsafeCell};
use crate::time;
use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

const SENDERS: usize = 0;
const RECEIVERS: usize = 1;
const SEND: WaitSpec = WaitSpec::new(SENDERS, Wait::Send);
const RECV: WaitSpec = WaitSpec::new(RECEIVERS, Wait::Recv);

/// A channel with a buffer of `capacity` values: `send` waits while it is full, `recv` while it is empty.
///
/// Values come out in the order in which they went in, and threads that wait are served in order of arrival.
/// Both ends can be cloned and used from hosts of any runtime, parasites and OS threads alike. When the last
/// sender is gone, receivers get what is buffered and then [`RecvError`]; when the last receiver is gone,
/// sends fail and what is buffered is dropped.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::bounded(2);
///     lamprey::spawn(move || (1..=9).for_each(|n| tx.send(n).unwrap())); // never more than two ahead
///     assert_eq!(rx.iter().sum::<i32>(), 45);
/// });
/// ```
///
/// # Panics
/// If `capacity` is 0: that is [`channel`](crate::channel()). If there is no memory for `capacity` values,
/// which are all allocated here, so that no later call can fail for that reason.
#[doc(alias = "sync_channel")]
#[doc(alias = "buffered")]
#[doc(alias = "mpsc")]
#[doc(alias = "mpmc")]
#[doc(alias = "chan")]
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity > 0,
        "bounded(0): a channel without a buffer is made by `lamprey::channel()`, one of any capacity by `lamprey::channel_of()`"
    );
    let mut values = VecDeque::new();
    if let Err(error) = values.try_reserve_exact(capacity) {
        panic!("bounded({capacity}): no memory for so many values of {} bytes: {error}", size_of::<T>());
    }
    let gate = Arc::new(Gate::of_channel(Buffer { values, capacity, is_closed: false }));
    (Sender(gate.clone()), Receiver(gate))
}

struct Buffer<T> {
    values: VecDeque<T>,
    capacity: usize,
    /// No value comes any more: a side is gone, or has closed the channel.
    is_closed: bool,
}

/// The sending end of a [`bounded()`] channel.
pub struct Sender<T>(Arc<Gate<Buffer<T>>>);

/// The receiving end of a [`bounded()`] channel.
pub struct Receiver<T>(Arc<Gate<Buffer<T>>>);

/// Where a thread that waits keeps the value that it sends, or is to receive: its slot (`channel::gate`).
type Slot<T> = UnsafeCell<Option<T>>;

/// The slot of a waiter of this channel.
///
/// # Safety
/// `slot` was returned by `Section::hand_over` in the section that calls this, and the reference is not kept
/// beyond it.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn slot_of<'a, T>(slot: NonNull<()>) -> &'a Slot<T> {
    // SAFETY: the waiters of a bounded channel have slots of this type (`send_until`, `recv_until`), which
    // are valid while the waiter has not been woken.
    unsafe { slot.cast().as_ref() }
}

/// One try to send the content of `value`, which stays there if it was not sent.
#[cfg_attr(not(debug_assertions), inline(always))]
fn send<T>(section: &mut Section<'_, Buffer<T>>, value: &mut Option<T>) -> Option<Result<(), SendError<T>>> {
    if section.state.is_closed {
        return value.take().map(|value| Err(SendError(value)));
    }
    if section.state.values.len() + section.reserved(SENDERS) >= section.state.capacity {
        return None;
    }
    let value = value.take()?;
    section.state.values.push_back(value);
    if section.is_waited(RECEIVERS) {
        serve_receiver(section);
    }
    Some(Ok(()))
}

/// A value has come, and a receiver waits.
#[cfg_attr(not(debug_assertions), inline(always))]
fn serve_receiver<T>(section: &mut Section<'_, Buffer<T>>) {
    // The place that a receiver empties is for a sender that waits, which would be a second wake: only the receiver is
    // woken then, and receives itself. (`serve_sender` does the same.)
    if !section.is_waited(SENDERS)
        && let Some(slot) = section.hand_over(RECEIVERS)
    {
        let oldest = section.state.values.pop_front();
        // SAFETY: returned just now; the section has the slot until it ends.
        unsafe { slot_of(slot).with_mut(|slot| *slot = oldest) };
    } else {
        section.offer(RECEIVERS, section.state.values.len());
    }
}

/// One try to receive.
#[cfg_attr(not(debug_assertions), inline(always))]
fn recv<T>(section: &mut Section<'_, Buffer<T>>) -> Option<Result<T, RecvError>> {
    let is_over = section.state.is_closed;
    // When no more values come, no receiver waits for a value that is granted to another.
    if section.state.values.len() <= section.reserved(RECEIVERS) && !is_over {
        return None;
    }
    let Some(value) = section.state.values.pop_front() else { return Some(Err(RecvError)) };
    // Those that still wait when the channel is closed are about to be woken, and have not sent.
    if section.is_waited(SENDERS) && !is_over {
        serve_sender(section);
    }
    Some(Ok(value))
}

/// A value has gone, and a sender waits.
#[cfg_attr(not(debug_assertions), inline(always))]
fn serve_sender<T>(section: &mut Section<'_, Buffer<T>>) {
    let free = section.state.capacity - section.state.values.len();
    // A receiver that waits would have to get what the sender sends, which would be a second wake: only the
    // sender is woken then, and sends itself.
    if free > section.reserved(SENDERS)
        && !section.is_waited(RECEIVERS)
        && let Some(slot) = section.hand_over(SENDERS)
    {
        // SAFETY: returned just now; the section has the slot until it ends.
        if let Some(theirs) = unsafe { slot_of::<T>(slot).with_mut(|slot| (*slot).take()) } {
            section.state.values.push_back(theirs);
        }
    } else {
        section.offer(SENDERS, free);
    }
}

/// [`send`] as an operation with a name.
struct SendOp<T>(Option<T>);

impl<T> Op<Buffer<T>> for SendOp<T> {
    type Output = Result<(), SendError<T>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, Buffer<T>>) -> Option<Self::Output> {
        send(section, &mut self.0)
    }
}

/// [`recv`] as an operation with a name.
struct RecvOp;

impl<T> Op<Buffer<T>> for RecvOp {
    type Output = Result<T, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, Buffer<T>>) -> Option<Self::Output> {
        recv(section)
    }
}

named_future! {
    /// The future of [`Sender::send_async`].
    SendFuture<'a, T>(Buffer<T>, SendOp<T>) -> Result<(), SendError<T>>
}

named_future! {
    /// The future of [`Receiver::recv_async`].
    RecvFuture<'a, T>(Buffer<T>, RecvOp) -> Result<T, RecvError>
}

#[cfg(not(loom))]
impl<'a, T> Try for &'a Receiver<T> {
    type Output = Result<T, RecvError>;
    type Future = RecvFuture<'a, T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self) -> Option<Self::Output> {
        self.0.with(recv)
    }

    fn future(self) -> RecvFuture<'a, T> {
        self.recv_async()
    }
}

impl<T> Sender<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn send_until(&self, value: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        let slot = Slot::new(Some(value));
        // SAFETY: the slot is the caller's outside of the wait, and in its own sections.
        let op = |section: &mut Section<'_, _>| slot.with_mut(|value| send(section, unsafe { &mut *value }));
        // SAFETY: called when the node is in no queue; only the value's absence is read.
        let done = || slot.with(|value| unsafe { &*value }.is_none()).then_some(Ok(()));
        // SAFETY: the slot outlives the call, and is one of this channel.
        let result = unsafe { self.0.wait_with_slot(SEND, deadline, (&raw const slot).cast(), op, done) };
        // SAFETY: the slot is the caller's again.
        let value = slot.with_mut(|value| unsafe { &mut *value }.take());
        or_cancelled(match (result, value) {
            (Ok(Ok(())), _) => Ok(()),
            (Ok(Err(SendError(value))), _) | (Err(Interrupted::Unwinding), Some(value)) => {
                Err(SendTimeoutError::Disconnected(value))
            }
            (Err(Interrupted::TimedOut), Some(value)) => Err(SendTimeoutError::Timeout(value)),
            (Err(_), None) => crate::bug::bug!("a value was sent by a send that failed"),
        })
    }

    /// Puts `value` into the buffer. Waits while the buffer is full.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left.
    ///
    /// # Cancellation
    /// The commit point is the moment when the value is in the buffer; then the call returns. A host that is
    /// cancelled before that unwinds from here, and the value is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if
    /// the buffer is full, the value comes back as if no receiver were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.send_until(value, None).map_err(|error| SendError(error.into_inner()))
    }

    /// [`send`](Self::send) for async code.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the value has not been sent, and is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send_async(&self, value: T) -> SendFuture<'_, T> {
        SendFuture(self.0.future(SEND, SendOp(Some(value))))
    }

    /// [`send`](Self::send) as an event. If another is chosen, `value` is dropped with it.
    #[cfg(not(loom))]
    pub fn send_evt(&self, value: T) -> FutureEvt<SendFuture<'_, T>> {
        future_evt(self.send_async(value))
    }

    /// Puts `value` into the buffer if it is not full.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut value = Some(value);
        let sent = match (self.0.with(|section| send(section, &mut value)), value) {
            (None, Some(value)) => Err(TrySendError::Full(value)),
            (Some(Err(SendError(value))), _) => Err(TrySendError::Disconnected(value)),
            _ => Ok(()),
        };
        coop::tried(sent, Result::is_err)
    }

    /// [`send`](Self::send), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and the value is dropped; a value that is in the buffer stays
    /// there.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, time::deadline(timeout))
    }

    /// How many values are buffered now.
    pub fn len(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.values.len())
    }

    /// True if no value is buffered now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values it can buffer.
    pub fn capacity(&self) -> usize {
        self.0.with(|section| section.state.capacity)
    }
}

impl<T> Receiver<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let slot = Slot::<T>::new(None);
        // SAFETY: called when the node is in no queue, so the slot is the caller's.
        let done = || slot.with_mut(|value| unsafe { &mut *value }.take()).map(Ok);
        // SAFETY: the slot outlives the call, and is one of this channel.
        let result = unsafe { self.0.wait_with_slot(RECV, deadline, (&raw const slot).cast(), recv, done) };
        or_cancelled(match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
            Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
        })
    }

    /// Takes the oldest value. Waits while the buffer is empty.
    ///
    /// # Errors
    /// [`RecvError`] if nothing is buffered and no sender is left.
    ///
    /// # Cancellation
    /// The commit point is the moment when the value leaves the buffer; then the call returns. A host that is
    /// cancelled before that unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if
    /// nothing is buffered, the call fails as if no sender were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// [`RecvError`] if nothing is buffered and no sender is left.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing; if a value was reserved for it,
    /// that goes to the next receiver.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture(self.0.future(RECV, RecvOp))
    }

    /// [`recv`](Self::recv) as an event.
    #[cfg(not(loom))]
    pub fn recv_evt(&self) -> TriedEvt<&Self> {
        tried_evt(self)
    }

    /// Takes the oldest value if there is one that is not reserved for a receiver that waits already.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = match self.0.with(recv) {
            Some(result) => result.map_err(|RecvError| TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        };
        coop::tried(received, Result::is_err)
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// The values that come, until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The values that are there now.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + use<'_, T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// How many values are buffered now.
    pub fn len(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.values.len())
    }

    /// True if no value is buffered now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values it can buffer.
    pub fn capacity(&self) -> usize {
        self.0.with(|section| section.state.capacity)
    }
}

super::gate::sender!("bounded::Sender", wakes RECEIVERS);
super::gate::weak!(Buffer<T>, "bounded::WeakSender", "bounded(2)");
super::gate::closes!(Sender, 0, "bounded(2)", wakes SENDERS, RECEIVERS);
super::gate::closes!(Receiver, 0, "bounded(2)", wakes SENDERS, RECEIVERS);

iterates!(&, Receiver<T>, T, |rx: &Receiver<T>| rx.recv().ok());

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.with(|section| section.add_receiver());
        Self(self.0.clone())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let unread = self.0.with(|section| {
            if !section.remove_receiver() {
                return VecDeque::new();
            }
            section.state.is_closed = true;
            section.wake_all(SENDERS);
            std::mem::take(&mut section.state.values)
        });
        // Last: its destructors are the program's.
        drop(unread);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bounded::Receiver")
    }
}
