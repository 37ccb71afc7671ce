//! Events that own their end, so that a function can return one, and asynchronous events: of all kinds of channels but the
//! rendezvous, whose own offers can own their end, and of `channel_of`.
//!
//! An event that owns its end is a future that does: it has the borrowing future inside. So it loses nothing when it loses a
//! choice but the end itself, which is dropped with it.

use super::sends::{NowEvt, now_evt};
use super::{
    RecvError, SendError, bounded, broadcast, mailbox, multicast, mvar, oneshot, rpc, unbounded, watch,
};
use crate::events::{FutureEvt, Spawned, future_evt};
use std::future::Future;

/// `into_send_evt` and `a_send_evt` of a kind whose sends may wait.
macro_rules! sends {
    ($kind:ident, $make:literal) => {
        impl<T> $kind::Sender<T> {
            /// [`send_evt`](Self::send_evt) that owns the sender, so that a function can return it.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::{Event, choose, timeout};
            /// use std::time::Duration;
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, rx) = lamprey::", $make, ";")]
            /// let sent = choose((tx.into_send_evt(1).wrap(Some), timeout(Duration::from_secs(60)).wrap(|()| None)));
            /// assert!(sent.sync().unwrap().is_ok()); // the sender has gone with its event
            /// # drop(rx);
            /// # });
            /// ```
            pub fn into_send_evt(
                self,
                value: T,
            ) -> FutureEvt<impl Future<Output = Result<(), SendError<T>>> + use<T>> {
                future_evt(async move { self.send_async(value).await })
            }

            /// An asynchronous send: [`a_sync`](crate::event::AsyncEvent::a_sync) sends `value`, or queues it, and returns.
            ///
            /// Values that one thread sends arrive in the order of its calls while there is room. Those that wait for a place are
            /// let in in that order, too; but of several that are let in at the same time any may be the first to send. (With a
            /// single place, or none, there are no such.) A value that waits has a clone of the sender with it, so the channel
            /// stays open for it.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::AsyncEvent;
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, rx) = lamprey::", $make, ";")]
            /// for n in 0..5 {
            ///     tx.a_send_evt(n).a_sync();
            /// }
            /// drop(tx);
            /// assert!(rx.iter().eq(0..5));
            /// # });
            /// ```
            pub fn a_send_evt(
                &self,
                value: T,
            ) -> Spawned<FutureEvt<impl Future<Output = Result<(), SendError<T>>> + Send + use<T>>>
            where
                T: Send + 'static,
            {
                Spawned::new(self.clone().into_send_evt(value))
            }
        }
    };
}

/// `into_send_evt` and `a_send_evt` of a kind whose sends never wait.
macro_rules! leaves {
    ($kind:ident, $make:literal, $sent:ty) => {
        impl<T> $kind::Sender<T> {
            /// [`send_evt`](Self::send_evt) that owns the sender, so that a function can return it.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::{Event, choose, timeout};
            /// use std::time::Duration;
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, rx) = lamprey::", $make, ";")]
            /// let sent = choose((tx.into_send_evt(1).wrap(Some), timeout(Duration::from_secs(60)).wrap(|()| None)));
            /// assert!(sent.sync().unwrap().is_ok()); // the sender has gone with its event
            /// # drop(rx);
            /// # });
            /// ```
            pub fn into_send_evt(self, value: T) -> NowEvt<Self, T, Result<$sent, SendError<T>>> {
                now_evt(self, value, |(tx, value)| tx.send(value))
            }

            /// A send as an asynchronous event: it never waits, but can be one of several in an
            /// [`a_choose`](crate::event::a_choose).
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::{AsyncEvent, Event};
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, mut rx) = lamprey::", $make, ";")]
            /// let ((), sent) = tx.a_send_evt(1).a_sync();
            /// assert_eq!(rx.recv(), Ok(1));
            /// assert!(sent.sync().unwrap().is_ok());
            /// # });
            /// ```
            pub fn a_send_evt(&self, value: T) -> Spawned<NowEvt<Self, T, Result<$sent, SendError<T>>>>
            where
                T: Send + 'static,
                Self: Send,
            {
                Spawned::new(self.clone().into_send_evt(value))
            }
        }
    };
}

/// `into_recv_evt` and `a_recv_evt` of a kind whose receivers can be shared.
macro_rules! receives {
    ($kind:ident, $make:literal) => {
        impl<T> $kind::Receiver<T> {
            /// [`recv_evt`](Self::recv_evt) that owns the receiver, so that a function can return it.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::{BoxedEvent, Event, choose, timeout};
            /// use std::time::Duration;
            ///
            /// fn answer() -> BoxedEvent<'static, Option<u32>> {
            #[doc = concat!("    let (tx, rx) = lamprey::", $make, ";")]
            ///     lamprey::spawn(move || tx.send(6 * 7));
            ///     let late = timeout(Duration::from_secs(60)).wrap(|()| None);
            ///     choose((rx.into_recv_evt().wrap(Result::ok), late)).boxed()
            /// }
            ///
            /// assert_eq!(lamprey::run(|| answer().sync()), Some(42));
            /// ```
            pub fn into_recv_evt(self) -> FutureEvt<impl Future<Output = Result<T, RecvError>> + use<T>> {
                future_evt(async move { self.recv_async().await })
            }

            /// An asynchronous receive: [`a_sync`](crate::event::AsyncEvent::a_sync) takes a value, or queues a receive, and
            /// returns. The receive has a clone of the receiver with it. Those that wait are woken in the order of the calls, but
            /// of several that are woken at the same time any may be the first to take a value.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::{AsyncEvent, Event};
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, rx) = lamprey::", $make, ";")]
            /// let [first, second] = [(); 2].map(|()| rx.a_recv_evt().a_sync().1);
            /// (1..=2).for_each(|n| tx.send(n).unwrap());
            /// assert_eq!(first.sync().unwrap().unwrap() + second.sync().unwrap().unwrap(), 3);
            /// # });
            /// ```
            pub fn a_recv_evt(
                &self,
            ) -> Spawned<FutureEvt<impl Future<Output = Result<T, RecvError>> + Send + use<T>>>
            where
                T: Send + 'static,
            {
                Spawned::new(self.clone().into_recv_evt())
            }
        }
    };
}

