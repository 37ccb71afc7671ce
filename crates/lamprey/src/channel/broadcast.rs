//! The broadcast channel: each receiver gets the values in order, out of a ring of the last n.
//!
//! # Examples
//! A ticker. The archive keeps up and gets every price; a display that was away learns how many it has missed
//! and goes on with the oldest that is left.
//! ```
//! use lamprey::broadcast::{self, RecvError};
//!
//! #[derive(Clone, Debug, PartialEq)]
//! struct Price {
//!     of: &'static str,
//!     cents: u32,
//! }
//!
//! /// All prices until the ticker ends; how many were missed.
//! fn read(mut prices: broadcast::Receiver<Price>) -> (Vec<u32>, u64) {
//!     let (mut cents, mut missed) = (Vec::new(), 0);
//!     loop {
//!         match prices.recv() {
//!             Ok(price) => cents.push(price.cents),
//!             Err(RecvError::Lagged(count)) => missed += count,
//!             Err(RecvError::Disconnected) => return (cents, missed),
//!         }
//!     }
//! }
//!
//! lamprey::run(|| {
//!     let (ticker, display) = lamprey::broadcast(3);
//!     let mut archive = ticker.subscribe();
//!     let mut archived = Vec::new();
//!     for cents in 100..110 {
//!         let receivers = ticker.send(Price { of: "tea", cents }).unwrap(); // never waits
//!         assert_eq!(receivers, 2);
//!         archived.push(archive.recv().unwrap().cents);
//!     }
//!     drop(ticker);
//!     assert_eq!(archived, (100..110).collect::<Vec<_>>());
//!     let (shown, missed) = lamprey::spawn(move || read(display)).join().unwrap();
//!     assert_eq!((shown, missed), (vec![107, 108, 109], 7));
//! });
//! ```

// # Invariants
// The value number `first + i` is in slot `i` of the ring. A receiver's `next` is at most one past the last.
// The ring holds `Arc`s: a value is cloned, if at all, outside of the lock.

use super::err::SendError;
use super::gate::{Gate, Interrupted, Op, Section, WaitSpec, named_future, or_cancelled};
use super::iter::iterates;
use super::sends::{NowEvt, now_evt};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RECEIVERS: usize = 0;
const RECV: WaitSpec = WaitSpec::new(RECEIVERS, Wait::Recv);

/// A channel whose every receiver gets every value that is sent while it is there; the last `capacity` values
/// are kept.
///
/// Sends never wait. A receiver that falls more than `capacity` values behind gets the number of those that
/// it has missed ([`RecvError::Lagged`]) and goes on with the oldest that is left. The last receiver of a
/// value gets it without a clone if it has left the ring by then.
///
/// # Examples
/// ```
/// use lamprey::broadcast::RecvError;
/// # lamprey::run(|| {
/// let (tx, mut rx) = lamprey::broadcast(2);
/// let mut other = tx.subscribe();
/// (1..=3).for_each(|n| assert_eq!(tx.send(n), Ok(2)));
/// drop(tx);
/// assert_eq!(rx.recv(), Err(RecvError::Lagged(1)));
/// assert_eq!((rx.recv(), rx.recv()), (Ok(2), Ok(3)));
/// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
/// assert_eq!(other.try_recv().unwrap_err().to_string(), "1 values were missed");
/// # });
/// ```
///
/// # Panics
/// If `capacity` is 0, or there is no memory for so many slots.
#[doc(alias = "pubsub")]
#[doc(alias = "fanout")]
#[track_caller]
pub fn broadcast<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "broadcast(0): a ring needs a slot for at least one value");
    let mut ring = VecDeque::new();
    if let Err(error) = ring.try_reserve_exact(capacity) {
        panic!("broadcast({capacity}): no memory for so many slots: {error}");
    }
    let gate = Arc::new(Gate::of_channel(Ring { ring, first: 0, capacity, is_closed: false }));
    (Sender(gate.clone()), Receiver { gate, next: 0 })
}

struct Ring<T> {
    ring: VecDeque<Arc<T>>,
    /// The number of the oldest value, counted from the first that was sent.
    first: u64,
    capacity: usize,
    /// No value comes any more: no sender is left, or an end has closed the channel.
    is_closed: bool,
}

/// The sending end of a [`broadcast()`] channel.
pub struct Sender<T>(Arc<Gate<Ring<T>>>);

