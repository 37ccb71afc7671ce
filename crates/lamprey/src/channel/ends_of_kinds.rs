//! [`Sends`] and [`Receives`] for each kind of channel, and for what points to an end.

use super::err::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::sends::{BoxedFuture, Receives, Sends};
use super::{bounded, broadcast, channel_of, mailbox, multicast, oneshot, rendezvous, unbounded};
use crate::events::{BoxedEvent, Event};
use std::sync::Arc;
use std::time::Duration;

/// What ends of every kind have under the same names.
macro_rules! closes {
    ($($mut:ident)?) => {
        fn close(&$($mut)? self) -> bool {
            Self::close(self)
        }
        fn is_closed(&self) -> bool {
            Self::is_closed(self)
        }
    };
}

/// The sending end of a kind whose sends may wait.
macro_rules! waits {
    ($sender:ident of $kind:ident, capacity $capacity:expr) => {
        impl<T: Send> Sends<T> for $kind::$sender<T> {
            fn send(&self, value: T) -> Result<(), SendError<T>> {
                Self::send(self, value)
            }
            fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
                Self::try_send(self, value)
            }
            fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
                Self::send_timeout(self, value, timeout)
            }
            fn send_async<'a>(&'a self, value: T) -> BoxedFuture<'a, Result<(), SendError<T>>>
            where
                T: 'a,
            {
                Box::pin(Self::send_async(self, value))
            }
            fn send_evt<'a>(&'a self, value: T) -> BoxedEvent<'a, Result<(), SendError<T>>>
            where
                T: 'a,
            {
                Self::send_evt(self, value).boxed()
            }
            closes!();
            fn capacity(&self) -> Option<usize> {
                ($capacity)(self)
            }
        }
    };
}

/// The sending end of a kind whose sends never wait.
macro_rules! leaves {
    ($sender:ident of $kind:ident, capacity $capacity:expr) => {
        impl<T: Send + Sync> Sends<T> for $kind::$sender<T> {
            leaves!(@calls $capacity);
        }
    };
    ($sender:ident of $kind:ident) => {
        impl<T: Send> Sends<T> for $kind::$sender<T> {
            leaves!(@calls |_: &Self| None);
        }
    };
    (@calls $capacity:expr) => {
        fn send(&self, value: T) -> Result<(), SendError<T>> {
            Self::send(self, value).map(drop)
        }
        fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
            Self::send(self, value).map(drop).map_err(TrySendError::from)
        }
        fn send_timeout(&self, value: T, _: Duration) -> Result<(), SendTimeoutError<T>> {
            Self::send(self, value).map(drop).map_err(SendTimeoutError::from)
        }
        fn send_async<'a>(&'a self, value: T) -> BoxedFuture<'a, Result<(), SendError<T>>>
        where
            T: 'a,
        {
            Box::pin(async move { Self::send(self, value).map(drop) })
        }
        fn send_evt<'a>(&'a self, value: T) -> BoxedEvent<'a, Result<(), SendError<T>>>
        where
            T: 'a,
        {
            Self::send_evt(self, value).wrap(|sent| sent.map(drop)).boxed()
        }
        closes!();
        fn capacity(&self) -> Option<usize> {
            ($capacity)(self)
        }
    };
}

/// The receiving end of a kind.
macro_rules! receives {
    ($receiver:ident of $kind:ident, len $len:expr, capacity $capacity:expr $(, where T: $($bound:tt)+)?) => {
        impl<T: Send $(+ $($bound)+)?> Receives<T> for $kind::$receiver<T> {
            fn recv(&mut self) -> Result<T, RecvError> {
                Self::recv(self)
            }
            receives!(@others $len, $capacity);
        }
    };
    (@others $len:expr, $capacity:expr) => {
            fn try_recv(&mut self) -> Result<T, TryRecvError> {
                Self::try_recv(self)
            }
            fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                Self::recv_timeout(self, timeout)
            }
            fn recv_async<'a>(&'a mut self) -> BoxedFuture<'a, Result<T, RecvError>>
            where
                T: 'a,
            {
                Box::pin(Self::recv_async(self))
            }
            fn recv_evt<'a>(&'a mut self) -> BoxedEvent<'a, Result<T, RecvError>>
            where
                T: 'a,
            {
                Self::recv_evt(self).boxed()
            }
            closes!(mut);
            fn len(&self) -> usize {
                ($len)(self)
            }
            fn capacity(&self) -> Option<usize> {
                ($capacity)(self)
            }
    };
}

waits!(Sender of rendezvous, capacity |_: &Self| Some(0));
waits!(Sender of bounded, capacity |tx: &Self| Some(tx.capacity()));
waits!(Sender of channel_of, capacity |tx: &Self| tx.capacity());
leaves!(Sender of unbounded);
leaves!(Sender of mailbox);
leaves!(Sender of broadcast, capacity |tx: &Self| Some(tx.capacity()));
leaves!(Sender of multicast, capacity |_: &Self| None);

receives!(Receiver of rendezvous, len |_: &Self| 0, capacity |_: &Self| Some(0));
receives!(Receiver of bounded, len |rx: &Self| rx.len(), capacity |rx: &Self| Some(rx.capacity()));
receives!(Receiver of channel_of, len |rx: &Self| rx.len(), capacity |rx: &Self| rx.capacity());
receives!(Receiver of unbounded, len |rx: &Self| rx.len(), capacity |_: &Self| None);
receives!(Receiver of mailbox, len |rx: &Self| rx.len(), capacity |_: &Self| None);
receives!(Receiver of multicast, len |rx: &Self| rx.count_unread(), capacity |_: &Self| None, where T: Sync + Clone);

