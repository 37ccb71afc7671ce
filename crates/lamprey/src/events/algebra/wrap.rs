//! `wrap`: applies a function to the result of an event.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::sched::parts::Told;
use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::Instant;

/// The event that [`Event::wrap`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct Wrap<E, F> {
    event: E,
    f: F,
}

impl<E, F> Wrap<E, F> {
    pub(super) fn new(event: E, f: F) -> Self {
        Self { event, f }
    }
}

awaitable!({E: Event, F: FnOnce(E::Output) -> R, R} Wrap<E, F>, R);

impl<E: Event, F: FnOnce(E::Output) -> R, R> Event for Wrap<E, F> {
    type Branch = Wrapped<E::Branch, F>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self::Branch {
        Wrapped { inner: self.event.branch(), f: Cell::new(Some(self.f)) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sync(self) -> R {
        (self.f)(self.event.sync())
    }
}

/// The branch of a [`Wrap`].
pub struct Wrapped<B, F> {
    inner: B,
    f: Cell<Option<F>>,
}

impl<B: Steps, F> Steps for Wrapped<B, F> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        self.inner.attempt(context)
    }

    /// # Safety
    /// As for [`Steps::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        // SAFETY: as promised by the caller.
        unsafe { self.inner.offer(choice) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self) -> bool {
        self.inner.withdraw()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&self, won: bool) {
        self.inner.decide(won);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn polls(&self) -> Polls {
        self.inner.polls()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(&self) -> usize {
        self.inner.parts()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deadline(&self) -> Option<Instant> {
        self.inner.deadline()
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        self.inner.begin_rest(context);
    }

    fn settle_rest(&self) -> bool {
        self.inner.settle_rest()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_all(&self) -> bool {
        self.inner.is_all()
    }

    fn is_refused(&self) -> bool {
        self.inner.is_refused()
    }

    fn tell(&self, told: &mut Told<'_>) {
        self.inner.tell(told);
    }

    fn refuse(&self) -> bool {
        self.inner.refuse()
    }

    fn is_prompt(&self) -> bool {
        true
    }
}

impl<B: Branch, F: FnOnce(B::Output) -> R, R> Branch for Wrapped<B, F> {
    type Output = R;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<R> {
        self.inner.finish(context).map(|output| {
            let f = self.f.take().unwrap_or_else(|| crate::bug::bug!("an event gave two results"));
            f(output)
        })
    }
}
