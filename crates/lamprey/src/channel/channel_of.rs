//! A channel whose capacity is a number at run time: one type of ends for the rendezvous, the bounded and the unbounded
//! channel.
//!
//! Invariant: the ends of one channel are of one variant.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::iter::iterates;
use super::{bounded, rendezvous, unbounded};
use crate::events::{BoxedEvent, Event, Spawned};
use std::fmt;
use std::time::Duration;

/// A channel that keeps at most `capacity` values: with 0 it is a rendezvous [`channel`](crate::channel()), with more it is
/// [`bounded`](crate::bounded()), with `None` [`unbounded`](crate::unbounded()). The ends have one type, so that the number can
/// come from a configuration.
///
/// What a call does is said by these kinds. Futures and events cost a box more than theirs; calls cost as much.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     for capacity in [Some(0), Some(3), None] {
///         let (tx, rx) = lamprey::channel_of(capacity);
///         assert_eq!(tx.capacity(), capacity);
///         lamprey::spawn(move || (1..=9).for_each(|n| tx.send(n).unwrap()));
///         assert_eq!(rx.iter().sum::<i32>(), 45);
///     }
///     let (tx, _rx) = lamprey::channel_of(1); // a number will do, too
///     tx.send("kept").unwrap();
/// });
/// ```
///
/// # Panics
/// If there is no memory for `capacity` values.
#[doc(alias = "bounded")]
#[doc(alias = "unbounded")]
#[doc(alias = "sync_channel")]
#[track_caller]
pub fn channel_of<T>(capacity: impl Into<Option<usize>>) -> (Sender<T>, Receiver<T>) {
    match capacity.into() {
        Some(0) => {
            let (tx, rx) = rendezvous::channel();
            (Sender(Kind::Rendezvous(tx)), Receiver(Kind::Rendezvous(rx)))
        }
        Some(capacity) => {
            let (tx, rx) = bounded::bounded(capacity);
            (Sender(Kind::Bounded(tx)), Receiver(Kind::Bounded(rx)))
        }
        None => {
            let (tx, rx) = unbounded::unbounded();
            (Sender(Kind::Unbounded(tx)), Receiver(Kind::Unbounded(rx)))
        }
    }
}

/// Which of the three it is.
#[derive(Clone)]
enum Kind<R, B, U> {
    Rendezvous(R),
    Bounded(B),
    Unbounded(U),
}

/// The sending end of a [`channel_of()`].
pub struct Sender<T>(Kind<rendezvous::Sender<T>, bounded::Sender<T>, unbounded::Sender<T>>);

/// The receiving end of a [`channel_of()`].
pub struct Receiver<T>(Kind<rendezvous::Receiver<T>, bounded::Receiver<T>, unbounded::Receiver<T>>);

/// The same expression for each kind.
macro_rules! each {
    ($kind:expr, $end:ident => $call:expr) => {
        match $kind {
            Kind::Rendezvous($end) => $call,
            Kind::Bounded($end) => $call,
            Kind::Unbounded($end) => $call,
        }
    };
}

/// A call of senders that an unbounded channel's sender has not, as its `send` never waits.
macro_rules! unless_unbounded {
    ($kind:expr, $end:ident => $call:expr, $unbounded:ident => $sent:expr) => {
        match $kind {
            Kind::Rendezvous($end) => $call,
            Kind::Bounded($end) => $call,
            Kind::Unbounded($unbounded) => $sent,
        }
    };
}

impl<T> Sender<T> {
    /// Sends `value`: waits for a receiver, for a place, or for nothing.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left, or the channel is closed.
    ///
    /// # Cancellation
    /// The commit point is the moment when a receiver or the buffer has the value. A host that is cancelled before that
    /// unwinds from here, and the value is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: the value comes back as
    /// if no receiver were left.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        each!(&self.0, tx => tx.send(value))
    }

    /// Sends `value` if that need not wait.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        unless_unbounded!(&self.0, tx => tx.try_send(value),
            tx => tx.send(value).map_err(TrySendError::from))
    }

    /// [`send`](Self::send), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value.
    ///
    /// # Cancellation
    /// As for `send`.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        unless_unbounded!(&self.0, tx => tx.send_timeout(value, timeout),
            tx => tx.send(value).map_err(SendTimeoutError::from))
    }

    /// [`send`](Self::send) for async code.
    ///
    /// # Errors
    /// As `send`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the value is dropped with it, unless a receiver or the buffer has it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn send_async(&self, value: T) -> Result<(), SendError<T>> {
        unless_unbounded!(&self.0, tx => tx.send_async(value).await, tx => tx.send(value))
    }

    /// [`send`](Self::send) as an event. If another is chosen, `value` is dropped with it.
    pub fn send_evt(&self, value: T) -> BoxedEvent<'_, Result<(), SendError<T>>>
    where
        T: Send,
    {
        each!(&self.0, tx => tx.send_evt(value).boxed())
    }
}

