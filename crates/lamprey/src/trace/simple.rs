//! The calls that carry nothing, and `fork`.

use super::call::Request;
use super::slot::{Aim, Slot};
use super::thread::Trace;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets other threads run first, if the scheduler has any.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn yield_() -> Yield {
    Yield { is_asked: false }
}

/// A future: see [`yield_`].
#[derive(Debug)]
#[must_use = "a system call is made when it is awaited"]
pub struct Yield {
    is_asked: bool,
}

impl Future for Yield {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let slot = Slot::of(context);
        if self.is_asked && slot.aim.get() == Aim::Run {
            return Poll::Ready(());
        }
        if !self.is_asked {
            self.is_asked = slot.ask(|| Request::Yield);
        }
        Poll::Pending
    }
}

/// Starts another thread, which does what `child` says. Which of the two goes on first is up to the scheduler.
///
/// # Panics
/// If it is awaited outside of a [`Trace`]'s thread, as all system calls.
pub fn fork(child: impl Future<Output = ()> + Send + 'static) -> Fork {
    Fork { child: Some(Trace::new(child)) }
}

/// A future: see [`fork`].
#[derive(Debug)]
#[must_use = "a system call is made when it is awaited"]
pub struct Fork {
    child: Option<Trace>,
}

impl Future for Fork {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let slot = Slot::of(context);
        match self.child.take() {
            Some(child) => {
                let mut child = Some(child);
                slot.ask(|| Request::Fork(child.take().expect("it has been taken once")));
                self.child = child;
                Poll::Pending
            }
            None if slot.aim.get() == Aim::Run => Poll::Ready(()),
            None => Poll::Pending,
        }
    }
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
        Slot::of(context).ask(|| Request::Ret);
        Poll::Pending
    }
}

impl<T> fmt::Debug for Ret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ret").finish_non_exhaustive()
    }
}
