//! [`Sends`] and [`Receives`]: what the ends of all kinds of channels have in common.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::events::{Always, BoxedEvent, Event, Wrap, always};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A future in a box, of a call of [`Sends`] or [`Receives`].
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The sending end of a channel of any kind, for code that leaves the kind to its caller: `&impl Sends<T>`, or
/// `Box<dyn Sends<T>>`.
///
/// All kinds have it that send more than once: a rendezvous [`channel`](crate::channel()),
/// [`bounded`](crate::bounded()), [`unbounded`](crate::unbounded()), [`mailbox`](crate::mailbox()),
/// [`broadcast`](crate::broadcast()), [`multicast`](crate::multicast()), [`channel_of`](crate::channel_of()); so do references,
/// boxes and `Arc`s. What each call does is said by the kind: a send waits for a receiver, for a place, or for nothing. Futures
/// and events are in boxes here; the kinds' own calls save these.
///
/// # Examples
/// A stage of a pipeline, whatever is before and behind it:
/// ```
/// use lamprey::{Receives, Sends};
///
/// fn double(mut from: impl Receives<u32>, to: impl Sends<u32>) {
///     while let Ok(n) = from.recv() {
///         if to.send(n * 2).is_err() {
///             return;
///         }
///     }
/// }
///
/// lamprey::run(|| {
///     let (tx, from) = lamprey::mailbox();
///     let (to, rx) = lamprey::bounded(2);
///     lamprey::spawn(move || double(from, to));
///     (1..=3).for_each(|n| tx.send(n).unwrap());
///     drop(tx);
///     assert_eq!(Vec::from_iter(rx), [2, 4, 6]);
/// });
/// ```
/// Different kinds in one list:
/// ```
/// use lamprey::Sends;
///
/// lamprey::run(|| {
///     let ((a, of_a), (b, mut of_b)) = (lamprey::bounded(1), lamprey::mailbox());
///     let subscribers: Vec<Box<dyn Sends<&str>>> = vec![Box::new(a), Box::new(b)];
///     subscribers.iter().for_each(|subscriber| subscriber.send("news").unwrap());
///     assert_eq!((of_a.recv(), of_b.recv()), (Ok("news"), Ok("news")));
/// });
/// ```
/// Values cross kernel threads, so they must be `Send`:
/// ```compile_fail,E0277
/// fn keep(_: impl lamprey::Sends<std::rc::Rc<u8>>) {}
/// keep(lamprey::unbounded().0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot send values of type `{T}` from any thread",
    label = "no sender of `{T}`",
    note = "the senders of all kinds of channels are, if their values are `Send`: these cross kernel threads"
)]
pub trait Sends<T>: Send + Sync {
    /// Sends `value`, waiting if the kind of channel must.
    ///
    /// # Errors
    /// [`SendError`] with the value if no receiver is left, or the channel is closed.
    ///
    /// # Cancellation
    /// As of the kind: the commit point is when a receiver or the buffer has the value.
    ///
    /// # Blocking
    /// As of the kind.
    fn send(&self, value: T) -> Result<(), SendError<T>>;

    /// Sends `value` if that need not wait.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    fn try_send(&self, value: T) -> Result<(), TrySendError<T>>;

    /// [`send`](Self::send), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value.
    ///
    /// # Cancellation
    /// As for `send`.
    fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>>;

    /// [`send`](Self::send) for async code.
    ///
    /// # Errors
    /// As `send`.
    ///
    /// # Cancellation
    /// As of the kind: a value that has not been sent is dropped with the future.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    fn send_async<'a>(&'a self, value: T) -> BoxedFuture<'a, Result<(), SendError<T>>>
    where
        T: 'a;

    /// [`send`](Self::send) as an event. If another is chosen, `value` is dropped with it.
    fn send_evt<'a>(&'a self, value: T) -> BoxedEvent<'a, Result<(), SendError<T>>>
    where
        T: 'a;

    /// Closes the channel: from now on sends fail, and receivers get what has been sent before and then an error. False if it
    /// was closed already, or a side is gone.
    ///
    /// # Blocking
    /// Never.
    fn close(&self) -> bool;

    /// True if no value can be sent any more: the channel is closed, or no receiver is left and none can come.
    fn is_closed(&self) -> bool;

    /// How many values are kept for receivers to come; `None` if there is no bound.
    fn capacity(&self) -> Option<usize>;
}

/// The receiving end of a channel of any kind: the counterpart of [`Sends`]. A [`oneshot`](crate::oneshot())'s has it too.
///
/// Some kinds have a receiver that only one thread uses at a time, so all calls take `&mut` here; receivers that can be shared
/// can be cloned. The receiver of a `broadcast` gives [results](crate::broadcast::RecvError), as its iterator does:
/// `Receives<Result<T, broadcast::RecvError>>`.
///
/// # Examples
/// See [`Sends`]; and here the first of several, whatever kinds they are:
/// ```
/// use lamprey::Receives;
/// use lamprey::event::{Event, choose};
///
/// fn first(sources: &mut [Box<dyn Receives<u32>>]) -> u32 {
///     choose(sources.iter_mut().map(|source| source.recv_evt()).collect::<Vec<_>>()).sync().unwrap()
/// }
///
/// lamprey::run(|| {
///     let ((a, of_a), (_b, of_b)) = (lamprey::channel(), lamprey::unbounded());
///     lamprey::spawn(move || a.send(5));
///     assert_eq!(first(&mut [Box::new(of_a), Box::new(of_b)]), 5);
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot receive values of type `{T}` on any thread",
    label = "no receiver of `{T}`",
    note = "the receivers of all kinds of channels are, if their values are `Send`: these cross kernel threads"
)]
pub trait Receives<T>: Send {
    /// Takes the next value, waiting for it.
    ///
    /// # Errors
    /// [`RecvError`] if there is none, and none will come.
    ///
    /// # Cancellation
    /// As of the kind: a host that is cancelled before it has a value unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    fn recv(&mut self) -> Result<T, RecvError>;

    /// Takes the next value if it is there.
    ///
    /// # Errors
    /// [`TryRecvError`].
    fn try_recv(&mut self) -> Result<T, TryRecvError>;

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    ///
    /// # Cancellation
    /// As for `recv`.
    fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError>;

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As `recv`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, no value is lost.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    fn recv_async<'a>(&'a mut self) -> BoxedFuture<'a, Result<T, RecvError>>
    where
        T: 'a;

    /// [`recv`](Self::recv) as an event.
    fn recv_evt<'a>(&'a mut self) -> BoxedEvent<'a, Result<T, RecvError>>
    where
        T: 'a;

    /// Closes the channel, as [`Sends::close`]: what has been sent before can still be received.
    ///
    /// # Blocking
    /// Never.
    fn close(&mut self) -> bool;

    /// True if no value will be sent any more; some may still be there.
    fn is_closed(&self) -> bool;

    /// How many values are there for this receiver, apart from those that senders wait with. Of a `multicast` they are
    /// counted one by one.
    fn len(&self) -> usize;

    /// True if no value is there.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values are kept at most; `None` if there is no bound.
    fn capacity(&self) -> Option<usize>;
}

/// The event of a send that never waits: it is always ready, and sends once it is chosen.
pub type NowEvt<S, T, R> = Wrap<Always<(S, T)>, fn((S, T)) -> R>;

/// The event that `send` makes of `end` and `value`.
pub(super) fn now_evt<S, T, R>(end: S, value: T, send: fn((S, T)) -> R) -> NowEvt<S, T, R> {
    always((end, value)).wrap(send)
}
