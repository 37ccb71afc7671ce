//! The result of an asynchronous event.

use crate::events::algebra::awaitable;
use crate::events::{Event, FutureEvt, future_evt};
use crate::parasite::ParasiteHandle;
use crate::parasite::wait_or;
use crate::thread::JoinError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What an asynchronous event will give: itself an event, that happens once the communication and its
/// `a_wrap`s have.
///
/// The result is that, or why the implicit thread has none: the panic of an `a_wrap`, or
/// [`JoinError::Cancelled`] where its runtime has ended.
///
/// **Dropping it, or losing a choice with it, detaches**: what has begun goes on, and its result is dropped
/// when it comes (a value that an [`a_recv_evt`](crate::Receiver::a_recv_evt) receives, too). To keep it over
/// a choice that it may lose, choose [`result_evt`](Self::result_evt); to take the communication back,
/// [`cancel`](Self::cancel).
///
/// # Cancellation
/// A thread that is cancelled while it waits for the result returns it if it has come by then; else it
/// detaches, and unwinds.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::event::{AsyncEvent, Event};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let ((), mut number) = rx.a_recv_evt().a_sync();
///     assert!(number.result_evt().sync_timeout(Duration::from_millis(1)).is_none());
///     tx.send(5).unwrap();
///     assert_eq!(number.sync().unwrap(), Ok(5));
/// });
/// ```
pub struct Pending<T>(Implicit<T>);

/// The implicit thread, whose end detaches it. Empty once it has given its result.
#[doc(hidden)]
pub struct Implicit<T>(Option<ParasiteHandle<Result<T, JoinError>>>);

awaitable!({T} Pending<T>, Result<T, JoinError>);

impl<T> Pending<T> {
    pub(super) fn new(handle: ParasiteHandle<Result<T, JoinError>>) -> Self {
        Self(Implicit(Some(handle)))
    }

    /// The same event, without giving up the result if it is not chosen: another synchronisation may have it.
    ///
    /// # Panics
    /// The synchronisation, if there was one before that gave the result.
    pub fn result_evt(&mut self) -> FutureEvt<&mut Implicit<T>> {
        future_evt(&mut self.0)
    }

    /// True once the result is there.
    pub fn is_finished(&self) -> bool {
        self.0.0.as_ref().is_none_or(ParasiteHandle::is_finished)
    }

    /// Takes the communication back, or ends what is done with its result, and waits for that. What was to be
    /// sent is dropped.
    ///
    /// # Errors
    /// [`JoinError::Cancelled`] is what is expected: the communication has not happened (or an
    /// [`a_wrap`](crate::event::AsyncEvent::a_wrap) was ended, before or while it ran; or some part of a
    /// `choose_all` has not happened). `Ok` is the result, which was faster: what a peer has chosen by now
    /// has happened.
    ///
    /// # Cancellation
    /// As for [`ParasiteHandle::cancel`].
    ///
    /// # Blocking
    /// As for [`ParasiteHandle::cancel`].
    pub fn cancel(mut self) -> Result<T, JoinError> {
        self.0.0.take().map_or(Err(JoinError::Cancelled), |handle| handle.cancel().flatten())
    }
}

impl<T> Event for Pending<T> {
    type Branch = <FutureEvt<Implicit<T>> as Event>::Branch;

    fn branch(self) -> Self::Branch {
        future_evt(self.0).branch()
    }

    fn sync(mut self) -> Result<T, JoinError> {
        match self.0.0.take() {
            Some(handle) if handle.is_done() => handle.join().flatten(),
            // What is there by the time of a cancellation is returned, not dropped.
            handle => wait_or(Implicit(handle), false, |implicit| implicit.get_mut().take_if_finished()),
        }
    }
}

impl<T> Implicit<T> {
    fn take_if_finished(&mut self) -> Option<Result<T, JoinError>> {
        let handle = self.0.take_if(|handle| handle.is_done())?;
        Some(handle.join().flatten())
    }
}

impl<T> Future for Implicit<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(handle) = &mut self.0 else { panic!("a result was asked for after it had been given") };
        let outcome = Pin::new(handle).poll(context).map(Result::flatten);
        if outcome.is_ready() {
            self.0 = None;
        }
        outcome
    }
}

impl<T> Drop for Implicit<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.detach();
        }
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_done = self.0.0.as_ref().is_none_or(ParasiteHandle::is_done);
        f.debug_struct("Pending").field("finished", &is_done).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Implicit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Implicit")
    }
}
