//! The asynchronous events of the ends of channels.

use super::{Receiver, RecvEvt, SendEvt, Sender};
use crate::events::Spawned;

impl<T: Send + 'static> Sender<T> {
    /// An asynchronous send: [`a_sync`](crate::event::AsyncEvent::a_sync) queues `value` and returns.
    ///
    /// Values that one thread sends arrive in the order of its calls. A value that waits has a clone of the
    /// sender with it, so the channel stays open for it.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::AsyncEvent;
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     for n in 0..3 {
    ///         tx.a_send_evt(n).a_sync();
    ///     }
    ///     drop(tx);
    ///     assert_eq!(Vec::from_iter(rx), [0, 1, 2]);
    /// });
    /// ```
    pub fn a_send_evt(&self, value: T) -> Spawned<SendEvt<Self>> {
        Spawned::new(self.clone().into_send_evt(value))
    }
}

impl<T: Send + 'static> Receiver<T> {
    /// An asynchronous receive: [`a_sync`](crate::event::AsyncEvent::a_sync) queues a receive and
    /// returns. The receive has a clone of the receiver with it.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{AsyncEvent, Event};
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let ((), first) = rx.a_recv_evt().a_sync();
    ///     let ((), second) = rx.a_recv_evt().a_sync();
    ///     lamprey::spawn(move || ["a", "b"].map(|word| tx.send(word).unwrap()));
    ///     assert_eq!((second.sync().unwrap(), first.sync().unwrap()), (Ok("b"), Ok("a")));
    /// });
    /// ```
    pub fn a_recv_evt(&self) -> Spawned<RecvEvt<Self>> {
        Spawned::new(self.clone().into_recv_evt())
    }
}
