//! The multicast channel of Concurrent ML: a stream that any number of receivers read, each at its own pace.
//!
//! # Examples
//! A journal of changes. One subscriber keeps a copy of the state, one counts; both get every change, and one
//! that subscribes late takes its copy from another by cloning its receiver.
//! ```
//! use lamprey::multicast;
//! use std::collections::BTreeMap;
//!
//! #[derive(Clone)]
//! enum Change {
//!     Set(&'static str, u32),
//!     Remove(&'static str),
//! }
//!
//! /// The state after all changes.
//! fn replay(changes: multicast::Receiver<Change>) -> BTreeMap<&'static str, u32> {
//!     let mut state = BTreeMap::new();
//!     for change in changes {
//!         match change {
//!             Change::Set(key, value) => drop(state.insert(key, value)),
//!             Change::Remove(key) => drop(state.remove(key)),
//!         }
//!     }
//!     state
//! }
//!
//! lamprey::run(|| {
//!     let (journal, changes) = multicast();
//!     let counted = journal.subscribe();
//!     let counter = lamprey::spawn(move || counted.into_iter().count());
//!     journal.send(Change::Set("a", 1)).unwrap();
//!     journal.send(Change::Set("b", 2)).unwrap();
//!     let copy = changes.clone(); // reads from the same change on
//!     let replicas = [changes, copy].map(|changes| lamprey::spawn(move || replay(changes)));
//!     journal.send(Change::Remove("a")).unwrap();
//!     journal.send(Change::Set("b", 3)).unwrap();
//!     drop(journal);
//!     for replica in replicas {
//!         assert_eq!(replica.join().unwrap(), BTreeMap::from([("b", 3)]));
//!     }
//!     assert_eq!(counter.join().unwrap(), 4);
//! });
//! ```
//!
//! # How it is done
//! The stream is a linked list: each link holds a message and the next link, and is written once. A receiver
//! points at a link, which keeps all messages that it has not read alive; a message is freed when the last
//! receiver has read it.

// # Invariants
// `last` is the only empty link; all before it are full. A message is in its link before the receivers are
// woken.

use super::err::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::gate::{Gate, GateFuture, Interrupted, Op, Section, WaitSpec, opaque, or_cancelled};
use super::iter::iterates;
use super::sends::{NowEvt, now_evt};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

const RECEIVERS: usize = 0;
const RECV: WaitSpec = WaitSpec::new(RECEIVERS, Wait::Recv);

/// A channel whose every receiver gets every message that is sent after the receiver was created. No message
/// is lost and sends never wait: the queue is unbounded, and keeps all messages that the slowest receiver has
/// not read. ([`broadcast`](crate::broadcast()) is bounded.)
///
/// When the last sender is gone, receivers get the remaining messages and then [`RecvError`]. A send without
/// any receiver fails.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, mut a) = lamprey::multicast();
/// let mut b = tx.subscribe();
/// tx.send("all").unwrap();
/// let mut late = tx.subscribe();
/// drop(tx);
/// assert_eq!((a.recv(), b.recv()), (Ok("all"), Ok("all")));
/// assert!(late.recv().is_err());
/// # });
/// ```
#[doc(alias = "broadcast")]
#[doc(alias = "pubsub")]
#[doc(alias = "fanout")]
#[track_caller]
pub fn multicast<T>() -> (Sender<T>, Receiver<T>) {
    let last = Link::new();
    let gate = Arc::new(Gate::of_channel(Stream { last: last.clone(), is_closed: false }));
    (Sender(gate.clone()), Receiver { gate, at: last })
}

struct Stream<T> {
    last: Arc<Link<T>>,
    /// No message comes any more: no sender is left, or an end has closed the channel.
    is_closed: bool,
}

/// A message and the next link, once they are written.
struct Link<T>(OnceLock<(T, Arc<Link<T>>)>);

/// The sending end of a [`multicast()`] channel, which also creates receivers.
pub struct Sender<T>(Arc<Gate<Stream<T>>>);

/// The event of [`Sender::send_evt`].
pub type SendEvt<'a, T> = NowEvt<&'a Sender<T>, T, Result<(), SendError<T>>>;

/// The receiving end of a [`multicast()`] channel, with its own position in the stream. A clone starts at the
/// same position.
///
/// Concurrent ML calls it a port.
#[doc(alias = "port")]
pub struct Receiver<T> {
    gate: Arc<Gate<Stream<T>>>,
    at: Arc<Link<T>>,
}

impl<T> Link<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self(OnceLock::new()))
    }
}

/// Frees an unread list link by link, because a recursion would be as deep as the list is long.
impl<T> Drop for Link<T> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some((_, link)) = next.take() {
            next = Arc::into_inner(link).and_then(|mut link| link.0.take());
        }
    }
}

