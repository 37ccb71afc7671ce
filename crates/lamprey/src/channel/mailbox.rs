//! The mailbox: a queue without a bound, from many senders to one receiver.
//!
//! # Examples
//! An actor: one thread that owns some state, and handles that send it messages. A send never waits, so an
//! actor may send to itself, and destructors may send.
//! ```
//! use lamprey::{mailbox, oneshot};
//! use std::collections::HashMap;
//!
//! enum Message {
//!     Deposit { account: u32, amount: i64 },
//!     Transfer { from: u32, to: u32, amount: i64, done: oneshot::Sender<Result<(), &'static str>> },
//!     Balance { account: u32, reply: oneshot::Sender<i64> },
//! }
//!
//! /// The actor. It ends when the last handle is gone.
//! fn bank(mut messages: mailbox::Receiver<Message>) -> i64 {
//!     let mut accounts: HashMap<u32, i64> = HashMap::new();
//!     for message in messages.iter() {
//!         match message {
//!             Message::Deposit { account, amount } => *accounts.entry(account).or_default() += amount,
//!             Message::Transfer { from, to, amount, done } => {
//!                 let is_covered = accounts.get(&from).is_some_and(|&has| has >= amount);
//!                 if is_covered {
//!                     *accounts.entry(from).or_default() -= amount;
//!                     *accounts.entry(to).or_default() += amount;
//!                 }
//!                 let _ = done.send(is_covered.then_some(()).ok_or("not covered")); // if still wanted
//!             }
//!             Message::Balance { account, reply } => {
//!                 let _ = reply.send(accounts.get(&account).copied().unwrap_or(0));
//!             }
//!         }
//!     }
//!     accounts.values().sum()
//! }
//!
//! lamprey::run(|| {
//!     let (tx, rx) = mailbox();
//!     let actor = lamprey::spawn(move || bank(rx));
//!     tx.send(Message::Deposit { account: 1, amount: 10 }).unwrap();
//!     let transfer = |amount| {
//!         let (done, result) = oneshot();
//!         tx.send(Message::Transfer { from: 1, to: 2, amount, done }).unwrap();
//!         result.recv().unwrap()
//!     };
//!     assert_eq!([transfer(7), transfer(7)], [Ok(()), Err("not covered")]);
//!     let (reply, balance) = oneshot();
//!     tx.send(Message::Balance { account: 2, reply }).unwrap();
//!     assert_eq!(balance.recv(), Ok(7));
//!     drop(tx);
//!     assert_eq!(actor.join().unwrap(), 10);
//! });
//! ```
//!
//! # How it is done
//! Values lie in chunks. Senders fill a list of chunks under the lock; the receiver takes the list out as a
//! whole and reads it without the lock. Chunks are allocated outside of the lock too.

// # Invariants
// The values of the receiver's own list are older than all in the state. Of the chunks in the state only the
// last may have room, and only a single one may be empty.

use super::chunks::{self, Chunks, chunk};
use super::err::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::gate::{Gate, GateFuture, Interrupted, Op, Section, WaitSpec, opaque, or_cancelled};
use super::iter::iterates;
use super::sends::{NowEvt, now_evt};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::collections::{LinkedList, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

const RECEIVER: usize = 0;
const RECV: WaitSpec = WaitSpec::new(RECEIVER, Wait::Recv);

/// A channel without a bound: `send` never waits. There is one receiver, which takes whole batches at once.
///
/// Without a bound nothing holds a sender back that is faster than the receiver: the memory of what waits is
/// the limit. Where that matters, use [`bounded`](crate::bounded()). When the last sender is gone, the
/// receiver gets what waits and then [`RecvError`]; when the receiver is gone, sends fail.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, mut rx) = lamprey::mailbox();
///     (1..=9).for_each(|n| tx.send(n).unwrap());
///     drop(tx);
///     assert_eq!(rx.iter().sum::<i32>(), 45);
/// });
/// ```
#[doc(alias = "unbounded")]
#[doc(alias = "unbounded_channel")]
#[doc(alias = "mpsc")]
#[track_caller]
pub fn mailbox<T>() -> (Sender<T>, Receiver<T>) {
    let post = Post { chunks: LinkedList::new(), count: 0, is_closed: false };
    let gate = Arc::new(Gate::of_channel(post));
    (Sender(gate.clone()), Receiver { gate, batch: LinkedList::new() })
}

struct Post<T> {
    chunks: Chunks<T>,
    count: usize,
    /// No value comes any more: a side is gone, or has closed the mailbox.
    is_closed: bool,
}

/// The sending end of a [`mailbox()`].
pub struct Sender<T>(Arc<Gate<Post<T>>>);

/// The receiving end of a [`mailbox()`]: the only one.
pub struct Receiver<T> {
    gate: Arc<Gate<Post<T>>>,
    /// What has been taken out of the state.
    batch: Chunks<T>,
}

/// The event of [`Sender::send_evt`].
pub type SendEvt<'a, T> = NowEvt<&'a Sender<T>, T, Result<(), SendError<T>>>;

/// What a try to send has found.
enum Sent {
    Done,
    Closed,
    /// There is no room; the last chunk had this much.
    NoRoom(usize),
}

impl<T> Post<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, value: &mut Option<T>) -> Sent {
        if self.is_closed {
            return Sent::Closed;
        }
        match chunks::push(&mut self.chunks, value) {
            Ok(()) => {
                self.count += 1;
                Sent::Done
            }
            Err(before) => Sent::NoRoom(before),
        }
    }
}