/// The event of [`Sender::send_evt`].
pub type SendEvt<'a, T> = NowEvt<&'a Sender<T>, T, Result<usize, SendError<T>>>;

/// The receiving end of a [`broadcast()`] channel, with a place of its own in the stream. A clone begins at
/// the same place.
pub struct Receiver<T> {
    gate: Arc<Gate<Ring<T>>>,
    next: u64,
}

/// `recv` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// So many values were sent and overwritten before this receiver came to them. The next call gets the
    /// oldest that is left.
    Lagged(u64),
    /// All has been received and no sender is left (or the caller is unwinding and must not block).
    Disconnected,
}

/// `try_recv` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// Nothing new was sent.
    Empty,
    /// So many values were sent and overwritten before this receiver came to them.
    Lagged(u64),
    /// All has been received and no sender is left.
    Disconnected,
}

/// `recv_timeout` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// Nothing was sent in time.
    Timeout,
    /// So many values were sent and overwritten before this receiver came to them.
    Lagged(u64),
    /// All has been received and no sender is left.
    Disconnected,
}

impl<T> Ring<T> {
    fn end(&self) -> u64 {
        self.first + self.ring.len() as u64
    }
}

/// One try to receive; `next` moves on past what it gives.
#[cfg_attr(not(debug_assertions), inline(always))]
fn recv<T>(section: &mut Section<'_, Ring<T>>, next: &mut u64) -> Option<Result<Arc<T>, RecvError>> {
    let ring = &*section.state;
    if *next < ring.first {
        let missed = ring.first - *next;
        *next = ring.first;
        return Some(Err(RecvError::Lagged(missed)));
    }
    // In a ring: less than its length.
    match ring.ring.get((*next - ring.first) as usize) {
        Some(value) => {
            *next += 1;
            Some(Ok(value.clone()))
        }
        None => ring.is_closed.then_some(Err(RecvError::Disconnected)),
    }
}

/// [`recv`] as an operation with a name.
struct RecvOp<'a>(&'a mut u64);

impl<T> Op<Ring<T>> for RecvOp<'_> {
    type Output = Result<Arc<T>, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, Ring<T>>) -> Option<Self::Output> {
        recv(section, self.0)
    }
}

named_future! {
    /// The future of [`Receiver::recv_async`].
    RecvFuture<'a, T: Clone>(Ring<T>, RecvOp<'a>) -> Result<T, RecvError>, |got| got.map(Arc::unwrap_or_clone)
}

impl<T> Sender<T> {
    /// Gives `value` to all receivers that are there now; returns how many these are.
    ///
    /// # Errors
    /// [`SendError`] with the value if there is no receiver; there may be one later
    /// ([`subscribe`](Self::subscribe)). Also if the channel is closed.
    ///
    /// # Blocking
    /// Never. If the ring is full, the oldest value goes.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let value = Arc::new(value);
        let sent = self.0.with(|section| {
            let (receivers, ring) = (section.receivers(), &mut *section.state);
            if receivers == 0 || ring.is_closed {
                return Err(value);
            }
            let oldest = if ring.ring.len() == ring.capacity { ring.ring.pop_front() } else { None };
            ring.first += u64::from(oldest.is_some());
            ring.ring.push_back(value);
            section.wake_all(RECEIVERS);
            Ok((receivers as usize, oldest))
        });
        match coop::tried(sent, Result::is_err) {
            Ok((receivers, _oldest)) => Ok(receivers),
            Err(value) => match Arc::try_unwrap(value) {
                Ok(value) => Err(SendError(value)),
                Err(_) => crate::bug::bug!("a value that was not sent is shared"),
            },
        }
    }

    /// [`send`](Self::send) as an event, which is always ready: `value` is sent if the event is chosen, and dropped with it
    /// otherwise.
    pub fn send_evt(&self, value: T) -> SendEvt<'_, T> {
        now_evt(self, value, |(tx, value)| tx.send(value))
    }

    /// A new receiver, of what is sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.0)
    }

    /// How many receivers there are now.
    pub fn receiver_count(&self) -> usize {
        coop::look();
        self.0.with(|section| section.receivers() as usize)
    }

    /// How many values are kept.
    pub fn capacity(&self) -> usize {
        self.0.with(|section| section.state.capacity)
    }
}

fn subscribe<T>(gate: &Arc<Gate<Ring<T>>>) -> Receiver<T> {
    let next = gate.with(|section| {
        section.add_receiver();
        section.state.end()
    });
    Receiver { gate: gate.clone(), next }
}

