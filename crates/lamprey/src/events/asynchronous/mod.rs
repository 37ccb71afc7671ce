//! Asynchronous events (Ziarek, Sivaramakrishnan, Jagannathan 2011; parasitic-threads-2011, 5):
//! communications that one thread starts and another, implicit one completes.
//!
//! # The two parts
//! ```text
//!          a_sync                                    the implicit thread
//! caller ────┬─ the event is offered, by a parasite ──── communication ── a_wrap ──► result
//!            └─ s_wrap ──► creation value                                              │
//!                    caller continues ...                      ... and may synchronise on it
//! ```
//! [`AsyncEvent`] is what can be started, [`Pending`] its result as an event. `algebra` combines them,
//! `begin` is the implicit thread.
//!
//! # The order
//! When `a_sync` returns, the offer is in the wait queue of its channel, or a peer has taken it. So what one
//! thread sends on one channel, by any mixture of asynchronous and synchronous sends, arrives in the order of
//! the calls; the same holds for receives.

mod algebra;
mod begin;
mod pending;

pub use algebra::{
    AChoose, AGuard, AWrap, AsyncEvents, SWrap, SpawnFn, Spawned, a_choose, a_guard, spawn_evt,
};
pub use begin::Matter;
pub use pending::Pending;

use super::Event;

/// A communication that can be started without waiting for it, as a value.
///
/// [`Sender::a_send_evt`](crate::Sender::a_send_evt) and
/// [`Receiver::a_recv_evt`](crate::Receiver::a_recv_evt) make one, [`Event::spawn_evt`] makes one of any
/// event, [`spawn_evt`] of any function; [`s_wrap`](Self::s_wrap), [`a_wrap`](Self::a_wrap), [`a_choose`] and
/// [`a_guard`] combine them.
///
/// # Examples
/// ```
/// use lamprey::event::{AsyncEvent, Event};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let event = tx.a_send_evt(7).s_wrap(|()| "begun").a_wrap(|sent| sent.is_ok());
///     let (created, received) = event.a_sync(); // does not wait for a receiver
///     assert_eq!(created, "begun");
///     assert_eq!(rx.recv(), Ok(7));
///     assert_eq!(received.sync().unwrap(), true);
/// });
/// ```
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub trait AsyncEvent: Sized {
    /// The creation value, which the caller gets at once.
    type Created;
    /// The result of the communication.
    type Consumed: Send + 'static;

    /// The function that runs on the caller once the event has been offered, and the event. Asynchronous
    /// guards run here.
    #[doc(hidden)]
    fn parts(
        self,
    ) -> (
        impl FnOnce() -> Self::Created,
        impl Event<Output = Matter<Self::Consumed>, Branch: Send> + Send + 'static,
    );

    /// Starts the communication and returns the creation value, and the result as an event.
    ///
    /// On return the offer is in its wait queue (see the order that
    /// [`event::asynchronous`](crate::event#asynchronous-events) promises), or the communication has already
    /// happened. An implicit thread, a parasite, does the rest. Dropping the result does not stop it;
    /// [`Pending::cancel`] does.
    ///
    /// # Errors
    /// None here; without memory for the implicit thread the result is
    /// [`JoinError::NoStack`](crate::JoinError::NoStack).
    ///
    /// # Panics
    /// Outside of a host or parasite. With a panic of an `a_guard` (nothing has been started then) or an
    /// `s_wrap` (the communication continues).
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    fn a_sync(self) -> (Self::Created, Pending<Self::Consumed>) {
        let (created, event) = self.parts();
        let pending = begin::begin(event);
        (created(), pending)
    }

    /// The same event, with `f` applied to the creation value: on the caller, during the call, once the event
    /// has been offered.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{AsyncEvent, Event, always};
    /// # lamprey::run(|| {
    /// let (created, _) = always(1).spawn_evt().s_wrap(|()| "at once").a_sync();
    /// assert_eq!(created, "at once");
    /// # });
    /// ```
    fn s_wrap<C, F: FnOnce(Self::Created) -> C>(self, f: F) -> SWrap<Self, F> {
        SWrap::new(self, f)
    }

    /// The same event, with `f` applied to the result: after the communication, in the implicit thread.
    ///
    /// `f` runs on its own stack (in a stackful parasite), so it may block: communicate, or start the next
    /// asynchronous event. It starts where the communication was completed, which may be the worker of the
    /// other side.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{AsyncEvent, Event};
    /// # lamprey::run(|| {
    /// let ((tx, rx), (log, lines)) = (lamprey::channel(), lamprey::channel());
    /// rx.a_recv_evt().a_wrap(move |got| log.send(format!("{got:?}"))).a_sync();
    /// tx.send(1).unwrap();
    /// assert_eq!(lines.recv().unwrap(), "Ok(1)");
    /// # });
    /// ```
    fn a_wrap<R, F>(self, f: F) -> AWrap<Self, F>
    where
        R: Send + 'static,
        F: FnOnce(Self::Consumed) -> R + Send + 'static,
    {
        AWrap::new(self, f)
    }
}
