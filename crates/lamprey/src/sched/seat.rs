//! What other kernel threads may touch of a worker.
//!
//! It outlives the worker: whoever has met one of its threads may still know it, and finds the inbox closed
//! then.

use super::cancel::reach::Reach;
use super::parasite::attention::Attention;
use super::parasite::woken::Exposed;
use super::park::Parking;
use super::source::{Helper, Notifier};
use super::stats::Counters;
use super::thread::{Entry, Thread};
use super::waiter::Waiter;
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
    runtime: *const (),
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

impl Seat {
    pub(crate) fn new(index: usize, runtime: *const ()) -> Self {
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
    pub(crate) fn runtime(&self) -> *const () {
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
}

impl Thread {
    /// Its home, and whether it has been asked to end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn reach(&self) -> Reach<'_, Seat> {
        Reach::new(&self.home, &self.ask)
    }
}
