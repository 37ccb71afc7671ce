//! Deadlines of futures: a worker's second timer wheel, under a lock, because futures are polled and dropped anywhere.
//!
//! # Invariants
//! * A node is linked only in the wheel of the [`Alarms`] that its [`Sleep`]'s `home` names, and only while that is set.
//! * A linked node has a waker. Whoever unlinks it takes the waker, under the lock, and wakes or drops it after.
//! * The worker of these alarms never sleeps beyond the earliest of them: it asks for it ([`Alarms::next_expiry`]) before
//!   each sleep, and who sets an earlier one from another kernel thread notifies it.
//!
//! # Who may touch what
//! The wheel and the nodes in it: whoever holds the lock. `home`, and a node that is not linked: the owner of the future.
//!
//! # Rejected
//! * Entries on the heap that a dropped future leaves to its worker to collect: an allocation for each sleep, an atomic
//!   state for each entry, and a list of dead ones that needs a bound. The lock costs about as much as one such atomic,
//!   as next to nobody else takes it.
//! * One wheel for hosts and futures: blocked hosts would pay for the lock.
//!
//! # Checked by
//! `model::alarms` (loom, with a broken variant that it catches), `tests/async_time.rs`; the tests of this file also run under miri.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::ticks::Ticks;
use super::wheel::{Node, Wheel};
use crate::awaitable;
#[cfg(not(loom))]
use crate::awaitable::outside::outside;
#[cfg(loom)]
use crate::model::{Broken, is_broken};
use crate::sync_shim::{Mutex, MutexGuard};

/// Wakers that are taken out at a time, before the lock is given back and they are woken.
const BATCH: usize = 64;

/// See the module's text.
pub(crate) struct Alarms {
    ticks: Ticks,
    wheel: Mutex<Guarded>,
}

/// Made for the first alarm: most workers have none.
struct Guarded(Option<Box<Wheel<Cell<Option<Waker>>>>>);

// SAFETY: wheel and nodes are touched by one thread at a time, the one that holds the lock; wakers may be sent.
unsafe impl Send for Guarded {}

impl Alarms {
    #[cfg(loom)]
    pub(crate) fn of_model() -> Arc<Self> {
        Arc::new(Self::new(Ticks::from_now()))
    }

    pub(super) fn new(ticks: Ticks) -> Self {
        Self { ticks, wheel: Mutex::new(Guarded(None)) }
    }

    /// Those of the calling kernel thread's worker; `None` on other threads.
    pub(crate) fn current() -> Option<Arc<Self>> {
        #[cfg(loom)]
        return crate::model::alarms::current();
        #[cfg(not(loom))]
        super::timers::alarms()
    }

    /// A tick not after the earliest deadline; `None` if there is no deadline.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.lock().0.as_ref()?.next_expiry()
    }

    /// Moves on to tick `now` and wakes whose deadline has come. The worker of these alarms calls this, and, while that
    /// computes, another one.
    pub(crate) fn ring(&self, now: u64) {
        let mut due = Vec::new();
        loop {
            {
                let armed = self.lock();
                while due.len() < BATCH
                    && let Some(node) = armed.0.as_ref().and_then(|wheel| wheel.pop_due(now))
                {
                    // SAFETY: its future cannot be dropped before it has had the lock.
                    due.extend(unsafe { node.as_ref() }.payload().take());
                }
            }
            let full = due.len() == BATCH;
            due.drain(..).for_each(awaitable::wake);
            if !full {
                return;
            }
        }
    }

    /// The worker ends: whoever waits is woken and finds another.
    pub(crate) fn retire(&self) {
        self.ring(u64::MAX);
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The future that [`sleep_async`] returns.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    /// `None`: never.
    deadline: Option<Instant>,
    home: Cell<Option<Arc<Alarms>>>,
    node: Node<Cell<Option<Waker>>>,
}

// SAFETY: a linked node is touched only under the lock of its wheel; all else only by the owner of the future.
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
/// Never early; as late as [`sleep`](crate::sleep). The timers are those of the worker that polls it first. When it is
/// polled outside of every worker, a kernel thread of Lamprey keeps the time; if the system refuses to start that one,
/// the future wakes itself until the time has come, which costs CPU time but is right.
pub fn sleep_async(duration: Duration) -> Sleep {
    Sleep::until(super::deadline(duration))
}

impl Sleep {
    pub(crate) fn until(deadline: Option<Instant>) -> Self {
        Self { deadline, home: Cell::new(None), node: Node::new(Cell::new(None)) }
    }

    /// Sees to it that `waker` is woken at `deadline`, or before.
    fn arm(self: Pin<&Self>, deadline: Instant, waker: &Waker) -> io::Result<()> {
        let waker = waker.clone();
        if let Some(home) = self.home.take() {
            let armed = home.lock();
            #[cfg(loom)]
            let is_linked = self.node.is_linked() || is_broken(Broken::AlarmRung);
            #[cfg(not(loom))]
            let is_linked = self.node.is_linked();
            if is_linked {
                let before = self.node.payload().replace(Some(waker));
                drop(armed);
                self.home.set(Some(home));
                // The program's code: it may unwind, and then the node is still linked.
                drop(before);
                return Ok(());
            }
        }
        #[cfg(loom)]
        let home = Alarms::current().expect("the model has alarms");
        #[cfg(not(loom))]
        let (home, notifier) = match Alarms::current() {
            Some(alarms) => (alarms, None),
            None => outside().map(|outside| (outside.alarms.clone(), Some(&outside.notifier)))?,
        };
        let sooner = self.link(&home, deadline, waker);
        self.home.set(Some(home));
        #[cfg(loom)]
        let _ = sooner;
        #[cfg(not(loom))]
        if let (true, Some(notifier)) = (sooner, notifier) {
            notifier.notify();
        }
        Ok(())
    }

    /// True if it is the earliest in `home` now.
    fn link(self: Pin<&Self>, home: &Alarms, deadline: Instant, waker: Waker) -> bool {
        let mut armed = home.lock();
        let wheel = armed.0.get_or_insert_with(Wheel::boxed);
        let before = wheel.next_expiry();
        self.node.payload().set(Some(waker));
        // SAFETY: linked nowhere, because `home` was empty or its wheel has unlinked it. Pinned, and unlinked in `drop`.
        unsafe { wheel.insert(&self.node, home.ticks.after(deadline)) };
        wheel.next_expiry() != before
    }

    fn disarm(&self) {
        if let Some(home) = self.home.take() {
            if let Some(wheel) = &home.lock().0 {
                // SAFETY: linked in that wheel or in none.
                unsafe { wheel.remove(&self.node) };
            }
            drop(self.node.payload().take());
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
