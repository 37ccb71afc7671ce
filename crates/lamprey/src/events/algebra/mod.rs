//! The algebra of events.
//!
//! ```text
//! sync        : event a -> a                              and .await, sync_timeout, poll
//! wrap        : event a * (a -> b) -> event b
//! wrap_handler: event a * (panic -> a) -> event a
//! choose      : [event a] -> event a                      prefer: the first that is ready
//! choose_all  : [event a] -> event [a]
//! guard       : (() -> event a) -> event a
//! with_nack   : (event () -> event a) -> event a
//! always      : a -> event a
//! never       : event a
//! timeout, at : time -> event ()
//! ```
//! Each has its own file.

mod boxed;
mod choose;
mod choose_all;
mod constant;
#[cfg(not(loom))]
mod future;
mod group;
mod guard;
mod handler;
mod order;
#[cfg(not(loom))]
mod timeout;
mod wrap;

pub use boxed::BoxedEvent;
pub use choose::{Choose, choose, prefer};
pub use choose_all::{ChooseAll, choose_all};
pub use constant::{Always, Never, always, never};
#[cfg(not(loom))]
pub use future::{FutureEvt, TriedEvt, future_evt};
#[cfg(not(loom))]
pub(crate) use future::{Try, tried_evt};
pub use group::Events;
#[cfg(not(loom))]
pub(crate) use group::Group;
pub use guard::{Guard, guard};
pub use handler::WrapHandler;
#[cfg(not(loom))]
pub(crate) use handler::caught;
#[cfg(not(loom))]
pub use timeout::{At, at, timeout};
pub use wrap::Wrap;

use super::protocol::{self, Branch, Synced};
use crate::sched::panic::Panic;
use crate::time;
use std::future::IntoFuture;
use std::time::Duration;

