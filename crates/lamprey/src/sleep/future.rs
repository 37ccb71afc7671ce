//! Sleeping without blocking: the future of a deadline.
//!
//! # Invariants
//! The alarm is set only in the [`Alarms`] that `home` names, and only while that is set.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

#[cfg(not(loom))]
use crate::driver::outside::outside;
#[cfg(not(loom))]
use crate::sched::timers;
use crate::time;
use crate::time::alarms::{Alarm, Alarms};

/// The future that [`sleep_async`] returns.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    /// `None`: never.
    deadline: Option<Instant>,
    /// Where `alarm` has been set.
    home: Cell<Option<Arc<Alarms>>>,
    alarm: Alarm,
}

// SAFETY: an alarm that is set is touched only under the lock of its home; all else only by the owner of the
// future.
unsafe impl Send for Sleep {}

/// The awaitable form of [`sleep`](crate::sleep): is ready once `duration` has passed since this call.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// lamprey::run(|| {
///     let start = Instant::now();
///     let parasite = lamprey::parasite(async move {
///         let first = lamprey::sleep_async(Duration::from_millis(2));
///         lamprey::sleep_async(Duration::from_millis(5)).await;
///         first.await; // has been running, too
///         start.elapsed()
///     });
///     assert!(parasite.join().unwrap() >= Duration::from_millis(5));
/// });
/// ```
///
/// # Cancellation
/// Dropped, it leaves nothing behind.
///
/// # Blocking
/// Never early; as late as [`sleep`](crate::sleep). The timers are those of the worker that polls it first.
/// When it is polled outside of every worker, a kernel thread of Lamprey keeps the time; if the system
/// refuses to start that one, the future wakes itself until the time has come, which costs CPU time but is
/// right.
pub fn sleep_async(duration: Duration) -> Sleep {
    Sleep::until(time::deadline(duration))
}

impl Sleep {
    pub(crate) fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, home: Cell::new(None), alarm: Alarms::alarm() }
    }

    /// Sees to it that `waker` is woken at `deadline`, or before.
    fn arm(self: Pin<&Self>, deadline: Instant, waker: &Waker) -> io::Result<()> {
        let mut waker = waker.clone();
        if let Some(home) = self.home.take() {
            match home.replace(&self.alarm, waker) {
                Ok(before) => {
                    self.home.set(Some(home));
                    // The program's code: it may unwind, and then the alarm is still set.
                    drop(before);
                    return Ok(());
                }
                Err(ours) => waker = ours,
            }
        }
        #[cfg(loom)]
        let home = crate::model::alarms::current().expect("the model has alarms");
        #[cfg(not(loom))]
        let (home, notifier) = match timers::alarms() {
            Some(alarms) => (alarms, None),
            None => outside().map(|outside| (outside.alarms.clone(), Some(&outside.notifier)))?,
        };
        let sooner = self.set(home, deadline, waker);
        #[cfg(loom)]
        let _ = sooner;
        #[cfg(not(loom))]
        if let (true, Some(notifier)) = (sooner, notifier) {
            notifier.notify();
        }
        Ok(())
    }

    /// True if it is the earliest in `home` now.
    fn set(self: Pin<&Self>, home: Arc<Alarms>, deadline: Instant, waker: Waker) -> bool {
        // SAFETY: a field of what is pinned, which is not moved out.
        let alarm = unsafe { self.map_unchecked(|sleep| &sleep.alarm) };
        // SAFETY: set nowhere, because `home` was empty or it has rung there; cleared in `drop`.
        let sooner = unsafe { home.set(alarm, deadline, waker) };
        self.home.set(Some(home));
        sooner
    }

    fn disarm(&self) {
        if let Some(home) = self.home.take() {
            // SAFETY: set there, if anywhere.
            drop(unsafe { home.clear(&self.alarm) });
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        if Instant::now() >= deadline {
            self.disarm();
            return Poll::Ready(());
        }
        if self.as_ref().arm(deadline, context.waker()).is_err() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("until", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
