//! A future as an event.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
#[cfg(not(loom))]
use crate::sched::coop_async::poll_for_choice;
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
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct FutureEvt<F>(F);

impl<F> fmt::Debug for FutureEvt<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FutureEvt")
    }
}

awaitable!({F: Future} FutureEvt<F>, F::Output);

impl<F: Future> Event for FutureEvt<F> {
    type Branch = Polled<Untried<F>>;

    fn branch(self) -> Self::Branch {
        Polled::new(Untried(self.0))
    }

    fn sync(self) -> F::Output {
        crate::parasite::wait(self.0)
    }
}

/// A [`FutureEvt`] whose communication can also be tried without its future, which is cheaper (`T`: by what). The
/// future is made and polled only to wait.
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct TriedEvt<T>(T);

/// The event of what `attempt` does.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn tried_evt<T: Try>(attempt: T) -> TriedEvt<T> {
    TriedEvt(attempt)
}

impl<T> fmt::Debug for TriedEvt<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TriedEvt")
    }
}

awaitable!({T: Try} TriedEvt<T>, T::Output);

impl<T: Try> Event for TriedEvt<T> {
    type Branch = Polled<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self::Branch {
        Polled::new(self.0)
    }
}

/// What a future does, before it is a future.
pub trait Try {
    /// The result.
    type Output;
    /// Waits for it.
    type Future: Future<Output = Self::Output>;
    /// When the future is needed.
    const POLLS: Polls = Polls::ToWait;
    /// Does it at once; `None` if that is not possible now. Runs no code of the program.
    fn attempt(&self) -> Option<Self::Output>;
    /// The future, which does it once.
    fn future(self) -> Self::Future;
}

/// A future that is all there is.
pub struct Untried<F>(F);

impl<F: Future> Try for Untried<F> {
    type Output = F::Output;
    type Future = F;
    const POLLS: Polls = Polls::Always;

    fn attempt(&self) -> Option<F::Output> {
        None
    }

    fn future(self) -> F {
        self.0
    }
}

/// The branch of both. Invariant: the cell is touched by the owner of the branch only, and not while the
/// future is polled or dropped.
pub struct Polled<T: Try> {
    stage: UnsafeCell<Stage<T>>,
}

// SAFETY: only the owner accesses the cell, on any kernel thread; its contents are `Send` by the bounds.
unsafe impl<T: Try + Send> Send for Polled<T>
where
    T::Output: Send,
    T::Future: Send,
{
}

enum Stage<T: Try> {
    /// Not polled yet.
    Fresh(T),
    /// Boxed, because a branch may move before it is offered.
    Pending(Pin<Box<T::Future>>),
    Ready(T::Output),
    Gone,
}

impl<T: Try> Polled<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(attempt: T) -> Self {
        Self { stage: UnsafeCell::new(Stage::Fresh(attempt)) }
    }

    /// Moves the content out: code of the program that calls back in finds it gone.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&self) -> Stage<T> {
        // SAFETY: only the owner accesses the cell, and holds no reference into it (invariant).
        unsafe { std::mem::replace(&mut *self.stage.get(), Stage::Gone) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(&self, stage: Stage<T>) {
        // SAFETY: only the owner accesses the cell (invariant). The previous content is Gone, or a future
        // that was never polled.
        unsafe { *self.stage.get() = stage };
    }

    /// Communicates without the future. Not once that waits: the operation may already have been assigned to it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt_fresh(&self) -> Option<T::Output> {
        // SAFETY: only the owner accesses the cell (invariant), and the attempt runs no code that could; the
        // reference ends here.
        match unsafe { &*self.stage.get() } {
            Stage::Fresh(attempt) => attempt.attempt(),
            _ => None,
        }
    }

    #[cold]
    fn poll(&self, context: &mut Context<'_>) -> bool {
        let mut future = match self.take() {
            Stage::Fresh(attempt) => Box::pin(attempt.future()),
            Stage::Pending(future) => future,
            _ => crate::bug::bug!("a future was attempted after its end"),
        };
        #[cfg(not(loom))]
        let poll = poll_for_choice(|| future.as_mut().poll(context));
        #[cfg(loom)]
        let poll = future.as_mut().poll(context);
        let is_ready = poll.is_ready();
        self.put(match poll {
            Poll::Ready(output) => Stage::Ready(output),
            Poll::Pending => Stage::Pending(future),
        });
        is_ready
    }
}

impl<T: Try> Steps for Polled<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        if let Some(output) = self.attempt_fresh() {
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

impl<T: Try> Branch for Polled<T> {
    type Output = T::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<T::Output> {
        match self.take() {
            Stage::Ready(output) => Poll::Ready(output),
            _ => crate::bug::bug!("a future gave its result twice, or never"),
        }
    }
}
