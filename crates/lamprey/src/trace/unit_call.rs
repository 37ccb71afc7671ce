//! The calls that have no result: `yield_`, `fork`, `ret`, `lock`, `unlock`.

use super::call::Request;
use super::slot::{Aim, Slot};
use super::thread::Trace;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of a system call without a result: [`yield_`], [`fork`], [`lock`](super::lock),
/// [`unlock`](super::unlock).
#[must_use = "a system call is made when it is awaited"]
pub struct UnitCall<A> {
    /// None when the call has been made.
    what: Option<A>,
}

/// What a call is about.
pub trait What: Unpin {
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn into_request(self) -> Request;
}

impl<A: What> UnitCall<A> {
    pub(super) fn new(what: A) -> Self {
        Self { what: Some(what) }
    }
}

impl<A: What> Future for UnitCall<A> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let slot = Slot::of(context);
        match self.what.take() {
            None if slot.aim.get() == Aim::Run => Poll::Ready(()),
            None => Poll::Pending,
            Some(what) => {
                self.what = slot.ask(what, A::into_request);
                Poll::Pending
            }
        }
    }
}

impl<A> fmt::Debug for UnitCall<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitCall").field("is_made", &self.what.is_none()).finish()
    }
}

/// [`yield_`].
#[derive(Debug)]
pub struct Yield;

impl What for Yield {
    #[allow(private_interfaces)]
    fn into_request(self) -> Request {
        Request::Yield
    }
}

impl What for Trace {
    #[allow(private_interfaces)]
    fn into_request(self) -> Request {
        Request::Fork(self)
    }
}

/// Lets other threads run first, if the scheduler has any.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn yield_() -> UnitCall<Yield> {
    UnitCall::new(Yield)
}

/// Starts another thread, which does what `child` says. Which of the two goes on first is up to the scheduler.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn fork(child: impl Future<Output = ()> + Send + 'static) -> UnitCall<Trace> {
    UnitCall::new(Trace::new(child))
}

/// Ends the thread: its destructors run, nothing after this does.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn ret<T>() -> Ret<T> {
    Ret { value: PhantomData }
}

/// A future that is never ready: see [`ret`].
#[must_use = "a system call is made when it is awaited"]
pub struct Ret<T> {
    value: PhantomData<fn() -> T>,
}

impl<T> Future for Ret<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Slot::of(context).ask((), |()| Request::Ret);
        Poll::Pending
    }
}

impl<T> fmt::Debug for Ret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ret").finish_non_exhaustive()
    }
}
