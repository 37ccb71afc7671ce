//! Asynchronous events (Ziarek, Sivaramakrishnan, Jagannathan 2011; parasitic-threads-2011, 5):
//! communications that are begun by one thread and completed by another, implicit one.
//!
//! # The two parts
//! ```text
//!          a_sync                                    the implicit thread
//! caller ────┬─ the event is offered, by a parasite ──── communication ── a_wrap ──► result
//!            └─ s_wrap ──► creation value                                              │
//!                    caller goes on ...                        ... and may synchronise on it
//! ```
//! [`AsyncEvent`] is what can be begun, [`Pending`] the result as an event. `algebra` combines them, `begin`
//! is the implicit thread.
//!
//! # The order
//! When `a_sync` returns, the offer is in the queue of its channel, or has been met. So what one thread sends
//! on one channel, by whatever mixture of asynchronous and synchronous sends, arrives in the order of the
//! calls; and so for receives.

mod algebra;
mod begin;
mod pending;

pub use algebra::{AChoose, AGuard, AWrap, AsyncEvents, SWrap, Spawned, a_choose, a_guard, spawn_evt};
pub use begin::Matter;
pub use pending::Pending;

use super::Event;

/// A communication that can be begun without waiting for it, as a value.
///
/// Made by [`Sender::a_send_evt`](crate::Sender::a_send_evt),
/// [`Receiver::a_recv_evt`](crate::Receiver::a_recv_evt), of any event by [`Event::spawn_evt`], of any
/// function by [`spawn_evt`]; put together with [`s_wrap`](Self::s_wrap), [`a_wrap`](Self::a_wrap),
/// [`a_choose`] and [`a_guard`].
///
/// # Examples
/// ```
/// use lamprey::event::{AsyncEvent, Event};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let event = tx.a_send_evt(7).s_wrap(|()| "begun").a_wrap(|sent| sent.is_ok());
///     let (created, received) = event.a_sync(); // nobody receives, and this does not wait
///     assert_eq!(created, "begun");
///     assert_eq!(rx.recv(), Ok(7));
///     assert_eq!(received.sync().unwrap(), true);
/// });
/// ```
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub trait AsyncEvent: Sized {
    /// What the caller has at once.
    type Created;
    /// What there is once the communication has happened.
    type Consumed: Send + 'static;

    /// What runs on the caller once the event has been offered, and the event. Asynchronous guards run here.
    #[doc(hidden)]
    fn parts(
        self,
    ) -> (
        impl FnOnce() -> Self::Created,
        impl Event<Output = Matter<Self::Consumed>, Branch: Send> + Send + 'static,
    );

    /// Begins the communication and returns: the creation value, and the result as an event.
    ///
    /// The offer is in its queue by then (see the order that
    /// [`event::asynchronous`](crate::event#asynchronous-events) promises), or the communication has happened
    /// already. The rest is done by an implicit thread, a parasite. Whoever drops the result lets that go on;
    /// [`Pending::cancel`] takes it back.
    ///
    /// # Errors
    /// None here; without memory for the implicit thread the result is
    /// [`JoinError::NoStack`](crate::JoinError::NoStack).
    ///
    /// # Panics
    /// Outside of a host or parasite. With a panic of an `a_guard` (nothing has begun then) or an `s_wrap`
    /// (it goes on).
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    fn a_sync(self) -> (Self::Created, Pending<Self::Consumed>) {
        let (created, event) = self.parts();
        let pending = begin::begin(event);
        (created(), pending)
    }

    /// The same, with `f` applied to the creation value: on the caller, at the call, once the event has been
    /// offered.
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

    /// The same, with `f` applied to the result: after the communication, in the implicit thread.
    ///
    /// `f` runs on a stack of its own (a stackful parasite), so it may block: communicate, or begin the next
    /// asynchronous event. It starts wherever the communication was completed, perhaps on the worker of the
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
