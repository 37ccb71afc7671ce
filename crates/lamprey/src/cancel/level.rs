//! A part of what a thread does that can be cancelled by itself: the frame around it, and what its end means.

use crate::sched;
use crate::sched::block::CancelUnwind;
use crate::sched::cancel::{Frame, within};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The part was cancelled, and has unwound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelCancelled;

/// What a part left behind: its value, or what it unwound with.
pub(crate) type Left<R> = Result<R, Box<dyn Any + Send>>;

/// Runs `inside`; it does not unwind from here.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn caught<R>(inside: impl FnOnce() -> R) -> Left<R> {
    catch_unwind(AssertUnwindSafe(inside))
}

/// Runs `inside` within `frame`; it does not unwind from here.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn run<R>(frame: &Frame, inside: impl FnOnce() -> R) -> Left<R> {
    within(frame, || caught(inside))
}

/// What has become of a part whose frame has been left: its value, or [`LevelCancelled`] if its own
/// cancellation has ended it. A part that has a value has not been cancelled, whatever came after that.
///
/// # Errors
/// What is to go on from here: an unwind that was for something further out, or a panic.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn settle<R>(frame: &Frame, left: Left<R>) -> Left<Result<R, LevelCancelled>> {
    match left {
        Ok(value) => Ok(Ok(value)),
        Err(payload) => settle_unwound(frame, payload).map(Err),
    }
}

#[cold]
fn settle_unwound(frame: &Frame, payload: Box<dyn Any + Send>) -> Left<LevelCancelled> {
    let is_ours = payload.is::<CancelUnwind>() && frame.is_cancelled() && !sched::is_cancelled();
    if is_ours { Ok(LevelCancelled) } else { Err(payload) }
}
