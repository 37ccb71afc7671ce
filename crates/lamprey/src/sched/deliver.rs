//! Handing something to a worker, and waking it up.

use super::errand::Errand;
use super::guard;
use super::seat::Seat;
use super::waiter::Waiter;
use std::ptr::NonNull;

impl Seat {
    /// Hands `entry` to the worker and wakes it up if it sleeps; gives it back if the worker has ended.
    ///
    /// # Safety
    /// The caller owns the entry: an unstarted thread, one that is blocked here and that the caller holds the
    /// right to wake, or a task as in [`Task::receive`](super::parasite::task::Task::receive).
    pub(crate) unsafe fn deliver(&self, entry: Waiter) -> Result<(), Waiter> {
        // SAFETY: owned by the caller (contract), and valid until the worker has run it.
        unsafe { self.inbox.push(entry)? };
        self.notify();
        Ok(())
    }

    /// Sends an errand to the worker of `seat`; where that has ended, the errand is run here, without one.
    ///
    /// # Safety
    /// Somebody's count of the seat lasts until this call ends; the errand is the caller's, who gives it up.
    pub(crate) unsafe fn send(seat: NonNull<Seat>, errand: NonNull<Errand>) {
        // SAFETY: as promised by the caller.
        unsafe {
            let seat = Self::retain(seat);
            if let Err(entry) = seat.deliver(Waiter::errand(errand)) {
                super::parasite::finish::refused_by_inbox(entry);
            }
        }
    }

    /// Ends the worker's sleep, if it sleeps; false if it does not.
    pub(crate) fn notify(&self) -> bool {
        let sleeps = self.parking.claim();
        if sleeps {
            let notifier = self.notifier.get().expect("set before the first sleep");
            // The caller has just given something up to the worker and must not unwind.
            const WHO: &str = "the notifier of a source";
            crate::bug::no_unwind(WHO, || guard::no_switch(WHO, || notifier.notify()));
        }
        sleeps
    }
}

impl Drop for Seat {
    /// What the closures of its sources own goes with them: at whatever place the last who knew the worker
    /// has forgotten it, which expects nothing of the kind.
    fn drop(&mut self) {
        let (notifier, helpers) = (self.notifier.take(), self.helpers.take());
        guard::no_switch("the destructor of a notifier", || {
            crate::bug::quietly(|| drop(notifier));
            helpers.into_iter().flatten().for_each(|helper| crate::bug::quietly(|| drop(helper)));
        });
    }
}
