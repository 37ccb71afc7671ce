//! [`IntoStream`]: one future after the other.
//!
//! # Invariants
//! The receiver is in `receiver`, or, while a receive is pending, in `future`. The future is dropped in its place before the receiver is
//! used again, and a dropped receive of Lamprey's has taken nothing.

use futures_core::stream::{FusedStream, Stream};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What a receive has brought.
#[derive(Debug)]
pub enum Next<R: IntoStream> {
    /// An item, and the receiver of the next one.
    Item(R::Item, R),
    /// The last item.
    Last(R::Item),
    /// There was none.
    End,
}

/// What gives one value after the other, and so is a stream. The [module](super) has a table of all that is in `lamprey`.
pub trait IntoStream: Send + Sized {
    /// What the stream gives.
    type Item: Send;

    /// Waits for the next item. A future that is dropped has taken nothing.
    fn next_item(self) -> impl Future<Output = Next<Self>> + Send;

    /// The stream.
    ///
    /// # Examples
    /// By reference:
    /// ```
    /// use futures::StreamExt;
    /// use lamprey_compat::stream::IntoStream;
    ///
    /// lamprey::run(|| {
    ///     let (tx, mut rx) = lamprey::mailbox();
    ///     (1..=4).for_each(|n| tx.send(n).unwrap());
    ///     let two = (&mut rx).into_stream().take(2).collect::<Vec<_>>();
    ///     assert_eq!(lamprey::wait(two), [1, 2]);
    ///     assert_eq!(rx.recv(), Ok(3));
    /// });
    /// ```
    ///
    /// # Cancellation
    /// A stream that is dropped, between two items or while it waits, has taken no value that it has not given.
    ///
    /// # Blocking
    /// Never; the stream is pending meanwhile. It may be polled by any executor, on any thread.
    fn into_stream<'a>(self) -> ReceiverStream<'a, Self::Item>
    where
        Self: 'a,
    {
        ReceiverStream(Box::pin(self.stream_in_place()))
    }

    /// [`into_stream`](Self::into_stream) without its allocation: the stream has to be pinned before it is polled. Polled in a
    /// parasite, or in [`lamprey::wait()`], of whose future it is a part, it allocates nothing when it waits, either.
    ///
    /// # Examples
    /// ```
    /// use futures::StreamExt;
    /// use lamprey_compat::stream::IntoStream;
    /// use std::pin::pin;
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let sum = lamprey::parasite(async move {
    ///         let mut sum = 0;
    ///         let mut values = pin!(rx.stream_in_place());
    ///         while let Some(n) = values.next().await {
    ///             sum += n;
    ///         }
    ///         sum
    ///     });
    ///     (1..=4).for_each(|n| tx.send(n).unwrap());
    ///     drop(tx);
    ///     assert_eq!(sum.join().unwrap(), 10);
    /// });
    /// ```
    ///
    /// # Cancellation
    /// As for `into_stream`.
    ///
    /// # Blocking
    /// Never, as `into_stream`.
    fn stream_in_place(self) -> impl FusedStream<Item = Self::Item> + Send {
        Receiving { receiver: Some(self), make: Self::next_item, future: None }
    }
}

/// The stream of a receiver: see [`IntoStream::into_stream`].
#[must_use = "a stream does nothing until it is polled"]
pub struct ReceiverStream<'a, T>(Pin<Box<dyn FusedStream<Item = T> + Send + 'a>>);

pin_project! {
    struct Receiving<R, M, F> {
        receiver: Option<R>,
        make: M,
        #[pin]
        future: Option<F>,
    }
}

impl<R, M, F> Stream for Receiving<R, M, F>
where
    R: IntoStream,
    M: Fn(R) -> F,
    F: Future<Output = Next<R>>,
{
    type Item = R::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<R::Item>> {
        let mut this = self.project();
        if let Some(receiver) = this.receiver.take() {
            this.future.set(Some((this.make)(receiver)));
        }
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        let next = ready!(future.poll(cx));
        this.future.set(None);
        Poll::Ready(match next {
            Next::Item(item, receiver) => {
                *this.receiver = Some(receiver);
                Some(item)
            }
            Next::Last(item) => Some(item),
            Next::End => None,
        })
    }
}

impl<R, M, F> FusedStream for Receiving<R, M, F>
where
    R: IntoStream,
    M: Fn(R) -> F,
    F: Future<Output = Next<R>>,
{
    fn is_terminated(&self) -> bool {
        self.receiver.is_none() && self.future.is_none()
    }
}

impl<T> Stream for ReceiverStream<'_, T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.get_mut().0.as_mut().poll_next(cx)
    }
}

impl<T> FusedStream for ReceiverStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.0.is_terminated()
    }
}

impl<T> fmt::Debug for ReceiverStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiverStream")
    }
}
