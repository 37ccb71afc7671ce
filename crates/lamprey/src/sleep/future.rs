//! `sleep_async`: the future of a deadline.
//!
//! # Invariants
//! The alarm is set only in the [`Alarms`] in `home`, and only while `home` is set.

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
use crate::sched::coop_async::poll_turn;
#[cfg(not(loom))]
use crate::sched::timers;
use crate::sched::{self, Wait, coop};
use crate::time;
use crate::time::alarms::{Alarm, Alarms};
use crate::world;

/// The future that [`sleep_async`] returns.
#[doc(alias = "Delay")]
#[doc(alias = "Timer")]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    /// `None`: never.
    deadline: Option<Instant>,
    /// The alarms in which `alarm` has been set.
    home: Cell<Option<Arc<Alarms>>>,
    alarm: Alarm,
}

// SAFETY: an alarm that is set is touched only under the lock of its `home`; everything else only by the
// owner of the future.
unsafe impl Send for Sleep {}

// SAFETY: by a shared reference only the deadline is read, which only an exclusive one changes; `home` and `alarm` are touched
// through an exclusive reference (a poll, a reset, the drop), or under the lock of `home`.
unsafe impl Sync for Sleep {}

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
/// A dropped future is disarmed.
///
/// # Blocking
/// Never ready early; as late as [`sleep`](crate::sleep). The worker that polls the future first keeps the
/// time. For a future that is polled outside of every worker a kernel thread of Lamprey does; if the system
/// refuses to start that thread, the future wakes itself until the time has come, which is correct but costs
/// CPU time.
#[doc(alias = "Delay")]
#[doc(alias = "Timer")]
pub fn sleep_async(duration: Duration) -> Sleep {
    Sleep::until(time::deadline(duration))
}

/// As [`sleep_async`], until an instant.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// # lamprey::run(|| {
/// let soon = Instant::now() + Duration::from_millis(2);
/// lamprey::wait(lamprey::sleep_until_async(soon));
/// assert!(Instant::now() >= soon);
/// # });
/// ```
///
/// # Cancellation
/// As [`sleep_async`].
pub fn sleep_until_async(deadline: Instant) -> Sleep {
    Sleep::until(Some(deadline))
}

impl Sleep {
    pub(crate) fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, home: Cell::new(None), alarm: Alarms::alarm() }
    }

    /// When it is ready; `None` if that is later than the clock can tell.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// True once the deadline has passed, whether the future has been polled since or not.
    pub fn is_elapsed(&self) -> bool {
        coop::look();
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= world::now())
    }

    /// Moves the deadline. If a task waits for this future, it is woken at the new deadline. A future that was ready can be
    /// awaited again.
    ///
    /// # Examples
    /// ```
    /// use std::pin::pin;
    /// use std::time::{Duration, Instant};
    ///
    /// # lamprey::run(|| {
    /// let mut idle = pin!(lamprey::sleep_async(Duration::from_secs(60)));
    /// let soon = Instant::now() + Duration::from_millis(2);
    /// idle.as_mut().reset(soon);
    /// lamprey::wait(idle.as_mut());
    /// assert!(idle.is_elapsed() && Instant::now() >= soon);
    /// # });
    /// ```
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        let waker = self.disarm();
        // SAFETY: the deadline is not pinned.
        unsafe { self.as_mut().get_unchecked_mut() }.deadline = Some(deadline);
        if let Some(waker) = waker
            && self.as_ref().arm(deadline, &waker).is_err()
        {
            waker.wake();
        }
    }

    /// Arms the alarm: `waker` is woken at `deadline` at the latest.
    fn arm(self: Pin<&Self>, deadline: Instant, waker: &Waker) -> io::Result<()> {
        let mut waker = waker.clone();
        if let Some(home) = self.home.take() {
            match home.replace(&self.alarm, waker) {
                Ok(before) => {
                    self.home.set(Some(home));
                    // A waker's destructor is code of the program: it may unwind, and the alarm then stays
                    // set.
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
            None if world::is_simulated() => {
                wake_later(deadline, waker);
                return Ok(());
            }
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

    /// True if the earliest deadline of `home` has changed.
    fn set(self: Pin<&Self>, home: Arc<Alarms>, deadline: Instant, waker: Waker) -> bool {
        // SAFETY: projects the pin to a field, which is never moved out.
        let alarm = unsafe { self.map_unchecked(|sleep| &sleep.alarm) };
        // SAFETY: not set, because `home` was empty or the alarm has fired there; cleared in `drop`.
        let sooner = unsafe { home.set(alarm, deadline, waker) };
        self.home.set(Some(home));
        sooner
    }

    /// True if it has set no alarm.
    #[cfg(not(loom))]
    fn is_new(&self) -> bool {
        let home = self.home.take();
        let is_new = home.is_none();
        self.home.set(home);
        is_new
    }

    /// Returns the waker of an alarm that was set.
    fn disarm(&self) -> Option<Waker> {
        let home = self.home.take()?;
        // SAFETY: set in `home` or nowhere.
        unsafe { home.clear(&self.alarm) }
    }
}

/// Wakes at a time of the simulation, on whose workers the future is not polled. It may be too much: the future may have been
/// dropped.
#[cfg(not(loom))]
#[cold]
fn wake_later(deadline: Instant, waker: Waker) {
    world::with(|world| {
        world.after(deadline.saturating_duration_since(world.now()), move |_| waker.wake());
    });
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            // One that never has to wait: a loop of such sleeps, or of attempts without time, must not keep the worker to itself.
            #[cfg(not(loom))]
            if self.is_new() {
                return poll_turn(1, context);
            }
            drop(self.disarm());
            return Poll::Ready(());
        }
        coop::look_by_poll(context);
        // One without a deadline is armed, too: a reset finds the task there.
        let deadline = self.deadline.unwrap_or_else(time::far_away);
        if self.as_ref().arm(deadline, context.waker()).is_err() {
            context.waker().wake_by_ref();
        }
        sched::note(context, Wait::Sleep);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        drop(self.disarm());
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("until", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
