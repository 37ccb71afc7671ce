//! The result of an asynchronous event.

use crate::events::algebra::awaitable;
use crate::events::{Event, FutureEvt, future_evt};
use crate::parasite::ParasiteHandle;
use crate::parasite::wait_or;
use crate::sched::completion::Ended;
use crate::sched::unwind_cancelled;
use crate::thread::JoinError;
use crate::time::{self, TimedOut};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The result of an asynchronous event: itself an event, which happens once the communication and its
/// `a_wrap`s are done.
///
/// It gives the result, or the reason why the implicit thread has none: the panic of an `a_wrap`, or
/// [`JoinError::Cancelled`] if its runtime has ended.
///
/// # Dropping
/// Detaches, and so does losing a choice with it: what has begun goes on, and its result is dropped when it
/// comes (a value that an [`a_recv_evt`](crate::Receiver::a_recv_evt) receives, too). To keep it over a
/// choice that it may lose, choose [`join_evt`](Self::join_evt); to take the communication back,
/// [`cancel`](Self::cancel) it.
///
/// # Cancellation
/// A thread that is cancelled while it waits for the result returns the result if it is available by then;
/// otherwise it detaches and unwinds.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::event::{AsyncEvent, Event};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let ((), mut number) = rx.a_recv_evt().a_sync();
///     assert!(number.join_evt().sync_timeout(Duration::from_millis(1)).is_none());
///     tx.send(5).unwrap();
///     assert_eq!(number.sync().unwrap(), Ok(5));
/// });
/// ```
#[doc(alias = "Promise")]
#[doc(alias = "Future")]
pub struct Pending<T>(Implicit<T>);

/// The handle of the implicit thread; dropping it detaches the thread. Empty once it has returned its result.
#[doc(hidden)]
pub struct Implicit<T>(Option<ParasiteHandle<Result<T, JoinError>>>);

awaitable!({T} Pending<T>, Result<T, JoinError>);

impl<T> Pending<T> {
    pub(super) fn new(handle: ParasiteHandle<Result<T, JoinError>>) -> Self {
        Self(Implicit(Some(handle)))
    }

    /// Waits for the result: [`sync`](Event::sync) under the name that handles of threads have.
    ///
    /// # Errors
    /// See [`JoinError`].
    ///
    /// # Panics
    /// If the result has been given before.
    ///
    /// # Cancellation
    /// A result that has come by the time of the cancellation is returned; else it detaches, and unwinds.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn join(self) -> Result<T, JoinError> {
        self.sync()
    }

    /// As [`join`](Self::join), waiting at most `timeout`. The result is given up by `Ok` only.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use lamprey::event::AsyncEvent;
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let ((), mut number) = rx.a_recv_evt().a_sync();
    ///     assert!(number.join_timeout(Duration::from_millis(1)).is_err());
    ///     tx.send(5).unwrap();
    ///     assert_eq!(number.join_timeout(Duration::from_secs(60)).unwrap().unwrap(), Ok(5));
    /// });
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`] if there is no result by then: what has begun goes on. Within the `Ok`, as
    /// [`join`](Self::join).
    ///
    /// # Panics
    /// If the result has been given before.
    ///
    /// # Cancellation
    /// As [`join`](Self::join), but that this is left as it was.
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn join_timeout(&mut self, timeout: Duration) -> Result<Result<T, JoinError>, TimedOut> {
        let Some(handle) = &self.0.0 else { panic!("a result was asked for after it had been given") };
        match handle.wait_until(time::deadline(timeout)) {
            Ended::Done => {}
            Ended::Cancelled if handle.is_done() => {}
            Ended::TimedOut => return Err(TimedOut),
            Ended::Cancelled => unwind_cancelled(),
            Ended::Unwinding => return Ok(Err(handle.unwinding())),
        }
        Ok(self.0.take_if_finished().unwrap_or_else(|| Err(JoinError::cancelled())))
    }

    /// The same event, without giving up the result if it is not chosen: another synchronisation may have it.
    ///
    /// # Panics
    /// The synchronisation, if there was one before that gave the result.
    pub fn join_evt(&mut self) -> FutureEvt<&mut Implicit<T>> {
        future_evt(&mut self.0)
    }

    /// True once the result is available.
    pub fn is_finished(&self) -> bool {
        self.0.0.as_ref().is_none_or(ParasiteHandle::is_finished)
    }

    /// Asks to take the communication back, or to end what is done with its result, and returns. What was to
    /// be sent is dropped. [`sync`](Event::sync) then gives [`JoinError::Cancelled`], or the result if that
    /// was faster: what a peer has chosen by now has happened. After the result has been given it does
    /// nothing.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{AsyncEvent, Event};
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let ((), sent) = tx.a_send_evt(5).a_sync();
    ///     sent.cancel();
    ///     assert!(matches!(sent.sync(), Err(lamprey::JoinError::Cancelled(_))));
    ///     assert!(rx.try_recv().is_err(), "5 has been taken back");
    /// });
    /// ```
    ///
    /// # Blocking
    /// Never: it does not wait for the end. From hosts, parasites and OS threads.
    pub fn cancel(&self) {
        if let Some(handle) = &self.0.0 {
            handle.cancel();
        }
    }

    /// [Cancels](Self::cancel) it, and waits for the end of what has begun.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::AsyncEvent;
    ///
    /// lamprey::run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     let ((), sent) = tx.a_send_evt(5).a_sync();
    ///     assert_eq!(rx.recv(), Ok(5));
    ///     assert!(matches!(sent.cancel_and_join(), Ok(Ok(())))); // it had happened
    /// });
    /// ```
    ///
    /// # Errors
    /// [`JoinError::Cancelled`] is the usual one: the communication has not happened (or an
    /// [`a_wrap`](crate::event::AsyncEvent::a_wrap) was ended, before or while it ran; or some part of a
    /// `choose_all` has not happened). `Ok` is the result, which was faster: what a peer has chosen by now
    /// has happened.
    ///
    /// # Cancellation
    /// As for [`ParasiteHandle::join`].
    ///
    /// # Blocking
    /// As for [`ParasiteHandle::join`].
    pub fn cancel_and_join(mut self) -> Result<T, JoinError> {
        self.0
            .0
            .take()
            .map_or_else(|| Err(JoinError::cancelled()), |handle| handle.cancel_and_join().flatten())
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
            // A cancelled thread returns a result that is available by then.
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
