//! The end of a thread, and the value of a `reify` cell, as events.

use super::{FutureEvt, future_evt};
use crate::parasite::{Parasite, ParasiteHandle, Reify};
use crate::thread::JoinHandle;

impl<T> JoinHandle<T> {
    /// [`join`](Self::join) as an event, to choose between it and others. If another is chosen, the host
    /// keeps running, and the handle can be joined later.
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
    /// The synchronisation panics if an earlier one has returned the result.
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }

    /// [`join_evt`](Self::join_evt) that owns the handle, so that a function can return it. If another event is chosen, the
    /// handle is dropped.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose_all};
    ///
    /// # lamprey::run(|| {
    /// let hosts = (1..=3).map(|n| lamprey::spawn(move || n * n));
    /// let squares = choose_all(hosts.map(|host| host.into_join_evt().wrap(Result::unwrap)).collect::<Vec<_>>());
    /// assert_eq!(squares.sync(), [1, 4, 9]);
    /// # });
    /// ```
    pub fn into_join_evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }
}

impl<T> ParasiteHandle<T> {
    /// [`join`](Self::join) as an event, to choose between it and others. If another is chosen, the parasite
    /// keeps running, and the handle can be joined later.
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
    /// The synchronisation panics if an earlier one has returned the result.
    pub fn join_evt(&mut self) -> FutureEvt<&mut Self> {
        future_evt(self)
    }

    /// [`join_evt`](Self::join_evt) that owns the handle, so that a function can return it. If another event is chosen, the
    /// handle is dropped.
    pub fn into_join_evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }
}

impl<V, F: FnOnce(Parasite<V>)> Reify<V, F> {
    /// This `reify` as an event, to choose between it and others. If another is chosen, the value has no
    /// receiver any more: preparing the [`Parasite`] then has no effect but to drop the value.
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
    /// caller.unwrap().prepare(1).attach(); // no receiver: no effect
    /// # });
    /// ```
    pub fn evt(self) -> FutureEvt<Self> {
        future_evt(self)
    }
}
