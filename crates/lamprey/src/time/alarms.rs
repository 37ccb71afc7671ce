//! Deadlines of futures: a worker's second timer wheel, under a lock, because futures are polled and dropped
//! on any thread.
//!
//! # Invariants
//! * An [`Alarm`] is linked only in the wheel of the [`Alarms`] in which its owner has set it.
//! * A linked alarm has a waker. The thread that unlinks it takes the waker under the lock, and wakes or
//!   drops it after unlocking.
//! * The worker of these alarms never sleeps beyond the earliest of them: it asks for that deadline
//!   ([`Alarms::next_expiry`]) before each sleep, and a kernel thread that sets an earlier one notifies the
//!   worker.
//!
//! # Who may touch what
//! The wheel and the alarms linked in it: the thread that holds the lock. An alarm that is not linked: its
//! owner.
//!
//! # Rejected
//! * Entries on the heap that a dropped future leaves to its worker to collect: an allocation for each sleep,
//!   an atomic state for each entry, and a list of dead entries that needs a bound. The lock is hardly
//!   contended and costs about as much as one such atomic.
//! * One wheel for hosts and futures: blocked hosts would pay for the lock.
//!
//! # Checked by
//! `model::alarms` (loom, with a broken variant that it catches), `tests/time/awaiting.rs`, the tests of
//! `sleep::future`, which also run under miri.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::Waker;
use std::time::Instant;

use super::ticks::Ticks;
use super::wheel::{Node, Wheel};
use crate::sync_shim::{Mutex, MutexGuard, left_out};

/// The number of wakers that are taken out in one critical section, before they are woken without the lock.
pub(crate) const BATCH: usize = 64;

/// The deadlines of futures that are kept by one worker.
pub(crate) struct Alarms {
    pub(crate) ticks: Ticks,
    wheel: Mutex<Guarded>,
}

/// The deadline of a future, which owns this node: see [`Alarms::set`].
pub(crate) type Alarm = Node<Cell<Option<Waker>>>;

/// The wheel, allocated for the first alarm: most workers have none.
struct Guarded(Option<Box<Wheel<Cell<Option<Waker>>>>>);

// SAFETY: wheel and nodes are touched by one thread at a time, the one that holds the lock; a `Waker` is
// `Send`.
unsafe impl Send for Guarded {}

impl Alarms {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { ticks, wheel: Mutex::new(Guarded(None)) }
    }

    /// An alarm that is not set.
    pub(crate) fn alarm() -> Alarm {
        Node::new(Cell::new(None))
    }

    /// Arms `alarm`: `waker` is woken at `deadline` at the latest. True if the earliest deadline has changed.
    ///
    /// # Safety
    /// `alarm` is not set, is touched by its owner alone, and is [cleared](Self::clear) here before it is
    /// dropped.
    pub(crate) unsafe fn set(&self, alarm: Pin<&Alarm>, deadline: Instant, waker: Waker) -> bool {
        let mut armed = self.lock();
        let wheel = armed.0.get_or_insert_with(Wheel::boxed);
        let before = wheel.next_expiry();
        alarm.payload().set(Some(waker));
        // SAFETY: not linked, pinned, and unlinked before it is dropped, by this function's contract.
        unsafe { wheel.insert(&alarm, self.ticks.after(deadline)) };
        wheel.next_expiry() != before
    }

    /// Replaces the waker of an alarm that was set here, and returns the previous one; returns `waker` as the
    /// error if the alarm has fired.
    pub(crate) fn replace(&self, alarm: &Alarm, waker: Waker) -> Result<Option<Waker>, Waker> {
        let _armed = self.lock();
        let is_linked = alarm.is_linked() || left_out!(AlarmRung);
        if is_linked { Ok(alarm.payload().replace(Some(waker))) } else { Err(waker) }
    }

    /// Unlinks an alarm and returns its waker.
    ///
    /// # Safety
    /// It was set here, or nowhere, and is touched by its owner alone.
    pub(crate) unsafe fn clear(&self, alarm: &Alarm) -> Option<Waker> {
        if let Some(wheel) = &self.lock().0 {
            // SAFETY: linked in this wheel or in none, by this function's contract.
            unsafe { wheel.remove(alarm) };
        }
        alarm.payload().take()
    }

    /// A tick not after the earliest deadline; `None` if there is no deadline.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.lock().0.as_ref()?.next_expiry()
    }

    /// Advances to tick `now` and calls `wake` with the waker of every alarm that is due. Called by the
    /// worker of these alarms, and, while that computes, by another one.
    pub(crate) fn ring(&self, now: u64, wake: fn(Waker)) {
        let mut due = Vec::new();
        loop {
            {
                let armed = self.lock();
                while due.len() < BATCH
                    && let Some(node) = armed.0.as_ref().and_then(|wheel| wheel.pop_due(now))
                {
                    // SAFETY: alive: the future that owns the node takes the lock before it is dropped.
                    due.extend(unsafe { node.as_ref() }.payload().take());
                }
            }
            let full = due.len() == BATCH;
            due.drain(..).for_each(wake);
            if !full {
                return;
            }
        }
    }

    /// The worker ends: fires all alarms, so that the futures are polled again and find another worker.
    pub(crate) fn retire(&self, wake: fn(Waker)) {
        self.ring(u64::MAX, wake);
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