impl<T: Send> Receives<T> for oneshot::Receiver<T> {
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }
    receives!(@others |rx: &Self| usize::from(!rx.is_empty()), |_: &Self| Some(1));
}

impl<T: Send + Sync + Clone> Receives<Result<T, broadcast::RecvError>> for broadcast::Receiver<T> {
    fn recv(&mut self) -> Result<Result<T, broadcast::RecvError>, RecvError> {
        item(Self::recv(self))
    }
    fn try_recv(&mut self) -> Result<Result<T, broadcast::RecvError>, TryRecvError> {
        match Self::try_recv(self) {
            Ok(value) => Ok(Ok(value)),
            Err(broadcast::TryRecvError::Lagged(missed)) => Ok(Err(broadcast::RecvError::Lagged(missed))),
            Err(broadcast::TryRecvError::Empty) => Err(TryRecvError::Empty),
            Err(broadcast::TryRecvError::Disconnected) => Err(TryRecvError::Disconnected),
        }
    }
    fn recv_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Result<T, broadcast::RecvError>, RecvTimeoutError> {
        match Self::recv_timeout(self, timeout) {
            Ok(value) => Ok(Ok(value)),
            Err(broadcast::RecvTimeoutError::Lagged(missed)) => Ok(Err(broadcast::RecvError::Lagged(missed))),
            Err(broadcast::RecvTimeoutError::Timeout) => Err(RecvTimeoutError::Timeout),
            Err(broadcast::RecvTimeoutError::Disconnected) => Err(RecvTimeoutError::Disconnected),
        }
    }
    fn recv_async<'a>(&'a mut self) -> BoxedFuture<'a, Result<Result<T, broadcast::RecvError>, RecvError>>
    where
        T: 'a,
    {
        let received = Self::recv_async(self);
        Box::pin(async move { item(received.await) })
    }
    fn recv_evt<'a>(&'a mut self) -> BoxedEvent<'a, Result<Result<T, broadcast::RecvError>, RecvError>>
    where
        T: 'a,
    {
        Self::recv_evt(self).wrap(item).boxed()
    }
    closes!(mut);
    fn len(&self) -> usize {
        usize::try_from(Self::len(self)).unwrap_or(usize::MAX)
    }
    fn capacity(&self) -> Option<usize> {
        Some(Self::capacity(self))
    }
}

/// What a broadcast's receiver gives, with the end apart, as in its iterator.
fn item<T>(received: Result<T, broadcast::RecvError>) -> Result<Result<T, broadcast::RecvError>, RecvError> {
    match received {
        Err(broadcast::RecvError::Disconnected) => Err(RecvError),
        received => Ok(received),
    }
}

/// Passes each call on.
macro_rules! sends_through {
    ($($pointer:ty),+) => {$(
        impl<T, S: Sends<T> + ?Sized> Sends<T> for $pointer {
            fn send(&self, value: T) -> Result<(), SendError<T>> {
                (**self).send(value)
            }
            fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
                (**self).try_send(value)
            }
            fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
                (**self).send_timeout(value, timeout)
            }
            fn send_async<'a>(&'a self, value: T) -> BoxedFuture<'a, Result<(), SendError<T>>>
            where
                T: 'a,
            {
                (**self).send_async(value)
            }
            fn send_evt<'a>(&'a self, value: T) -> BoxedEvent<'a, Result<(), SendError<T>>>
            where
                T: 'a,
            {
                (**self).send_evt(value)
            }
            fn close(&self) -> bool {
                (**self).close()
            }
            fn is_closed(&self) -> bool {
                (**self).is_closed()
            }
            fn capacity(&self) -> Option<usize> {
                (**self).capacity()
            }
        }
    )+};
}

sends_through!(&S, Box<S>, Arc<S>);

/// Passes each call on.
macro_rules! receives_through {
    ($($pointer:ty),+) => {$(
        impl<T, R: Receives<T> + ?Sized> Receives<T> for $pointer {
            fn recv(&mut self) -> Result<T, RecvError> {
                (**self).recv()
            }
            fn try_recv(&mut self) -> Result<T, TryRecvError> {
                (**self).try_recv()
            }
            fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                (**self).recv_timeout(timeout)
            }
            fn recv_async<'a>(&'a mut self) -> BoxedFuture<'a, Result<T, RecvError>>
            where
                T: 'a,
            {
                (**self).recv_async()
            }
            fn recv_evt<'a>(&'a mut self) -> BoxedEvent<'a, Result<T, RecvError>>
            where
                T: 'a,
            {
                (**self).recv_evt()
            }
            fn close(&mut self) -> bool {
                (**self).close()
            }
            fn is_closed(&self) -> bool {
                (**self).is_closed()
            }
            fn len(&self) -> usize {
                (**self).len()
            }
            fn is_empty(&self) -> bool {
                (**self).is_empty()
            }
            fn capacity(&self) -> Option<usize> {
                (**self).capacity()
            }
        }
    )+};
}

receives_through!(&mut R, Box<R>);
