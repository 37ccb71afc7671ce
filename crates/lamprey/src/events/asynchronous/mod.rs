//! Asynchronous events (Ziarek, Sivaramakrishnan, Jagannathan 2011; Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
//! *Lightweight Asynchrony Using Parasitic Threads*, 2011, 5):
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
//! `handler` handles their panics, `trans` makes one a branch of a synchronous choice, `begin` is the implicit thread.
//!
//! # The order
//! When `a_sync` returns, the offer is in the wait queue of its channel, or a peer has taken it. So what one
//! thread sends on one channel, by any mixture of asynchronous and synchronous sends, arrives in the order of
//! the calls; the same holds for receives. A channel with a buffer moves values when the implicit threads run: of several
//! that it has woken at the same time, for places or for values, any may be the first.

mod algebra;
mod begin;
mod handler;
mod pending;
mod trans;

pub use algebra::{
    AChoose, AGuard, AWrap, AsyncEvents, SWrap, SpawnFn, Spawned, a_choose, a_guard, spawn_evt,
};
pub use begin::Matter;
pub use handler::{AWrapHandler, SWrapHandler};
pub use pending::Pending;
pub use trans::ATrans;

use super::Event;
use crate::sched::panic::Panic;

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
///
/// # Errors of the compiler
/// An event is no asynchronous one; [`Event::spawn_evt`] makes one of it:
/// ```compile_fail,E0277
/// # use lamprey::event::a_choose;
/// # let (_tx, rx) = lamprey::channel::<u8>();
/// a_choose([rx.recv_evt()]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an asynchronous event",
    label = "not an asynchronous event",
    note = "`tx.a_send_evt(value)` and `rx.a_recv_evt()` make one, and `event.spawn_evt()` makes one of any event"
)]
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
    /// On return the offer is in its wait queue (see the order that the section on
    /// [asynchronous events](crate::event#asynchronous-events) promises), or the communication has already
    /// happened. An implicit thread, a parasite, does the rest. Dropping the result does not stop it;
    /// [`Pending::cancel`] does.
    ///
    /// # Errors
    /// None here; without memory for the implicit thread the result is
    /// [`JoinError::NoStack`](crate::JoinError::NoStack).
    ///
    /// # Panics
    /// Outside of a host or parasite: use [`Event::sync`] there, or call it in a future for a runtime's
    /// [`Handle::parasite`](crate::Handle::parasite). With a panic of an `a_guard` (nothing has been started then) or an
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
    /// The same event, where a panic of an `s_wrap` within it has `handler` make the creation value. The communication goes on.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{AsyncEvent, Event, always};
    /// # lamprey::run(|| {
    /// let event = always(1).spawn_evt().s_wrap(|()| -> u32 { panic!("no bread") });
    /// let (created, pending) = event.s_wrap_handler(|panic| panic.message().len() as u32).a_sync();
    /// assert_eq!((created, pending.sync().unwrap()), (8, 1));
    /// # });
    /// ```
    #[doc(alias = "sWrapHandler")]
    fn s_wrap_handler<F: FnOnce(Panic) -> Self::Created>(self, handler: F) -> SWrapHandler<Self, F> {
        SWrapHandler::new(self, handler)
    }

    /// The same event, where a panic in the implicit thread has `handler` make the result: of the `a_wrap`s within it, and of the
    /// guards, `wrap`s and futures of its events. `handler` may block, as an `a_wrap`.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::event::{AsyncEvent, Event, always};
    /// # lamprey::run(|| {
    /// let event = always(0).spawn_evt().a_wrap(|n| 1 / n);
    /// let ((), pending) = event.a_wrap_handler(|panic| panic.message().len()).a_sync();
    /// assert_eq!(pending.sync().unwrap(), "attempt to divide by zero".len());
    /// # });
    /// ```
    #[doc(alias = "aWrapHandler")]
    fn a_wrap_handler<F>(self, handler: F) -> AWrapHandler<Self, F>
    where
        F: FnOnce(Panic) -> Self::Consumed + Send + 'static,
    {
        AWrapHandler::new(self, handler)
    }

    /// This asynchronous event as a branch of a synchronous choice. It is always ready, as it need not wait; if it is chosen, it
    /// is begun, as by [`a_sync`](Self::a_sync), and gives what that gives: the creation value, and the result as an event. If it
    /// is not chosen, nothing has been begun, and its `a_guard`s have not run.
    ///
    /// # Examples
    /// A send that waits for nobody, and starts a thread only if no receiver is there:
    /// ```
    /// use lamprey::event::{AsyncEvent, Event, prefer};
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let send = |n| {
    ///         let later = tx.a_send_evt(n).a_trans().wrap(|((), pending)| Some(pending));
    ///         prefer((tx.send_evt(n).wrap(|_| None), later)).sync()
    ///     };
    ///     assert!(send(1).is_some(), "nobody receives yet");
    ///     assert_eq!(rx.recv(), Ok(1));
    /// });
    /// ```
    ///
    /// # Panics
    /// The synchronisation, as [`a_sync`](Self::a_sync).
    #[doc(alias = "aTrans")]
    fn a_trans(self) -> ATrans<Self> {
        ATrans::new(self)
    }
}
