//! The end of a thread, and the return of what was reified, as events.

use super::{FutureEvt, future_evt};
use crate::parasite::{Parasite, ParasiteHandle, Reify};
use crate::thread::JoinHandle;

impl<T> JoinHandle<T> {
    /// [`join`](Self::join) as an event: to choose between it and others. If another is chosen, the host runs
    /// on, and the handle can be joined later.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    ///
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let mut host = lamprey::spawn(move || rx.recv().unwrap() * 2);
    /// assert!(host.join_evt().sync_timeout(Duration::from_millis(1)).is_none());
    /// tx.send(21).unwrap();
    /// assert_eq!(host.join_evt().sync().unwrap(), 42);
    /// # });
    /// ```
    ///
    /// # Panics
    /// The synchronisation, if there was one before that gave the result.
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }
}

impl<T> ParasiteHandle<T> {
    /// [`join`](Self::join) as an event: to choose between it and others. If another is chosen, the parasite
    /// runs on, and the handle can be joined later.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::Event;
    ///
    /// # lamprey::run(|| {
    /// let (tx, rx) = lamprey::channel();
    /// let mut parasite = lamprey::parasite(async move { rx.recv_async().await.unwrap() * 2 });
    /// assert!(parasite.join_evt().sync_timeout(Duration::from_millis(1)).is_none());
    /// tx.send(21).unwrap();
    /// assert_eq!(parasite.join_evt().sync().unwrap(), 42);
    /// # });
    /// ```
    ///
    /// # Panics
    /// The synchronisation, if there was one before that gave the result.
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }
}

impl<V, F: FnOnce(Parasite<V>)> Reify<V, F> {
    /// The same as an event: to choose between it and others. If another is chosen, nobody waits for the
    /// value any more: to prepare the [`Parasite`] then does nothing, and drops the value.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// use lamprey::parasite::{Parasite, reify};
    ///
    /// # lamprey::run(|| {
    /// let mut caller: Option<Parasite<u8>> = None;
    /// let value = reify(|me| caller = Some(me)).evt().wrap(Some);
    /// assert_eq!(choose((value, timeout(Duration::from_millis(1)).wrap(|()| None))).sync(), None);
    /// caller.unwrap().prepare(1).attach(); // nobody is there
    /// # });
    /// ```
    pub fn evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }
}