/// `into_recv_evt` of a kind whose receiver has a position of its own: it comes back with the result.
macro_rules! positioned {
    ($kind:ident, $error:ty $(, where T: $bound:path)?) => {
        impl<T $(: $bound)?> $kind::Receiver<T> {
            /// [`recv_evt`](Self::recv_evt) that owns the receiver, which comes back with the result. If another event is
            /// chosen, the receiver is dropped. As an asynchronous event:
            /// `rx.into_recv_evt().`[`spawn_evt`](crate::event::Event::spawn_evt)`()`.
            ///
            /// # Examples
            /// ```
            /// use lamprey::event::Event;
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, rx) = lamprey::", stringify!($kind), positioned!(@capacity $kind), ";")]
            /// (1..=2).for_each(|n| assert!(tx.send(n).is_ok()));
            /// let (first, rx) = rx.into_recv_evt().sync();
            /// let (second, _rx) = rx.into_recv_evt().sync();
            /// assert_eq!((first, second), (Ok(1), Ok(2)));
            /// # });
            /// ```
            pub fn into_recv_evt(
                mut self,
            ) -> FutureEvt<impl Future<Output = (Result<T, $error>, Self)> + use<T>> {
                future_evt(async move { (self.recv_async().await, self) })
            }
        }
    };
    (@capacity broadcast) => { "(2)" };
    (@capacity $kind:ident) => { "()" };
}

sends!(bounded, "bounded(5)");
receives!(bounded, "bounded(5)");
leaves!(unbounded, "unbounded()", ());
receives!(unbounded, "unbounded()");
leaves!(mailbox, "mailbox()", ());
positioned!(mailbox, RecvError);
leaves!(broadcast, "broadcast(2)", usize);
positioned!(broadcast, broadcast::RecvError, where T: Clone);
leaves!(multicast, "multicast()", ());
positioned!(multicast, RecvError, where T: Clone);

impl<T> oneshot::Sender<T> {
    /// [`send`](Self::send) as an event, which is always ready: the value is sent if the event is chosen; otherwise it is dropped
    /// with the sender.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, always, prefer};
    ///
    /// let ((tx, rx), (other, other_rx)) = (lamprey::oneshot(), lamprey::oneshot());
    /// prefer((tx.into_send_evt(1), other.into_send_evt(2))).sync().unwrap();
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert!(other_rx.recv().is_err());
    /// ```
    pub fn into_send_evt(self, value: T) -> NowEvt<Self, T, Result<(), SendError<T>>> {
        now_evt(self, value, |(tx, value)| tx.send(value))
    }
}

impl<T> oneshot::Receiver<T> {
    /// [`recv_evt`](Self::recv_evt) that owns the receiver, so that a function can return it. If another event is chosen, the
    /// receiver is dropped. As an asynchronous event: `rx.into_recv_evt().`[`spawn_evt`](crate::event::Event::spawn_evt)`()`.
    pub fn into_recv_evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }
}

impl<T> watch::Receiver<T> {
    /// [`changed_evt`](Self::changed_evt) that owns the receiver, which comes back with the result. If another event is chosen,
    /// the receiver is dropped.
    pub fn into_changed_evt(
        mut self,
    ) -> FutureEvt<impl Future<Output = (Result<(), RecvError>, Self)> + use<T>> {
        future_evt(async move { (self.changed_async().await, self) })
    }
}

impl<T> mvar::MVar<T> {
    /// [`take_evt`](Self::take_evt) that owns a handle of the variable, so that a function can return it.
    pub fn into_take_evt(self) -> FutureEvt<impl Future<Output = Result<T, mvar::TakeError>> + use<T>> {
        future_evt(async move { self.take_async().await })
    }

    /// [`put_evt`](Self::put_evt) that owns a handle of the variable, so that a function can return it.
    pub fn into_put_evt(
        self,
        value: T,
    ) -> FutureEvt<impl Future<Output = Result<(), mvar::PutError<T>>> + use<T>> {
        future_evt(async move { self.put_async(value).await })
    }

    /// [`swap_evt`](Self::swap_evt) that owns a handle of the variable, so that a function can return it.
    pub fn into_swap_evt(
        self,
        value: T,
    ) -> FutureEvt<impl Future<Output = Result<T, mvar::PutError<T>>> + use<T>> {
        future_evt(async move { self.swap_async(value).await })
    }
}

impl<T: Clone> mvar::MVar<T> {
    /// [`read_evt`](Self::read_evt) that owns a handle of the variable, so that a function can return it.
    pub fn into_read_evt(self) -> FutureEvt<impl Future<Output = Result<T, mvar::TakeError>> + use<T>> {
        future_evt(async move { self.read_async().await })
    }
}

impl<Q, A> rpc::Client<Q, A> {
    /// [`call_evt`](Self::call_evt) that owns the client, so that a function can return it.
    pub fn into_call_evt(
        self,
        request: Q,
    ) -> FutureEvt<impl Future<Output = Result<A, rpc::CallError<Q>>> + use<Q, A>> {
        future_evt(async move { self.call_async(request).await })
    }
}