impl<T: Send + 'static> Sender<T> {
    /// [`send_evt`](Self::send_evt) that owns the sender, so that a function can return it.
    pub fn into_send_evt(self, value: T) -> BoxedEvent<'static, Result<(), SendError<T>>> {
        each!(self.0, tx => tx.into_send_evt(value).boxed())
    }

    /// An asynchronous send: [`a_sync`](crate::event::AsyncEvent::a_sync) sends `value`, or queues it, and returns. For the order
    /// of several see that of the kind: [`Sender`](crate::Sender::a_send_evt), [`bounded::Sender`]. The channel stays open for
    /// them.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::AsyncEvent;
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel_of(1);
    /// for n in 0..5 {
    ///     tx.a_send_evt(n).a_sync();
    /// }
    /// drop(tx);
    /// assert!(rx.iter().eq(0..5));
    /// # });
    /// ```
    pub fn a_send_evt(&self, value: T) -> Spawned<BoxedEvent<'static, Result<(), SendError<T>>>> {
        Spawned::new(self.clone().into_send_evt(value))
    }
}

impl<T: Send + 'static> Receiver<T> {
    /// [`recv_evt`](Self::recv_evt) that owns the receiver, so that a function can return it.
    pub fn into_recv_evt(self) -> BoxedEvent<'static, Result<T, RecvError>> {
        each!(self.0, rx => rx.into_recv_evt().boxed())
    }

    /// An asynchronous receive: [`a_sync`](crate::event::AsyncEvent::a_sync) takes a value, or queues a receive, and returns. The
    /// receive has a clone of the receiver with it.
    pub fn a_recv_evt(&self) -> Spawned<BoxedEvent<'static, Result<T, RecvError>>> {
        Spawned::new(self.clone().into_recv_evt())
    }
}

impl<T> Receiver<T> {
    /// Takes the next value. Waits while there is none.
    ///
    /// # Errors
    /// [`RecvError`] if nothing is kept, and no sender is left or the channel is closed.
    ///
    /// # Cancellation
    /// A host that is cancelled before it has a value unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks. A host that is unwinding from a panic does not wait: the call fails as if no
    /// sender were left.
    pub fn recv(&self) -> Result<T, RecvError> {
        each!(&self.0, rx => rx.recv())
    }

    /// Takes the next value if it is there.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        each!(&self.0, rx => rx.try_recv())
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// As for `recv`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        each!(&self.0, rx => rx.recv_timeout(timeout))
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, no value is lost.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn recv_async(&self) -> Result<T, RecvError> {
        each!(&self.0, rx => rx.recv_async().await)
    }

    /// [`recv`](Self::recv) as an event.
    pub fn recv_evt(&self) -> BoxedEvent<'_, Result<T, RecvError>>
    where
        T: Send,
    {
        each!(&self.0, rx => rx.recv_evt().boxed())
    }

    /// The values that come, until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// The values that are there now.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + use<'_, T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

iterates!(&, Receiver<T>, T, |rx: &Receiver<T>| rx.recv().ok());

/// What both ends have.
macro_rules! end {
    ($end:ident, $name:literal) => {
        impl<T> $end<T> {
            /// Closes the channel for all: from now on sends fail, those that wait too, and receivers get what is kept and
            /// then the error that they get when no sender is left. False if it was closed already, or a side is gone.
            ///
            /// # Blocking
            /// Never.
            pub fn close(&self) -> bool {
                each!(&self.0, end => end.close())
            }

            /// True if no value will be sent any more: the channel has been [closed](Self::close), or a side is gone.
            pub fn is_closed(&self) -> bool {
                each!(&self.0, end => end.is_closed())
            }

            /// True if both are ends of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                match (&self.0, &other.0) {
                    (Kind::Rendezvous(this), Kind::Rendezvous(other)) => this.same_channel(other),
                    (Kind::Bounded(this), Kind::Bounded(other)) => this.same_channel(other),
                    (Kind::Unbounded(this), Kind::Unbounded(other)) => this.same_channel(other),
                    _ => false,
                }
            }

            /// How many values are kept now.
            pub fn len(&self) -> usize {
                match &self.0 {
                    Kind::Rendezvous(_) => 0,
                    Kind::Bounded(end) => end.len(),
                    Kind::Unbounded(end) => end.len(),
                }
            }

            /// True if no value is kept now.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many values can be kept; `None` if there is no bound.
            pub fn capacity(&self) -> Option<usize> {
                match &self.0 {
                    Kind::Rendezvous(_) => Some(0),
                    Kind::Bounded(end) => Some(end.capacity()),
                    Kind::Unbounded(_) => None,
                }
            }
        }

        impl<T> Clone for $end<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).field("capacity", &self.capacity()).finish()
            }
        }
    };
}

end!(Sender, "channel_of::Sender");
end!(Receiver, "channel_of::Receiver");