impl<T> Receiver<T> {
    /// A new receiver, of what is sent from now on.
    pub fn subscribe(&self) -> Self {
        subscribe(&self.gate)
    }

    /// How many values are kept.
    pub fn capacity(&self) -> usize {
        self.gate.with(|section| section.state.capacity)
    }

    /// How many values have been sent that this receiver has not seen, those included that it has missed.
    pub fn len(&self) -> u64 {
        coop::look();
        self.gate.with(|section| section.state.end() - self.next)
    }

    /// True if it has seen all that was sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Clone> Receiver<T> {
    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let next = &mut self.next;
        let result = match self.gate.wait(RECV, deadline, |section| recv(section, next)) {
            Ok(result) => result.map_err(RecvTimeoutError::from),
            Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
            Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
        };
        match result {
            Ok(value) => Ok(Arc::unwrap_or_clone(value)),
            Err(error) => or_cancelled(Err(error)),
        }
    }

    /// Takes the next value. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has missed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if
    /// nothing is there, the call fails as if no sender were left.
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|error| match error {
            RecvTimeoutError::Lagged(missed) => RecvError::Lagged(missed),
            RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected => RecvError::Disconnected,
        })
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// [`RecvError`].
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the next call gets the value.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        let Self { gate, next } = self;
        RecvFuture(gate.future(RECV, RecvOp(next)))
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&mut self) -> FutureEvt<RecvFuture<'_, T>> {
        future_evt(self.recv_async())
    }

    /// Takes the next value if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let next = &mut self.next;
        let received = match self.gate.with(|section| recv(section, next)) {
            None => Err(TryRecvError::Empty),
            Some(Ok(value)) => Ok(Arc::unwrap_or_clone(value)),
            Some(Err(RecvError::Lagged(missed))) => Err(TryRecvError::Lagged(missed)),
            Some(Err(RecvError::Disconnected)) => Err(TryRecvError::Disconnected),
        };
        coop::tried(received, Result::is_err)
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has missed nothing.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// What comes, until no sender is left: values, and [`RecvError::Lagged`] where some have been missed.
    ///
    /// # Examples
    /// ```
    /// use lamprey::broadcast::RecvError;
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::broadcast(2);
    /// (1..=3).for_each(|n| drop(tx.send(n).unwrap()));
    /// drop(tx);
    /// assert!(rx.into_iter().eq([Err(RecvError::Lagged(1)), Ok(2), Ok(3)]));
    /// # });
    /// ```
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter(self)
    }
}

iterates!(&mut, Receiver<T> where T: Clone, Result<T, RecvError>, |rx: &mut Receiver<T>| match rx.recv() {
    Err(RecvError::Disconnected) => None,
    received => Some(received),
});

super::gate::sender!("broadcast::Sender", wakes RECEIVERS);
super::gate::closes!(Sender, 0, "broadcast(2)", wakes RECEIVERS);
super::gate::closes!(Receiver, gate, "broadcast(2)", wakes RECEIVERS);

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.gate.with(|section| section.add_receiver());
        Self { gate: self.gate.clone(), next: self.next }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let capacity = self.gate.with(|section| section.remove_receiver().then_some(section.state.capacity));
        if let Some(capacity) = capacity {
            // No receiver will see the values: a later one begins at the end. Allocated and dropped outside
            // of the lock.
            let mut other = VecDeque::with_capacity(capacity);
            self.gate.with(|section| {
                if section.receivers() == 0 {
                    section.state.first = section.state.end();
                    std::mem::swap(&mut section.state.ring, &mut other);
                }
            });
        }
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lagged(missed) => Self::Lagged(missed),
            RecvError::Disconnected => Self::Disconnected,
        }
    }
}

/// Writes an error: how many values were missed, or with `None` that no sender is left.
fn say(f: &mut fmt::Formatter<'_>, missed: Option<u64>) -> fmt::Result {
    match missed {
        Some(missed) => write!(f, "{missed} values were missed"),
        None => f.write_str("no sender is left"),
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lagged(missed) => say(f, Some(*missed)),
            Self::Disconnected => say(f, None),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing new was sent"),
            Self::Lagged(missed) => say(f, Some(*missed)),
            Self::Disconnected => say(f, None),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("nothing was sent in time"),
            Self::Lagged(missed) => say(f, Some(*missed)),
            Self::Disconnected => say(f, None),
        }
    }
}

impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Receiver")
    }
}
