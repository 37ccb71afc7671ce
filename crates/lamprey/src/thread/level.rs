//! A part of what a thread does that can be cancelled by itself: the frame around it, and what its end means.

use crate::sched::block::CancelUnwind;
use crate::sched::cancel::{Frame, within};
use crate::sched::{self};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The part was cancelled, and has unwound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tripped;

/// What a part left behind: its value, or what it unwound with.
pub(crate) type Left<R> = Result<R, Box<dyn Any + Send>>;

/// Runs `inside` within `frame`; it does not unwind from here.
#[inline(always)]
pub(crate) fn run<R>(frame: &Frame, inside: impl FnOnce() -> R) -> Left<R> {
    within(frame, || catch_unwind(AssertUnwindSafe(inside)))
}

/// What has become of a part whose frame has been left. A part that has a value has not been cancelled, whatever came
/// after that.
///
/// # Errors
/// [`Tripped`] if its own cancellation has ended it. An unwind that was for something further out goes on from here, and so
/// does a panic.
#[inline(always)]
pub(crate) fn settle<R>(frame: &Frame, left: Left<R>) -> Result<R, Tripped> {
    left.or_else(|payload| settle_unwound(frame, payload))
}

#[cold]
fn settle_unwound<R>(frame: &Frame, payload: Box<dyn Any + Send>) -> Result<R, Tripped> {
    if payload.is::<CancelUnwind>() && frame.is_tripped() && !sched::is_cancelled() {
        return Err(Tripped);
    }
    resume_unwind(payload)
}
