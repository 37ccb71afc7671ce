//! The unbounded channel: a queue without a bound, from many senders to many receivers.
//!
//! # Examples
//! Workers that find more work while they do some: a crawl. They send into the channel that they receive from, so a send that
//! waited for a place could wait for ever. The one that does the last piece closes the channel.
//! ```
//! use lamprey::unbounded;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! /// The links of a page.
//! fn links(page: u32) -> impl Iterator<Item = u32> {
//!     (page * 2..page * 2 + 2).filter(|&link| link < 1000)
//! }
//!
//! lamprey::run(|| {
//!     let (pages, page) = unbounded();
//!     let (open, seen) = (AtomicU32::new(1), AtomicU32::new(0));
//!     pages.send(1).unwrap();
//!     lamprey::scope(|scope| {
//!         for _ in 0..4 {
//!             scope.spawn(|| {
//!                 for at in page.clone() {
//!                     seen.fetch_add(1, Ordering::Relaxed);
//!                     for link in links(at) {
//!                         open.fetch_add(1, Ordering::Relaxed);
//!                         pages.send(link).unwrap();
//!                     }
//!                     if open.fetch_sub(1, Ordering::AcqRel) == 1 {
//!                         pages.close();
//!                     }
//!                 }
//!             });
//!         }
//!     });
//!     assert_eq!(seen.into_inner(), 999);
//! });
//! ```

// # Invariants
// 1. A value that waits is free to be received, or granted to a receiver that has been woken for it (`channel::gate`).
// 2. Chunks are allocated and freed outside of the lock (`chunks`).

use super::chunks::{self, Chunks};
use super::err::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use super::gate::{Gate, Interrupted, Op, Section, WaitSpec, named_future, or_cancelled};
use super::iter::iterates;
use super::sends::{NowEvt, now_evt};
use crate::events::TriedEvt;
use crate::events::algebra::{Try, tried_evt};
use crate::sched::{Wait, coop};
use crate::time;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RECEIVERS: usize = 0;
const RECV: WaitSpec = WaitSpec::new(RECEIVERS, Wait::Recv);

/// A channel without a bound: `send` never waits, and each value goes to one of any number of receivers.
///
/// Without a bound nothing holds a sender back that is faster than the receivers: the memory of what waits is the limit. Where
/// that matters, use [`bounded`](crate::bounded()). With a single receiver [`mailbox`](crate::mailbox()) costs less. When the
/// last sender is gone, receivers get what waits and then [`RecvError`]; when the last receiver is gone, sends fail and what
/// waits is dropped.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::unbounded();
///     let other = rx.clone();
///     let host = lamprey::spawn(move || other.iter().sum::<i32>());
///     (1..=9).for_each(|n| tx.send(n).unwrap());
///     drop(tx);
///     assert_eq!(rx.iter().sum::<i32>() + host.join().unwrap(), 45);
/// });
/// ```
#[doc(alias = "unbounded_channel")]
#[doc(alias = "mpmc")]
#[doc(alias = "queue")]
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let pile = Pile { chunks: Chunks::new(), count: 0, is_closed: false };
    let gate = Arc::new(Gate::of_channel(pile));
    (Sender(gate.clone()), Receiver(gate))
}

struct Pile<T> {
    chunks: Chunks<T>,
    count: usize,
    /// No value comes any more: a side is gone, or has closed the channel.
    is_closed: bool,
}

/// The sending end of an [`unbounded()`] channel.
pub struct Sender<T>(Arc<Gate<Pile<T>>>);

/// The receiving end of an [`unbounded()`] channel.
pub struct Receiver<T>(Arc<Gate<Pile<T>>>);

/// The event of [`Sender::send_evt`].
pub type SendEvt<'a, T> = NowEvt<&'a Sender<T>, T, Result<(), SendError<T>>>;

