//! [`IntoSink`]: a value is sent at once, or kept by a future until there is room.
//!
//! # Invariants
//! The sender is in `sender`, or, while a send is pending, in `future`: so a value is accepted only when no other one waits.

use futures_sink::Sink;
use lamprey::{SendError, TrySendError};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The sending end of a channel, which is a sink.
pub trait IntoSink<T: Send>: Send + Sized {
    /// Sends `value` if that need not wait.
    ///
    /// # Errors
    /// [`TrySendError`] with the value.
    fn send_now(&self, value: T) -> Result<(), TrySendError<T>>;

    /// Waits until `value` is sent.
    fn send_later(self, value: T) -> impl Future<Output = (Self, Result<(), SendError<T>>)> + Send;

    /// The sink.
    ///
    /// It keeps one value more than the channel: `start_send` sends at once if there is room, and otherwise keeps the value until there
    /// is; `poll_ready` and `poll_flush` are ready when it has been sent. `poll_close` then drops the sender.
    ///
    /// # Examples
    /// ```
    /// use futures::SinkExt;
    /// use lamprey_compat::stream::IntoSink;
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::unbounded();
    ///     let mut sink = tx.into_sink();
    ///     lamprey::wait(sink.send(1)).unwrap();
    ///     drop(rx);
    ///     assert_eq!(lamprey::wait(sink.send(2)), Err(lamprey::SendError(2)));
    /// });
    /// ```
    ///
    /// # Errors
    /// [`SendError`] with the value that has not been sent, when no receiver is left, the channel or the sink is closed, or
    /// `start_send` is called before `poll_ready` was ready.
    ///
    /// # Cancellation
    /// A sink that is dropped drops the value that it keeps; one that has been flushed keeps none.
    ///
    /// # Blocking
    /// Never; the sink is pending meanwhile. It may be polled by any executor, on any thread.
    fn into_sink<'a>(self) -> SenderSink<'a, T>
    where
        Self: 'a,
        T: 'a,
    {
        SenderSink(Box::pin(self.sink_in_place()))
    }

    /// [`into_sink`](Self::into_sink) without its allocation: the sink has to be pinned before it is used. Polled in a parasite, or in
    /// [`lamprey::wait()`], of whose future it is a part, it allocates nothing when it waits, either.
    ///
    /// # Errors
    /// As for `into_sink`.
    ///
    /// # Cancellation
    /// As for `into_sink`.
    ///
    /// # Blocking
    /// Never, as `into_sink`.
    fn sink_in_place(self) -> impl Sink<T, Error = SendError<T>> + Send {
        Sending { sender: Some(self), make: Self::send_later, future: None }
    }
}

/// The sink of a sender: see [`IntoSink::into_sink`].
#[must_use = "a sink does nothing until it is used"]
pub struct SenderSink<'a, T>(Pin<Box<dyn Sink<T, Error = SendError<T>> + Send + 'a>>);

pin_project! {
    struct Sending<S, M, F> {
        sender: Option<S>,
        make: M,
        #[pin]
        future: Option<F>,
    }
}

impl<T, S, M, F> Sink<T> for Sending<S, M, F>
where
    T: Send,
    S: IntoSink<T>,
    M: Fn(S, T) -> F,
    F: Future<Output = (S, Result<(), SendError<T>>)>,
{
    type Error = SendError<T>;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.poll_flush(cx)
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<T>> {
        let mut this = self.project();
        // A sink that is closed, or keeps a value, has no sender here.
        let Some(sender) = this.sender.as_ref() else { return Err(SendError(value)) };
        match sender.send_now(value) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(value)) => return Err(SendError(value)),
            Err(TrySendError::Full(value)) => {
                this.future.set(this.sender.take().map(|sender| (this.make)(sender, value)));
            }
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Ready(Ok(())) };
        let (sender, sent) = ready!(future.poll(cx));
        this.future.set(None);
        *this.sender = Some(sender);
        Poll::Ready(sent)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let sent = ready!(self.as_mut().poll_flush(cx));
        *self.project().sender = None;
        Poll::Ready(sent)
    }
}

impl<T> Sink<T> for SenderSink<'_, T> {
    type Error = SendError<T>;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.get_mut().0.as_mut().poll_ready(cx)
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<T>> {
        self.get_mut().0.as_mut().start_send(value)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.get_mut().0.as_mut().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.get_mut().0.as_mut().poll_close(cx)
    }
}

impl<T> fmt::Debug for SenderSink<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SenderSink")
    }
}
