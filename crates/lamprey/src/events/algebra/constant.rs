//! Events that need no peer: one that is always ready, one that never is.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Steps};
use crate::sched::coop;
use std::cell::Cell;
use std::marker::PhantomData;
use std::task::{Context, Poll};

/// An event that is always ready, with `value`.
///
/// # Examples
/// ```
/// # use lamprey::event::{Event, always};
/// assert_eq!(always(1).sync(), 1);
/// ```
#[doc(alias = "ready")]
pub fn always<T>(value: T) -> Always<T> {
    Always(value)
}

/// An event that is never ready: the unit of [`choose`](super::choose).
///
/// # Examples
/// ```
/// # use lamprey::event::{Event, always, choose, never};
/// assert_eq!(choose([always(1).boxed(), never().boxed()]).sync(), 1);
/// ```
#[doc(alias = "pending")]
pub fn never<T>() -> Never<T> {
    Never(PhantomData)
}

/// The event that [`always`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct Always<T>(T);

/// The event that [`never()`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct Never<T>(PhantomData<fn() -> T>);

awaitable!({T} Always<T>, T);
awaitable!({T} Never<T>, T);

impl<T> Event for Always<T> {
    type Branch = Ready<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Ready<T> {
        Ready(Cell::new(Some(self.0)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sync(self) -> T {
        coop::turn();
        self.0
    }
}

impl<T> Event for Never<T> {
    type Branch = Self;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self {
        self
    }
}

/// The branch of an [`Always`].
pub struct Ready<T>(Cell<Option<T>>);

impl<T> Steps for Ready<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, _: Option<&mut Context<'_>>) -> bool {
        true
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        if choice.0.synch() { Offered::Won } else { Offered::Lost }
    }

    fn withdraw(&self) -> bool {
        // It wins in `attempt`, which comes before any offer.
        false
    }

    fn decide(&self, _: bool) {}

    fn parts(&self) -> usize {
        0
    }
}

impl<T> Branch for Ready<T> {
    type Output = T;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<T> {
        if let Some(context) = context {
            coop::look_by_poll(context);
        }
        match self.0.take() {
            Some(value) => Poll::Ready(value),
            None => crate::bug::bug!("an event gave two results"),
        }
    }
}

impl<T> Steps for Never<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, _: Option<&mut Context<'_>>) -> bool {
        false
    }

    /// # Safety
    /// As for [`Steps::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, _: &ChoiceRef<'_>) -> Offered {
        Offered::Waiting
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self) -> bool {
        false
    }

    fn decide(&self, _: bool) {}

    fn parts(&self) -> usize {
        0
    }
}

impl<T> Branch for Never<T> {
    type Output = T;

    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<T> {
        crate::bug::bug!("what never happens has happened")
    }
}