impl<T> Sender<T> {
    /// Leaves `value` for the receiver.
    ///
    /// # Errors
    /// [`SendError`] with the value if the receiver is gone.
    ///
    /// # Blocking
    /// Never.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(value);
        let mut fresh = LinkedList::new();
        loop {
            let sent = self.0.with(|section| {
                let mut sent = section.state.push(&mut value);
                if matches!(sent, Sent::NoRoom(_)) && !fresh.is_empty() {
                    section.state.chunks.append(&mut fresh);
                    sent = section.state.push(&mut value);
                }
                section.offer(RECEIVER, section.state.count);
                sent
            });
            match (sent, value) {
                (Sent::NoRoom(before), still) => {
                    value = still;
                    fresh = chunk(before);
                }
                (_, None) => return Ok(()),
                (_, Some(value)) => {
                    coop::look();
                    return Err(SendError(value));
                }
            }
        }
    }

    /// [`send`](Self::send) as an event, which is always ready: `value` is sent if the event is chosen, and dropped with it
    /// otherwise.
    pub fn send_evt(&self, value: T) -> SendEvt<'_, T> {
        now_evt(self, value, |(tx, value)| tx.send(value))
    }

    /// How many values wait that the receiver has not taken out yet.
    pub fn len(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.count)
    }

    /// True if no values wait that the receiver has not taken out yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The oldest value of a batch. Its last chunk stays, to be filled again.
#[cfg_attr(not(debug_assertions), inline(always))]
fn pop<T>(batch: &mut Chunks<T>) -> Option<T> {
    loop {
        if let Some(value) = batch.front_mut()?.pop_front() {
            return Some(value);
        }
        if batch.len() == 1 {
            return None;
        }
        batch.pop_front();
    }
}

/// One try to fill the batch, which is empty. All values that wait are one unit.
#[cfg_attr(not(debug_assertions), inline(always))]
fn fill<T>(section: &mut Section<'_, Post<T>>, batch: &mut Chunks<T>) -> Option<Result<(), RecvError>> {
    if section.state.count == 0 {
        return section.state.is_closed.then_some(Err(RecvError));
    }
    section.state.count = 0;
    std::mem::swap(batch, &mut section.state.chunks);
    Some(Ok(()))
}

/// [`fill`] as an operation with a name.
struct FillOp<'a, T>(&'a mut Chunks<T>);

impl<T> Op<Post<T>> for FillOp<'_, T> {
    type Output = Result<(), RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, Post<T>>) -> Option<Self::Output> {
        fill(section, self.0)
    }
}

/// The future of [`Receiver::recv_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T>(GateFuture<'a, Post<T>, FillOp<'a, T>>);

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned with the whole: nothing moves it out, and there is no `Drop`.
        let mut filled = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        if let Some(value) = filled.as_mut().try_first(|fill| pop(fill.0)) {
            return Poll::Ready(Ok(value));
        }
        ready!(filled.as_mut().poll(cx))?;
        match pop(filled.op().0) {
            Some(value) => Poll::Ready(Ok(value)),
            None => crate::bug::bug!("a batch of a mailbox was filled and is empty"),
        }
    }
}

opaque!(RecvFuture<'a, T>);

impl<T> Receiver<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recv_until(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        coop::call(coop::MESSAGE);
        loop {
            if let Some(value) = pop(&mut self.batch) {
                return Ok(value);
            }
            let batch = &mut self.batch;
            or_cancelled(match self.gate.wait(RECV, deadline, |section| fill(section, batch)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
                Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
            })?;
        }
    }

    /// Takes the oldest value. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`] if nothing waits and no sender is left.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if
    /// nothing is there, the call fails as if no sender were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// [`RecvError`] if nothing waits and no sender is left.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        let Self { gate, batch } = self;
        RecvFuture(gate.future(RECV, FillOp(batch)))
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&mut self) -> FutureEvt<RecvFuture<'_, T>> {
        future_evt(self.recv_async())
    }

    /// Takes the oldest value if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(value) = pop(&mut self.batch) {
            return Ok(value);
        }
        let batch = &mut self.batch;
        let received = match self.gate.with(|section| fill(section, batch)) {
            Some(Ok(())) => pop(&mut self.batch).ok_or(TryRecvError::Empty),
            Some(Err(RecvError)) => Err(TryRecvError::Disconnected),
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
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(time::deadline(timeout))
    }

    /// The values that come, until no sender is left.
    pub fn iter(&mut self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The values that are there now.
    pub fn try_iter(&mut self) -> impl Iterator<Item = T> + use<'_, T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// How many values wait.
    pub fn len(&self) -> usize {
        coop::look();
        let taken_out: usize = self.batch.iter().map(VecDeque::len).sum();
        taken_out + self.gate.with(|section| section.state.count)
    }

    /// True if no values wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

super::gate::sender!("mailbox::Sender", wakes RECEIVER);
super::gate::weak!(Post<T>, "mailbox::WeakSender", "mailbox()");
super::gate::closes!(Sender, 0, "mailbox()", wakes RECEIVER);
super::gate::closes!(Receiver, gate, "mailbox()", wakes RECEIVER);

iterates!(&mut, Receiver<T>, T, |rx: &mut Receiver<T>| rx.recv().ok());

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let unread = self.gate.with(|section| {
            section.remove_receiver();
            section.state.is_closed = true;
            section.state.count = 0;
            std::mem::take(&mut section.state.chunks)
        });
        // In the order in which they were sent, and outside of the lock: destructors are the program's.
        drop(std::mem::take(&mut self.batch));
        drop(unread);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mailbox::Receiver")
    }
}
