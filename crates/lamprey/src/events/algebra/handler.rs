//! `wrap_handler`: a panic of an event's own code becomes its result.
//!
//! # Invariants
//! 1. A panic comes in `branch` (a guard), in `attempt` (a future of the program) or in `finish` (a `wrap`): only there does
//!    code of the program run for a result. It is kept in `failed`, and from then on the branch is ready: it wins as `always`
//!    does.
//! 2. A branch that has failed has nothing offered: no offer is out in `attempt` (`protocol::branch`, invariant 3). Its parts
//!    are told that they have lost.
//! 3. The unwind of a cancelled thread is not caught.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::sched::block::CancelUnwind;
use crate::sched::panic::Panic;
use crate::sched::parts::Told;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll};
use std::time::Instant;

/// Runs `code` of the program, and catches its panic.
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        if payload.is::<CancelUnwind>() {
            resume_unwind(payload)
        }
        Panic::caught(payload)
    })
}

/// The event that [`Event::wrap_handler`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct WrapHandler<E, F> {
    event: E,
    handler: F,
}

impl<E, F> WrapHandler<E, F> {
    pub(super) fn new(event: E, handler: F) -> Self {
        Self { event, handler }
    }
}

awaitable!({E: Event, F: FnOnce(Panic) -> E::Output} WrapHandler<E, F>, E::Output);

impl<E: Event, F: FnOnce(Panic) -> E::Output> Event for WrapHandler<E, F> {
    type Branch = Handled<E::Branch, F>;

    fn branch(self) -> Self::Branch {
        let (inner, failed) = match caught(|| self.event.branch()) {
            Ok(branch) => (Some(branch), None),
            Err(panic) => (None, Some(panic)),
        };
        Handled {
            inner,
            has_failed: Cell::new(failed.is_some()),
            failed: Cell::new(failed),
            handler: Cell::new(Some(self.handler)),
        }
    }
}

/// The branch of a [`WrapHandler`].
pub struct Handled<B, F> {
    /// `None` if its guard has panicked.
    inner: Option<B>,
    has_failed: Cell<bool>,
    failed: Cell<Option<Panic>>,
    handler: Cell<Option<F>>,
}

impl<B, F> Handled<B, F> {
    /// The part that works: `None` once it has failed.
    fn working(&self) -> Option<&B> {
        self.inner.as_ref().filter(|_| !self.has_failed.get())
    }

    fn fail(&self, panic: Panic) {
        self.has_failed.set(true);
        self.failed.set(Some(panic));
    }
}

impl<B: Steps, F> Steps for Handled<B, F> {
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        let Some(inner) = self.working() else { return true };
        match caught(|| inner.attempt(context)) {
            Ok(has_won) => has_won,
            Err(panic) => {
                self.fail(panic);
                true
            }
        }
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        match self.working() {
            // SAFETY: as promised by the caller.
            Some(inner) => unsafe { inner.offer(choice) },
            None if choice.0.synch() => Offered::Won,
            None => Offered::Lost,
        }
    }

    fn withdraw(&self) -> bool {
        // One that has failed wins in `attempt`, which comes before any offer.
        self.working().is_some_and(Steps::withdraw)
    }

    fn decide(&self, won: bool) {
        if let Some(inner) = &self.inner {
            inner.decide(won && !self.has_failed.get());
        }
    }

    fn polls(&self) -> Polls {
        self.working().map_or(Polls::Never, Steps::polls)
    }

    fn parts(&self) -> usize {
        self.working().map_or(0, Steps::parts)
    }

    fn deadline(&self) -> Option<Instant> {
        self.working().and_then(Steps::deadline)
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        let Some(inner) = self.working() else { return };
        if let Err(panic) = caught(|| inner.begin_rest(context)) {
            self.fail(panic);
        }
    }

    fn settle_rest(&self) -> bool {
        self.working().is_none_or(Steps::settle_rest)
    }

    fn is_all(&self) -> bool {
        self.working().is_some_and(Steps::is_all)
    }

    fn is_refused(&self) -> bool {
        self.working().is_some_and(Steps::is_refused)
    }

    fn tell(&self, told: &mut Told<'_>) {
        if let Some(inner) = self.working() {
            inner.tell(told);
        }
    }

    fn refuse(&self) -> bool {
        self.working().is_some_and(Steps::refuse)
    }

    fn is_prompt(&self) -> bool {
        true
    }
}

impl<B: Branch, F: FnOnce(Panic) -> B::Output> Branch for Handled<B, F> {
    type Output = B::Output;

    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<B::Output> {
        let finished = match (self.failed.take(), self.working()) {
            (Some(panic), _) => Err(panic),
            (None, Some(inner)) => caught(|| inner.finish(context)),
            (None, None) => crate::bug::bug!("an event gave two results"),
        };
        match finished {
            Ok(output) => output,
            Err(panic) => match self.handler.take() {
                Some(handler) => Poll::Ready(handler(panic)),
                None => crate::bug::bug!("an event gave two results"),
            },
        }
    }
}
