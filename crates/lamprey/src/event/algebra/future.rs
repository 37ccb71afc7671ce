//! A future as an event.

use super::{Event, awaitable};
use crate::event::protocol::{Branch, ChoiceRef, Offered};
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The event that `future` is ready: how anything with an awaitable form takes part in a choice.
///
/// The communication is the poll that ends the future, and that is done only while no other branch can win. A future that
/// loses is dropped, so it must lose nothing with that: what it has not returned must still be there for the next. All `_async` calls
/// of Lamprey that say so under "Cancellation" are like that.
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
pub fn future_evt<F: Future>(future: F) -> FutureEvt<F> {
    FutureEvt(future)
}

/// See [`future_evt`].
pub struct FutureEvt<F>(F);

impl<F> fmt::Debug for FutureEvt<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FutureEvt")
    }
}

awaitable!({F: Future} FutureEvt<F>, F::Output);

impl<F: Future> Event for FutureEvt<F> {
    type Branch = Polled<F>;

    fn branch(self) -> Polled<F> {
        Polled(UnsafeCell::new(Stage::Pending(Box::pin(self.0))))
    }

    fn sync(self) -> F::Output {
        crate::parasite::wait(self.0)
    }
}

/// The branch of a [`FutureEvt`]. Invariant: the cell is touched by the owner of the branch only, and not while the future is
/// polled or dropped.
pub struct Polled<F: Future>(UnsafeCell<Stage<F>>);

// SAFETY: the owner alone touches the cell, on whatever kernel thread it is.
unsafe impl<F: Future + Send> Send for Polled<F> where F::Output: Send {}

enum Stage<F: Future> {
    /// Boxed: a branch is made before it has its place.
    Pending(Pin<Box<F>>),
    Ready(F::Output),
    Gone,
}

impl<F: Future> Polled<F> {
    /// Moves the content out for a moment: code of the program that comes back here finds it gone.
    fn take(&self) -> Stage<F> {
        // SAFETY: nobody else has a reference (invariant).
        unsafe { std::mem::replace(&mut *self.0.get(), Stage::Gone) }
    }

    fn put(&self, stage: Stage<F>) {
        // SAFETY: as above; what was there is Gone, which drops nothing.
        unsafe { *self.0.get() = stage };
    }
}

impl<F: Future> Branch for Polled<F> {
    type Output = F::Output;

    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool {
        let (Stage::Pending(mut future), Some(context)) = (self.take(), context) else {
            crate::bug::bug!("a future was attempted without a context, or after its end")
        };
        let poll = future.as_mut().poll(context);
        let is_ready = poll.is_ready();
        self.put(match poll {
            Poll::Ready(output) => Stage::Ready(output),
            Poll::Pending => Stage::Pending(future),
        });
        is_ready
    }

    /// # Safety
    /// As for [`Branch::offer`].
    unsafe fn offer(&self, _: &ChoiceRef<'_>) -> Offered {
        Offered::Waiting
    }

    fn withdraw(&self) -> bool {
        false
    }

    /// A future that has lost is gone before the wraps of the others run.
    fn decide(&self, won: bool) {
        if !won {
            drop(self.take());
        }
    }

    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<F::Output> {
        match self.take() {
            Stage::Ready(output) => Poll::Ready(output),
            _ => crate::bug::bug!("a future gave its result twice, or never"),
        }
    }

    fn polls(&self) -> bool {
        true
    }
}
