//! Cancellation levels: running a call inside a frame that can be cancelled by itself, and reading its
//! outcome.

use crate::sched;
use crate::sched::block::CancelUnwind;
use crate::sched::cancel::{Frame, within};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The level was cancelled, and its call has unwound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelCancelled;

/// The outcome of a call: its value, or its unwind payload.
pub(crate) type Left<R> = Result<R, Box<dyn Any + Send>>;

/// Runs `inside` and catches its unwind.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn caught<R>(inside: impl FnOnce() -> R) -> Left<R> {
    catch_unwind(AssertUnwindSafe(inside))
}

/// Runs `inside` within `frame` and catches its unwind.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn run<R>(frame: &Frame, inside: impl FnOnce() -> R) -> Left<R> {
    within(frame, || caught(inside))
}

/// The result of a level whose frame has been left: its value, or [`LevelCancelled`] if its own cancellation
/// ended it. If the call returned a value, a cancellation that came later is ignored.
///
/// # Errors
/// A payload that must unwind further: the cancellation of an outer level, or a panic.
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
