//! Exceptions: `throw` and `catch`.
//!
//! The handlers of a thread are the `catch`es around the place where it is, so the thread's future is the
//! paper's stack of handlers (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, 4.3). A
//! scheduler that lets an exception be thrown
//! ([`Throw::raise`]) polls the thread: the `throw` says that it is the one, and the first `catch` on the way
//! out drops its body.

use super::call::{Answer, Exception, Request};
use super::slot::{Aim, Slot};
use super::thread::Trace;
use super::unit_call::{UnitCall, What};
use std::fmt;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Throws an exception to the innermost [`catch`]; without one, to the scheduler.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn throw<T>(exception: impl Into<Exception>) -> ThrowCall<T> {
    ThrowCall { exception: Some(exception.into()), value: PhantomData }
}

/// A future that is never ready: see [`throw`].
#[must_use = "a system call is made when it is awaited"]
pub struct ThrowCall<T> {
    exception: Option<Exception>,
    value: PhantomData<fn() -> T>,
}

impl<T> Future for ThrowCall<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let slot = Slot::of(context);
        if let Some(exception) = self.exception.take() {
            self.exception = slot.ask(exception, Request::Throw);
        } else if slot.aim.get() == Aim::Raise {
            slot.aim.set(Aim::Raising);
        }
        Poll::Pending
    }
}

impl<T> fmt::Debug for ThrowCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrowCall").finish_non_exhaustive()
    }
}

/// The value of `result`; an error is thrown.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub async fn or_throw<T, E: Into<Exception>>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => throw(error).await,
    }
}

/// Does what `body` says. If that throws, its destructors run, and then what `handler` makes of the exception.
///
/// # Examples
/// ```
/// use lamprey::trace::{Call, Trace, catch, throw};
///
/// let trace = Trace::new(async {
///     let port = catch(async { throw("no port").await }, |exception| async move {
///         assert_eq!(exception.to_string(), "no port");
///         80
///     });
///     assert_eq!(port.await, 80);
/// });
/// let Call::Catch(rest) = trace.step() else { panic!("another call") };
/// let Call::Throw(throw) = rest.step() else { panic!("another call") };
/// let rest = throw.raise().expect("there is a handler");
/// assert!(matches!(rest.step(), Call::Ret));
/// ```
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub async fn catch<T, H: Future<Output = T>>(
    body: impl Future<Output = T>,
    handler: impl FnOnce(Exception) -> H,
) -> T {
    UnitCall::new(Enter).await;
    let outcome = {
        let mut body = pin!(body);
        std::future::poll_fn(|context| {
            if let Poll::Ready(value) = body.as_mut().poll(context) {
                return Poll::Ready(Ok(value));
            }
            let slot = Slot::of(context);
            match (slot.aim.get() == Aim::Raising).then(|| slot.answer.take()) {
                Some(Some(Answer::Exception(exception))) => {
                    slot.aim.set(Aim::Reached);
                    Poll::Ready(Err(exception))
                }
                _ => Poll::Pending,
            }
        })
        .await
    };
    match outcome {
        Ok(value) => value,
        Err(exception) => handler(exception).await,
    }
}

/// Tells the scheduler of a `catch`.
struct Enter;

impl What for Enter {
    #[allow(private_interfaces)]
    fn into_request(self) -> Request {
        Request::Catch
    }
}

/// A thread that has thrown an exception.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub struct Throw {
    pub(super) exception: Exception,
    pub(super) trace: Trace,
}

impl Throw {
    /// What was thrown.
    pub fn exception(&self) -> &Exception {
        &self.exception
    }

    /// Hands the exception to the innermost handler: what it was to catch is dropped. The thread that is
    /// returned goes on in the handler.
    ///
    /// # Errors
    /// The exception, if no `catch` is around the `throw`. The thread has ended then, its destructors have run.
    ///
    /// # Panics
    /// If a destructor does.
    pub fn raise(self) -> Result<Trace, Exception> {
        match self.trace.resume(Aim::Raise, Some(Answer::Exception(self.exception))) {
            (_, Aim::Raise | Aim::Raising, Some(Answer::Exception(exception))) => Err(exception),
            (trace, ..) => Ok(trace),
        }
    }
}
