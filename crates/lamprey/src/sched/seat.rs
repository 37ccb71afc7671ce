//! What other kernel threads may touch of a worker.
//!
//! It outlives the worker: whoever has met one of its threads may still know it, and finds the inbox closed
//! then.

use super::block::{Errand, Waiter};
use super::guard;
use super::parasite::attention::Attention;
use super::parasite::woken::Exposed;
use super::park::Parking;
use super::policy::Entry;
use super::runtime::Shared;
use super::source::{Helper, Notifier};
use super::stats::Counters;
use crate::queue::fresh::Fresh;
use crate::queue::inbox::Inbox;
use crate::sync_shim::{AtomicBool, AtomicI32, AtomicUsize};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// See the module's text.
pub(crate) struct Seat {
    pub(crate) index: usize,
    pub(crate) inbox: Inbox<Waiter>,
    /// Which runtime: only to be compared.
    runtime: *const Shared,
    pub(crate) parking: Parking,
    pub(crate) unstarted: Fresh<Entry>,
    pub(crate) notifier: OnceLock<Notifier>,
    /// What others may do for the worker's sources while it computes ([`super::watch`]).
    pub(crate) helpers: OnceLock<Box<[Helper]>>,
    /// It sleeps, but not for long, and looks then whether somebody is on watch ([`super::duty`]).
    pub(super) brief: AtomicBool,
    /// Its ready parasites.
    pub(super) woken: Arc<Exposed>,
    /// Asleep without a deadline of its own making, and willing to be woken to look for work
    /// ([`super::steal`]).
    pub(crate) idle: AtomicBool,
    /// Started hosts, written by the worker, read by whoever places new hosts. A hint.
    pub(crate) hosts: AtomicUsize,
    /// It runs threads; if not, it sleeps or looks for work. A hint.
    pub(super) is_working: AtomicBool,
    /// The kernel thread, 0 until it has started, and once it has ended.
    pub(crate) tid: AtomicI32,
    pub(crate) counters: Counters,
    pub(crate) attention: Attention,
}

// SAFETY: `runtime` is never dereferenced; everything else is shared as its type allows.
unsafe impl Send for Seat {}
// SAFETY: as above.
unsafe impl Sync for Seat {}

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

impl Seat {
    pub(crate) fn new(index: usize, runtime: *const Shared) -> Self {
        Self {
            index,
            runtime,
            tid: AtomicI32::new(0),
            counters: Counters::default(),
            attention: Attention::new(),
            inbox: Inbox::new(),
            parking: Parking::new(),
            unstarted: Fresh::new(),
            notifier: OnceLock::new(),
            helpers: OnceLock::new(),
            brief: AtomicBool::new(false),
            woken: Exposed::new(),
            idle: AtomicBool::new(false),
            hosts: AtomicUsize::new(0),
            is_working: AtomicBool::new(false),
        }
    }

    /// The runtime, to be compared.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn runtime(&self) -> *const Shared {
        self.runtime
    }

    /// A count of its own for a seat that is reached by its address.
    ///
    /// # Safety
    /// Somebody else's count lasts until this call ends.
    pub(crate) unsafe fn retain(seat: NonNull<Seat>) -> Arc<Seat> {
        // SAFETY: seats live in `Arc`s; alive by the contract.
        unsafe {
            Arc::increment_strong_count(seat.as_ptr());
            Arc::from_raw(seat.as_ptr())
        }
    }

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
