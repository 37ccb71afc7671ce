//! What is done to an [`MVar`](super::MVar) under its lock, and the futures of that.

use super::{PUTTERS, PutError, TAKERS, TakeError};
use crate::channel::gate::{Gate, GateFuture, Op, Section, opaque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub(super) enum MVarState<T> {
    Empty,
    Full(T),
    /// A reader clones the value.
    Lent,
}

impl<T> MVarState<T> {
    fn take(&mut self) -> Option<T> {
        match std::mem::replace(self, Self::Empty) {
            Self::Full(value) => Some(value),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// One try to take the value.
pub(super) struct TakeOp;

impl<T> Op<MVarState<T>> for TakeOp {
    type Output = Result<T, TakeError>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, MVarState<T>>) -> Option<Self::Output> {
        if section.reserved(TAKERS) > 0 {
            return None;
        }
        let value = section.state.take()?;
        section.offer(PUTTERS, 1);
        Some(Ok(value))
    }
}

/// One try to put the value.
pub(super) struct PutOp<T>(pub(super) Option<T>);

impl<T> Op<MVarState<T>> for PutOp<T> {
    type Output = Result<(), PutError<T>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, MVarState<T>>) -> Option<Self::Output> {
        if section.reserved(PUTTERS) > 0 || !matches!(section.state, MVarState::Empty) {
            return None;
        }
        *section.state = MVarState::Full(self.0.take()?);
        section.offer(TAKERS, 1);
        Some(Ok(()))
    }
}

/// One try to exchange the value for another.
pub(super) struct SwapOp<T>(pub(super) Option<T>);

impl<T> Op<MVarState<T>> for SwapOp<T> {
    type Output = Result<T, PutError<T>>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, MVarState<T>>) -> Option<Self::Output> {
        if section.reserved(TAKERS) > 0 {
            return None;
        }
        let old = section.state.take()?;
        *section.state = MVarState::Full(self.0.take()?);
        section.offer(TAKERS, 1);
        Some(Ok(old))
    }
}

/// One try to borrow the value. It stays in the variable for those to which it has been granted.
pub(super) struct LendOp;

impl<T> Op<MVarState<T>> for LendOp {
    type Output = T;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&mut self, section: &mut Section<'_, MVarState<T>>) -> Option<T> {
        let value = section.state.take()?;
        *section.state = MVarState::Lent;
        Some(value)
    }
}

/// A value that is being read. It goes back when this is dropped, also if `clone` panics.
pub(super) struct Loan<'a, T> {
    gate: &'a Gate<MVarState<T>>,
    value: Option<T>,
}

impl<T: Clone> Loan<'_, T> {
    pub(super) fn read(gate: &Gate<MVarState<T>>, value: T) -> T {
        let loan = Loan { gate, value: Some(value) };
        loan.value.clone().unwrap_or_else(|| crate::bug::bug!("the value of an MVar was lent twice"))
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        let value = &mut self.value;
        self.gate.with(|section| {
            if let Some(value) = value.take() {
                *section.state = MVarState::Full(value);
                section.offer(TAKERS, 1);
            }
        });
    }
}

/// The future of [`MVar::read_async`](super::MVar::read_async).
#[must_use = "a future does nothing until it is awaited"]
pub struct ReadFuture<'a, T> {
    pub(super) gate: &'a Gate<MVarState<T>>,
    pub(super) lent: GateFuture<'a, MVarState<T>, LendOp>,
}

impl<T: Clone> Future for ReadFuture<'_, T> {
    type Output = Result<T, TakeError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let gate = self.gate;
        // SAFETY: `lent` is pinned with the whole: nothing moves it out, and there is no `Drop`.
        let lent = unsafe { self.map_unchecked_mut(|this| &mut this.lent) };
        let value = ready!(lent.poll(cx));
        Poll::Ready(Ok(Loan::read(gate, value)))
    }
}

opaque!(ReadFuture<'a, T>);