impl<T> Sender<T> {
    /// Sends `message` to all current receivers.
    ///
    /// # Errors
    /// [`SendError`] with the message if there is no receiver; there may be one
    /// later ([`subscribe`](Self::subscribe)). Also if the channel is closed.
    ///
    /// # Blocking
    /// Never.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut content = Some((message, Link::new()));
        let old = self.0.with(|section| {
            if section.receivers() == 0 || section.state.is_closed {
                return None;
            }
            let (message, next) = content.take()?;
            let old = std::mem::replace(&mut section.state.last, next.clone());
            // Cannot fail: only the last link is written, and only here.
            let _ = old.0.set((message, next));
            section.wake_all(RECEIVERS);
            Some(old)
        });
        // Dropped outside of the lock: if the last receiver has gone in the meantime, this drops the message.
        drop(old);
        coop::tried(content.map_or(Ok(()), |(message, _)| Err(SendError(message))), Result::is_err)
    }

    /// [`send`](Self::send) as an event, which is always ready: `message` is sent if the event is chosen, and dropped with it
    /// otherwise.
    pub fn send_evt(&self, message: T) -> SendEvt<'_, T> {
        now_evt(self, message, |(tx, message)| tx.send(message))
    }

    /// Creates a receiver of all messages that are sent from now on.
    #[doc(alias = "port")]
    pub fn subscribe(&self) -> Receiver<T> {
        let at = self.0.with(|section| {
            section.add_receiver();
            section.state.last.clone()
        });
        Receiver { gate: self.0.clone(), at }
    }
}

/// Whether the receiver's link is full; `None` if it is empty and there are senders.
fn read<T>(section: &mut Section<'_, Stream<T>>, at: &Link<T>) -> Option<Result<(), RecvError>> {
    if at.0.get().is_some() {
        return Some(Ok(()));
    }
    section.state.is_closed.then_some(Err(RecvError))
}

/// The next message, if there is one. Takes no lock.
fn next<T: Clone>(at: &mut Arc<Link<T>>) -> Option<T> {
    let (message, next) = at.0.get()?;
    let (message, next) = (message.clone(), next.clone());
    *at = next;
    Some(message)
}

/// [`read`] as a named operation.
struct ReadOp<'a, T>(&'a mut Arc<Link<T>>);

impl<T> Op<Stream<T>> for ReadOp<'_, T> {
    type Output = Result<(), RecvError>;

    fn attempt(&mut self, section: &mut Section<'_, Stream<T>>) -> Option<Self::Output> {
        read(section, self.0)
    }
}

/// The future of [`Receiver::recv_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T>(GateFuture<'a, Stream<T>, ReadOp<'a, T>>);

impl<T: Clone> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned with the whole: nothing moves it out, and there is no `Drop`.
        let mut read = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        if let Some(message) = read.as_mut().try_first(|read| next(read.0)) {
            return Poll::Ready(Ok(message));
        }
        ready!(read.as_mut().poll(cx))?;
        match next(read.op().0) {
            Some(message) => Poll::Ready(Ok(message)),
            None => crate::bug::bug!("a message of a multicast was there and is not"),
        }
    }
}

opaque!(RecvFuture<'a, T>);

impl<T> Receiver<T> {
    /// How many messages are there that this receiver has not read: it counts them.
    pub(super) fn count_unread(&self) -> usize {
        std::iter::successors(Some(&*self.at), |link| link.0.get().map(|(_, next)| &**next)).count() - 1
    }
}

impl<T: Clone> Receiver<T> {
    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        loop {
            if let Some(message) = next(&mut self.at) {
                return Ok(message);
            }
            or_cancelled(match self.gate.wait(RECV, deadline, |section| read(section, &self.at)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
                Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
            })?;
        }
    }

    /// Takes the next message, waiting for one if necessary.
    ///
    /// # Errors
    /// [`RecvError`] if all messages have been read and no sender is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; it has missed no message.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if no
    /// message is available, the call fails as if no sender were left.
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the next call gets the message.
    ///
    /// # Blocking
    /// Never; the future is pending until then. It may be polled by any executor, on any thread.
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        let Self { gate, at } = self;
        RecvFuture(gate.future(RECV, ReadOp(at)))
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&mut self) -> FutureEvt<RecvFuture<'_, T>> {
        future_evt(self.recv_async())
    }

    /// Takes the next message if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = match self.gate.with(|section| read(section, &self.at)) {
            Some(Ok(())) => next(&mut self.at).ok_or(TryRecvError::Empty),
            Some(Err(RecvError)) => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        };
        coop::tried(received, Result::is_err)
    }

    /// Like [`recv`](Self::recv), but waits at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// As for `recv`.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// An iterator over the messages, until no sender is left.
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter(self)
    }
}

super::gate::sender!("multicast::Sender", wakes RECEIVERS);
super::gate::closes!(Sender, 0, "multicast()", wakes RECEIVERS);
super::gate::closes!(Receiver, gate, "multicast()", wakes RECEIVERS);

iterates!(&mut, Receiver<T> where T: Clone, T, |rx: &mut Receiver<T>| rx.recv().ok());

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.gate.with(|section| section.add_receiver());
        Self { gate: self.gate.clone(), at: self.at.clone() }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.gate.with(|section| section.remove_receiver());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("multicast::Receiver")
    }
}
