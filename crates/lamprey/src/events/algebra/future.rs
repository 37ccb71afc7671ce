//! A future as an event.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The event that `future` is ready: everything with an awaitable form can take part in a choice.
///
/// The communication is the poll that completes the future; it is made only while no other branch can win. A
/// future that is not chosen is dropped, so dropping it must lose nothing: what it has not returned must
/// still be available to the next call. The "Cancellation" section of Lamprey's `_async` calls says which of
/// them have this property.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::event::{Event, choose, future_evt, timeout};
///
/// let computed = future_evt(async { 6 * 7 });
/// assert_eq!(choose((computed, timeout(Duration::from_secs(60)).wrap(|()| 0))).sync(), 42);
/// ```
///
/// # Panics
/// A panic of the future reaches the synchronising thread.
#[doc(alias = "select")]
pub fn future_evt<F: Future>(future: F) -> FutureEvt<F> {
    FutureEvt(future)
}

/// The event that [`future_evt`] returns.
pub struct FutureEvt<F>(F);

impl<F> fmt::Debug for FutureEvt<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FutureEvt")
    }
}

awaitable!({F: Future} FutureEvt<F>, F::Output);

impl<F: Future> Event for FutureEvt<F> {
    type Branch = Polled<F, Untried>;

    fn branch(self) -> Self::Branch {
        Polled::new(self.0, Untried)
    }

    fn sync(self) -> F::Output {
        crate::parasite::wait(self.0)
    }
}

/// A [`FutureEvt`] whose communication can also be tried without its future (`T`: by what), which is cheaper.
/// The future is polled only to wait.
pub struct TriedEvt<F, T> {
    future: F,
    attempt: T,
}

/// `attempt` does at once what `future`, which has not been polled, waits for; `None` if that is not possible
/// now.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn tried_evt<F: Future, T: Try<F::Output>>(future: F, attempt: T) -> TriedEvt<F, T> {
    TriedEvt { future, attempt }
}

impl<F, T> fmt::Debug for TriedEvt<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TriedEvt")
    }
}

awaitable!({F: Future, T: Try<F::Output>} TriedEvt<F, T>, F::Output);

impl<F: Future, T: Try<F::Output>> Event for TriedEvt<F, T> {
    type Branch = Polled<F, T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self::Branch {
        Polled::new(self.future, self.attempt)
    }
}

/// How the event of a future can be tried without the future.
pub trait Try<O> {
    const POLLS: Polls = Polls::ToWait;
    fn attempt(&self) -> Option<O>;
}

/// Not at all.
pub struct Untried;

impl<O> Try<O> for Untried {
    const POLLS: Polls = Polls::Always;
    fn attempt(&self) -> Option<O> {
        None
    }
}

/// The branch of both. Invariant: the cell is touched by the owner of the branch only, and not while the
/// future is polled or dropped.
pub struct Polled<F: Future, T> {
    stage: UnsafeCell<Stage<F>>,
    attempt: T,
}

// SAFETY: only the owner accesses the cell, on any kernel thread; its contents are `Send` by the bounds.
unsafe impl<F: Future + Send, T: Send> Send for Polled<F, T> where F::Output: Send {}

enum Stage<F: Future> {
    /// Not polled yet.
    Fresh(F),
    /// Boxed, because a branch may move before it is offered.
    Pending(Pin<Box<F>>),
    Ready(F::Output),
    Gone,
}

impl<F: Future, T: Try<F::Output>> Polled<F, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(future: F, attempt: T) -> Self {
        Self { stage: UnsafeCell::new(Stage::Fresh(future)), attempt }
    }

    /// Moves the content out: code of the program that calls back in finds it gone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&self) -> Stage<F> {
        // SAFETY: only the owner accesses the cell, and holds no reference into it (invariant).
        unsafe { std::mem::replace(&mut *self.stage.get(), Stage::Gone) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(&self, stage: Stage<F>) {
        // SAFETY: only the owner accesses the cell (invariant). The previous content is Gone, or a future
        // that was never polled.
        unsafe { *self.stage.get() = stage };
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_fresh(&self) -> bool {
        // SAFETY: only the owner accesses the cell (invariant); the reference ends here.
        matches!(unsafe { &*self.stage.get() }, Stage::Fresh(_))
    }

    #[cold]
    fn poll(&self, context: &mut Context<'_>) -> bool {
        let mut future = match self.take() {
            Stage::Fresh(future) => Box::pin(future),
            Stage::Pending(future) => future,
            _ => crate::bug::bug!("a future was attempted after its end"),
        };
        let poll = future.as_mut().poll(context);
        let is_ready = poll.is_ready();
        self.put(match poll {
            Poll::Ready(output) => Stage::Ready(output),
            Poll::Pending => Stage::Pending(future),
        });
        is_ready
    }
}

impl<F: Future, T: Try<F::Output>> Steps for Polled<F, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        // Not once the future waits: the operation may already have been assigned to it.
        if self.is_fresh()
            && let Some(output) = self.attempt.attempt()
        {
            self.put(Stage::Ready(output));
            return true;
        }
        context.is_some_and(|context| self.poll(context))
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, _: &ChoiceRef<'_>) -> Offered {
        Offered::Waiting
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self) -> bool {
        false
    }

    /// Drops a future that has lost before the wraps of the winner run.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&self, won: bool) {
        if !won {
            drop(self.take());
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn polls(&self) -> Polls {
        T::POLLS
    }
}

impl<F: Future, T: Try<F::Output>> Branch for Polled<F, T> {
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<F::Output> {
        match self.take() {
            Stage::Ready(output) => Poll::Ready(output),
            _ => crate::bug::bug!("a future gave its result twice, or never"),
        }
    }
}
