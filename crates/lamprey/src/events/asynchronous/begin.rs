//! The implicit thread: a parasite that synchronises, and a stackful one for the functions applied to the
//! result.
//!
//! # Invariant
//! The caller makes the first poll, within [`begin`]; no budget, penalty or offer to another worker delays
//! it, or an operation in it, as it may for other parasites. So the offers of one thread are queued in the order of its calls.
//!
//! # Cancellation
//! If a peer has decided by then, the communication has happened, and the thread that cancels receives its
//! result ([`LastWord`]).

use super::Pending;
use crate::events::Event;
use crate::events::protocol::Synced;
use crate::parasite::{LastWord, ParasiteHandle, parasite_at_once, parasite_fn};
use crate::thread::JoinError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// A result, or the function that computes it.
#[doc(hidden)]
pub enum Matter<T> {
    Plain(T),
    /// The `a_wrap`s: code of the program that may block.
    Work(Box<dyn FnOnce() -> T + Send>),
}

impl<T> Matter<T> {
    /// The result; runs the function here.
    pub(super) fn value(self) -> T {
        match self {
            Self::Plain(value) => value,
            Self::Work(work) => work(),
        }
    }
}

impl<T> std::fmt::Debug for Matter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Self::Plain(_)) { "Plain" } else { "Work" })
    }
}

/// Starts the implicit thread.
#[track_caller]
pub(super) fn begin<E, T>(event: E) -> Pending<T>
where
    E: Event<Output = Matter<T>, Branch: Send> + Send + 'static,
    T: Send + 'static,
{
    Pending::new(parasite_at_once(Begun::Synchronises(event.into_future())))
}

/// The future of the implicit thread.
enum Begun<E: Event, T> {
    Synchronises(Synced<E>),
    /// Between the two: the branches that have lost are dropped before the work begins.
    Turns,
    Works(ParasiteHandle<T>),
}

impl<E: Event<Output = Matter<T>>, T> Begun<E, T> {
    fn stage(self: Pin<&mut Self>) -> Result<Pin<&mut Synced<E>>, &mut Self> {
        // SAFETY: the synchronisation is pinned with this future and dropped in place; everything else may
        // move.
        unsafe {
            match self.get_unchecked_mut() {
                Self::Synchronises(synced) => Ok(Pin::new_unchecked(synced)),
                other => Err(other),
            }
        }
    }
}

impl<E: Event<Output = Matter<T>>, T: Send + 'static> Future for Begun<E, T> {
    type Output = Result<T, JoinError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Ok(synced) = self.as_mut().stage() {
            match ready!(synced.poll_at_once(context)) {
                Matter::Plain(value) => return Poll::Ready(Ok(value)),
                Matter::Work(work) => {
                    self.set(Self::Turns);
                    self.set(Self::Works(parasite_fn(work)));
                }
            }
        }
        let Err(Self::Works(handle)) = self.stage() else { unreachable!("the work has begun") };
        match ready!(Pin::new(handle).poll(context)) {
            // Passes the panic to the thread that asks for the result, or to the report of panics that are
            // not joined.
            Err(JoinError::Panicked(panic)) => panic.resume(),
            outcome => Poll::Ready(outcome),
        }
    }
}

/// A communication that has happened is not undone. If the function for its result has not run, that and the
/// result are dropped.
impl<E: Event<Output = Matter<T>>, T: Send + 'static> LastWord for Begun<E, T> {
    fn last_word(self: Pin<&mut Self>) -> Option<Self::Output> {
        match self.stage() {
            Ok(synced) => match synced.last_word()? {
                Matter::Plain(value) => Some(Ok(value)),
                Matter::Work(_) => None,
            },
            Err(Self::Works(handle)) if handle.is_done() => {
                let mut context = Context::from_waker(Waker::noop());
                match Pin::new(handle).poll(&mut context) {
                    Poll::Ready(outcome) => Some(outcome),
                    Poll::Pending => None,
                }
            }
            Err(_) => None,
        }
    }
}
