//! Deadlines of futures: a worker's second timer wheel, under a lock, because futures are polled and dropped
//! anywhere.
//!
//! # Invariants
//! * An [`Alarm`] is linked only in the wheel of the [`Alarms`] that its owner has set it in.
//! * A linked one has a waker. Whoever unlinks it takes the waker, under the lock, and wakes or drops it
//!   after.
//! * The worker of these alarms never sleeps beyond the earliest of them: it asks for it
//!   ([`Alarms::next_expiry`]) before each sleep, and who sets an earlier one from another kernel thread
//!   notifies it.
//!
//! # Who may touch what
//! The wheel and the alarms in it: whoever holds the lock. An alarm that is not linked: its owner.
//!
//! # Rejected
//! * Entries on the heap that a dropped future leaves to its worker to collect: an allocation for each sleep,
//!   an atomic state for each entry, and a list of dead ones that needs a bound. The lock costs about as much
//!   as one such atomic, as next to nobody else takes it.
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

/// Wakers that are taken out at a time, before the lock is given back and they are woken.
pub(crate) const BATCH: usize = 64;

/// See the module's text.
pub(crate) struct Alarms {
    pub(crate) ticks: Ticks,
    wheel: Mutex<Guarded>,
}

/// A deadline of a future, which owns it: see [`Alarms::set`].
pub(crate) type Alarm = Node<Cell<Option<Waker>>>;

/// Made for the first alarm: most workers have none.
struct Guarded(Option<Box<Wheel<Cell<Option<Waker>>>>>);

// SAFETY: wheel and nodes are touched by one thread at a time, the one that holds the lock; wakers may be
// sent.
unsafe impl Send for Guarded {}

impl Alarms {
    pub(crate) fn new(ticks: Ticks) -> Self {
        Self { ticks, wheel: Mutex::new(Guarded(None)) }
    }

    /// An alarm that is set nowhere.
    pub(crate) fn alarm() -> Alarm {
        Node::new(Cell::new(None))
    }

    /// Has `waker` woken at `deadline`, or before. True if that is the earliest now.
    ///
    /// # Safety
    /// `alarm` is set nowhere, is touched by its owner alone, and is [cleared](Self::clear) here before it is
    /// dropped.
    pub(crate) unsafe fn set(&self, alarm: Pin<&Alarm>, deadline: Instant, waker: Waker) -> bool {
        let mut armed = self.lock();
        let wheel = armed.0.get_or_insert_with(Wheel::boxed);
        let before = wheel.next_expiry();
        alarm.payload().set(Some(waker));
        // SAFETY: linked nowhere, pinned, and unlinked before it is dropped, by contract.
        unsafe { wheel.insert(&alarm, self.ticks.after(deadline)) };
        wheel.next_expiry() != before
    }

    /// Gives an alarm that was set here another waker, and returns the one before; or `waker`, if it has
    /// rung.
    pub(crate) fn replace(&self, alarm: &Alarm, waker: Waker) -> Result<Option<Waker>, Waker> {
        let _armed = self.lock();
        let is_linked = alarm.is_linked() || left_out!(AlarmRung);
        if is_linked { Ok(alarm.payload().replace(Some(waker))) } else { Err(waker) }
    }

    /// Takes an alarm out, and gives its waker.
    ///
    /// # Safety
    /// It was set here, or nowhere, and is touched by its owner alone.
    pub(crate) unsafe fn clear(&self, alarm: &Alarm) -> Option<Waker> {
        if let Some(wheel) = &self.lock().0 {
            // SAFETY: linked in this wheel or in none, by contract.
            unsafe { wheel.remove(alarm) };
        }
        alarm.payload().take()
    }

    /// A tick not after the earliest deadline; `None` if there is no deadline.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.lock().0.as_ref()?.next_expiry()
    }

    /// Moves on to tick `now` and has all woken, by `wake`, whose deadline has come. The worker of these
    /// alarms calls this, and, while that computes, another one.
    pub(crate) fn ring(&self, now: u64, wake: fn(Waker)) {
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
            due.drain(..).for_each(wake);
            if !full {
                return;
            }
        }
    }

    /// The worker ends: whoever waits is woken and finds another.
    pub(crate) fn retire(&self, wake: fn(Waker)) {
        self.ring(u64::MAX, wake);
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