/// A communication as a value: nothing happens until a thread synchronises on it.
///
/// Operations that wait have a form that makes an event ([`Receiver::recv_evt`](crate::Receiver::recv_evt),
/// [`Sender::send_evt`](crate::Sender::send_evt), [`timeout`], ...); [`wrap`](Self::wrap), [`choose`],
/// [`guard`] and others combine them. Hosts, parasites of both kinds, OS threads and foreign tasks can
/// synchronise on all of them.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::event::{Event, choose, timeout};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || tx.send(20).unwrap());
///     let answer = choose((
///         rx.recv_evt().wrap(|got| got.map(|n| n + 1).ok()),
///         timeout(Duration::from_secs(60)).wrap(|()| None),
///     ));
///     assert_eq!(answer.sync(), Some(21));
/// });
/// ```
///
/// # Cancellation
/// A synchronisation either happens or does not. A thread that is cancelled withdraws all its offers and
/// unwinds, and the nacks of all branches fire; unless a peer has chosen a branch by then: the
/// synchronisation returns that result, and the next blocking call unwinds. For a future that is dropped see
/// [`Synced`](super::Synced).
///
/// # Errors of the compiler
/// A future is no event by itself, nor is the end of a channel:
/// ```compile_fail,E0277
/// # use lamprey::event::choose;
/// # async fn load() -> u8 { 1 }
/// let _ = choose([load(), load()]);
/// ```
/// ```
/// # use lamprey::event::{Event, choose, future_evt};
/// # async fn load() -> u8 { 1 }
/// # lamprey::run(|| {
/// assert_eq!(choose([future_evt(load()), future_evt(load())]).sync(), 1);
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "not an event",
    note = "channels, locks and handles make events: `rx.recv_evt()`, `tx.send_evt(value)`, `mutex.lock_evt()`, `handle.join_evt()`, `timeout(duration)`",
    note = "a future becomes one by `future_evt(future)`"
)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub trait Event: IntoFuture<IntoFuture = Synced<Self>> + Sized {
    #[doc(hidden)]
    type Branch: Branch<Output = Self::Output>;

    /// The part that waits: guards run here.
    #[doc(hidden)]
    fn branch(self) -> Self::Branch;

    /// Performs the communication; waits until it is possible.
    ///
    /// # Panics
    /// With the panics of its guards and wraps.
    ///
    /// # Cancellation
    /// The commit point is the moment when one of the offers wins, also while this call is blocked. A thread
    /// that is cancelled before that unwinds from here, and no communication has happened; after it the
    /// result is returned, and the thread unwinds at its next blocking call. (A branch that only fails
    /// because its other side has disconnected does not count: a cancelled thread unwinds.) The values and closures of
    /// the branches that lost are dropped before the result is returned. A destructor of theirs that unwinds takes the
    /// result with it, and one that blocks does so in a cancelled thread.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks. A host that is unwinding from a panic
    /// does not wait: a send or receive among the branches fails as if its peer had disconnected; if there is
    /// none, the host blocks its worker.
    #[doc(alias = "select")]
    #[doc(alias = "perform")]
    #[inline]
    fn sync(self) -> Self::Output {
        protocol::sync(self)
    }

    /// [`sync`](Self::sync) with a limit: waits at most `timeout` for the communication; `None` if it has not
    /// happened by then. What follows it has no limit: the other events of a [`choose_all`], the functions of
    /// `wrap`.
    ///
    /// # Cancellation
    /// As for `sync`. `None` means that no communication has happened or will happen, and that, when the time
    /// was over, none was possible (see [`poll`](Self::poll)).
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{Event, never};
    /// let nothing = never::<u8>().sync_timeout(std::time::Duration::from_millis(1));
    /// assert_eq!(nothing, None);
    /// ```
    #[doc(alias = "select_timeout")]
    fn sync_timeout(self, timeout: Duration) -> Option<Self::Output> {
        protocol::sync_until(self, time::deadline(timeout))
    }

    /// Performs the communication if that is possible at once; otherwise it does not happen, and its nacks
    /// fire. What follows the communication may block here too: the other events of a [`choose_all`], the
    /// functions of `wrap`.
    ///
    /// `None` means that there was a moment during the call when no part of the event was ready: one that is
    /// not looked for where it is just then is not missed. (What a buffered channel has reserved for another
    /// waiter counts as taken. A future of the program is polled, and says itself whether it is ready.) For
    /// that, a choice that finds nothing at first offers all its communications for an instant, and meets
    /// peers that come in it.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::Event;
    /// let (tx, rx) = lamprey::channel::<u8>();
    /// assert!(rx.recv_evt().poll().is_none());
    /// # drop(tx);
    /// ```
    #[doc(alias = "default")]
    #[doc(alias = "try_select")]
    #[doc(alias = "now_or_never")]
    fn poll(self) -> Option<Self::Output> {
        protocol::poll(self)
    }

    /// The same event, with `f` applied to its result after the communication.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{Event, always};
    /// assert_eq!(always(2).wrap(|n| n + 1).sync(), 3);
    /// ```
    #[doc(alias = "map")]
    #[doc(alias = "then")]
    fn wrap<R, F: FnOnce(Self::Output) -> R>(self, f: F) -> Wrap<Self, F> {
        Wrap::new(self, f)
    }

    /// The same event, where a panic of its own code has `handler` make the result: of the guards within it, of its `wrap`s, and
    /// of its futures. (The panic hook has reported it by then.) If a guard or a future panics, the event is ready at once, and
    /// nothing has been communicated; if a `wrap` does, the communication has happened.
    ///
    /// The unwind of a cancelled thread is no panic. Panics of what is put around this event, and of `handler`, are not handled.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, never};
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel::<&str>();
    ///     lamprey::spawn(move || tx.send("five"));
    ///     let number = rx.recv_evt().wrap(|text| text.unwrap().parse::<i32>().map_err(drop).expect("a number"));
    ///     let number = number.wrap_handler(|panic| {
    ///         assert!(panic.message().starts_with("a number"));
    ///         -1
    ///     });
    ///     assert_eq!(choose((number, never())).sync(), -1);
    /// });
    /// ```
    #[doc(alias = "catch_unwind")]
    #[doc(alias = "wrapHandler")]
    fn wrap_handler<F: FnOnce(Panic) -> Self::Output>(self, handler: F) -> WrapHandler<Self, F> {
        WrapHandler::new(self, handler)
    }

    /// The same communication as an asynchronous event: started by the caller, performed by an implicit
    /// thread, which also runs the guards and wraps of this event (use [`a_wrap`](super::AsyncEvent::a_wrap)
    /// for functions that may block).
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{AsyncEvent, Event, choose, timeout};
    /// # use std::time::Duration;
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let limited = choose((rx.into_recv_evt().wrap(Result::ok), timeout(Duration::from_secs(60)).wrap(|()| None)));
    /// let ((), got) = limited.spawn_evt().a_sync();
    /// tx.send(5).unwrap();
    /// assert_eq!(got.sync().unwrap(), Some(5));
    /// # });
    /// ```
    #[cfg(not(loom))]
    fn spawn_evt(self) -> super::Spawned<Self> {
        super::Spawned::new(self)
    }

    /// The same event with its structure erased from the type, so that different events fit into one `Vec` or
    /// channel.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{Event, always, choose, never};
    /// let mut events = vec![never().boxed()];
    /// events.push(always(5).boxed());
    /// assert_eq!(choose(events).sync(), 5);
    /// ```
    fn boxed<'a>(self) -> BoxedEvent<'a, Self::Output>
    where
        Self: Send + 'a,
        Self::Branch: Send,
    {
        BoxedEvent::new(self)
    }
}

/// Implements `.await` for a type of event.
macro_rules! awaitable {
    ({ $($generics:tt)* } $event:ty, $output:ty) => {
        impl<$($generics)*> std::future::IntoFuture for $event {
            type Output = $output;
            type IntoFuture = crate::events::protocol::Synced<Self>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn into_future(self) -> Self::IntoFuture {
                crate::events::protocol::Synced::new(self)
            }
        }
    };
}
pub(crate) use awaitable;
