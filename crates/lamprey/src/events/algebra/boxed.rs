//! `boxed`: an event without its structure in the type.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::sched::parts::Told;
use std::fmt;
use std::task::{Context, Poll};
use std::time::Instant;

/// The event that [`Event::boxed`] returns. Synchronising allocates once more, for the branch.
#[doc(alias = "BoxFuture")]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct BoxedEvent<'a, T>(Box<dyn FnOnce() -> BoxedBranch<'a, T> + Send + 'a>);

impl<'a, T> BoxedEvent<'a, T> {
    pub(super) fn new<E: Event<Output = T, Branch: Send> + Send + 'a>(event: E) -> Self {
        Self(Box::new(move || BoxedBranch(Box::new(event.branch()))))
    }
}

impl<T> fmt::Debug for BoxedEvent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxedEvent")
    }
}

awaitable!({'a, T} BoxedEvent<'a, T>, T);

impl<'a, T> Event for BoxedEvent<'a, T> {
    type Branch = BoxedBranch<'a, T>;

    fn branch(self) -> Self::Branch {
        (self.0)()
    }
}

/// The branch of a [`BoxedEvent`].
pub struct BoxedBranch<'a, T>(Box<dyn Branch<Output = T> + Send + 'a>);

impl<T> Steps for BoxedBranch<'_, T> {
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        self.0.attempt(context)
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        // SAFETY: as promised by the caller; the branch does not move within its box.
        unsafe { self.0.offer(choice) }
    }

    fn withdraw(&self) -> bool {
        self.0.withdraw()
    }

    fn decide(&self, won: bool) {
        self.0.decide(won);
    }

    fn polls(&self) -> Polls {
        self.0.polls()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(&self) -> usize {
        self.0.parts()
    }

    fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        self.0.begin_rest(context);
    }

    fn settle_rest(&self) -> bool {
        self.0.settle_rest()
    }

    fn is_all(&self) -> bool {
        self.0.is_all()
    }

    fn is_refused(&self) -> bool {
        self.0.is_refused()
    }

    fn tell(&self, told: &mut Told<'_>) {
        self.0.tell(told);
    }

    fn refuse(&self) -> bool {
        self.0.refuse()
    }

    fn is_prompt(&self) -> bool {
        self.0.is_prompt()
    }
}

impl<T> Branch for BoxedBranch<'_, T> {
    type Output = T;

    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<T> {
        self.0.finish(context)
    }
}