impl<T> Sender<T> {
    /// Leaves `value` for a receiver.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left, or the channel is closed.
    ///
    /// # Blocking
    /// Never.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(value);
        let mut fresh = Chunks::new();
        loop {
            let sent = self.0.with(|section| {
                if section.state.is_closed {
                    return Ok(());
                }
                let mut pushed = chunks::push(&mut section.state.chunks, &mut value);
                if pushed.is_err() && !fresh.is_empty() {
                    section.state.chunks.append(&mut fresh);
                    pushed = chunks::push(&mut section.state.chunks, &mut value);
                }
                pushed?;
                section.state.count += 1;
                section.offer(RECEIVERS, section.state.count);
                Ok(())
            });
            match (sent, value) {
                (Err(before), still) => {
                    value = still;
                    fresh = chunks::chunk(before);
                }
                (Ok(()), None) => return Ok(()),
                (Ok(()), Some(value)) => {
                    coop::look();
                    return Err(SendError(value));
                }
            }
        }
    }

    /// [`send`](Self::send) as an event, which is always ready: the value is sent if the event is chosen, and dropped with it
    /// otherwise.
    pub fn send_evt(&self, value: T) -> SendEvt<'_, T> {
        now_evt(self, value, |(tx, value)| tx.send(value))
    }

    /// How many values wait.
    pub fn len(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.count)
    }

    /// True if no values wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One try to receive; see [`chunks::pop`] for `empty`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn recv<T>(section: &mut Section<'_, Pile<T>>, empty: &mut Chunks<T>) -> Option<Result<T, RecvError>> {
    let reserved = section.reserved(RECEIVERS);
    let pile = &mut *section.state;
    // When no more values come, no receiver waits for a value that is granted to another.
    if pile.count <= reserved && !pile.is_closed {
        return None;
    }
    let Some(value) = chunks::pop(&mut pile.chunks, empty) else { return Some(Err(RecvError)) };
    pile.count -= 1;
    Some(Ok(value))
}

/// [`recv`] as an operation with a name.
struct RecvOp<T>(Chunks<T>);

impl<T> Op<Pile<T>> for RecvOp<T> {
    type Output = Result<T, RecvError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, Pile<T>>) -> Option<Self::Output> {
        recv(section, &mut self.0)
    }
}

named_future! {
    /// The future of [`Receiver::recv_async`].
    RecvFuture<'a, T>(Pile<T>, RecvOp<T>) -> Result<T, RecvError>
}

impl<'a, T> Try for &'a Receiver<T> {
    type Output = Result<T, RecvError>;
    type Future = RecvFuture<'a, T>;

    fn attempt(&self) -> Option<Self::Output> {
        self.recv_now()
    }

    fn future(self) -> RecvFuture<'a, T> {
        self.recv_async()
    }
}

impl<T> Receiver<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recv_now(&self) -> Option<Result<T, RecvError>> {
        let mut empty = Chunks::new();
        self.0.with(|section| recv(section, &mut empty))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut empty = Chunks::new();
        or_cancelled(match self.0.wait(RECV, deadline, |section| recv(section, &mut empty)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(RecvError)) | Err(Interrupted::Unwinding) => Err(RecvTimeoutError::Disconnected),
            Err(Interrupted::TimedOut) => Err(RecvTimeoutError::Timeout),
        })
    }

    /// Takes the oldest value. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`] if nothing waits, and no sender is left or the channel is closed.
    ///
    /// # Cancellation
    /// The commit point is the moment when the value leaves the queue; then the call returns. A host that is cancelled before
    /// that unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: if nothing is there, the
    /// call fails as if no sender were left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing; if a value was reserved for it, that goes to the
    /// next receiver.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture(self.0.future(RECV, RecvOp(Chunks::new())))
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&self) -> TriedEvt<&Self> {
        tried_evt(self)
    }

    /// Takes the oldest value if there is one that is not reserved for a receiver that waits already.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = match self.recv_now() {
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

    /// How many values wait.
    pub fn len(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.count)
    }

    /// True if no values wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

super::gate::sender!("unbounded::Sender", wakes RECEIVERS);
super::gate::weak!(Pile<T>, "unbounded::WeakSender", "unbounded()");
super::gate::closes!(Sender, 0, "unbounded()", wakes RECEIVERS);
super::gate::closes!(Receiver, 0, "unbounded()", wakes RECEIVERS);

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
                return Chunks::new();
            }
            section.state.is_closed = true;
            section.state.count = 0;
            std::mem::take(&mut section.state.chunks)
        });
        // Last: its destructors are the program's.
        drop(unread);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unbounded::Receiver")
    }
}
