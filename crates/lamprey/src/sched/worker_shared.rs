//! [`WorkerShared`]: the worker-shared state, the part of a worker that other kernel threads may touch.
//!
//! It outlives its worker: a kernel thread that has seen one of the worker's threads may still hold it, and
//! then finds the inbox closed.

use super::called::Called;
use super::cancel::reach::Reach;
use super::ids::Ids;
use super::metrics::measured::Measured;
use super::parasite::attention::Attention;
use super::parasite::outside::Outside;
use super::parasite::owned::OutsideSlab;
use super::parasite::ready_queue::ReadyShared;
use super::park::Parking;
use super::record::ring::Ring;
use super::source::{Helper, Notifier};
use super::stats::Counters;
use super::thread::{Entry, Thread};
use super::waiter::Waiter;
use crate::memory::slab::Slab;
use crate::queue::inbox::Inbox;
use crate::queue::steal_queue::StealQueue;
use crate::sync_shim::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// The part of a worker that other kernel threads may touch.
pub(crate) struct WorkerShared {
    pub(crate) index: usize,
    pub(crate) inbox: Inbox<Waiter>,
    /// Numbers for what it is the home of.
    pub(in crate::sched) ids: Arc<Ids>,
    /// The runtime's address. Only compared.
    runtime: *const (),
    pub(crate) parking: Parking,
    /// When its sleep was last ended by another thread.
    pub(super) called: Called,
    pub(crate) unstarted: StealQueue<Entry>,
    pub(crate) notifier: OnceLock<Notifier>,
    /// What another worker may do for this worker's sources while this one computes ([`super::watch`]).
    pub(crate) helpers: OnceLock<Box<[Helper]>>,
    /// Its present sleep is brief: when it is over, the worker checks that some worker is on watch
    /// ([`super::duty`]).
    pub(super) brief: AtomicBool,
    /// Its queue of ready parasites.
    pub(super) ready: Arc<ReadyShared>,
    /// It sleeps without a deadline of its own, and may be woken to look for work ([`super::steal`]).
    pub(crate) idle: AtomicBool,
    /// The number of started hosts, written by the worker and read by the placement of new hosts. A hint.
    pub(crate) hosts: AtomicUsize,
    /// It has had a host that its policy keeps before that has started, where nobody else sees it.
    pub(super) has_placed: AtomicBool,
    /// Its event loops wait for something, or a deadline is set: as it was when it last went to sleep.
    pub(super) expects: AtomicBool,
    /// It runs threads; otherwise it sleeps or looks for work. A hint.
    pub(super) is_working: AtomicBool,
    /// The kernel thread's id; 0 before it has started and after it has ended.
    pub(crate) tid: AtomicI32,
    pub(crate) counters: Counters,
    pub(in crate::sched) measured: Measured,
    /// The number of pieces of answers that it has found ([`pieces`](super::inspect::pieces)).
    pub(in crate::sched) pieces: AtomicUsize,
    /// True while a thread that runs on it looks at all threads itself ([`ask`](super::inspect::ask)).
    pub(in crate::sched) asks: AtomicBool,
    /// What the worker has done last ([`super::record`]).
    pub(crate) ring: Ring,
    pub(crate) attention: Attention,
    /// The slab for parasites that come from outside.
    pub(crate) outside: Outside<Box<OutsideSlab>>,
    /// Its own slab and the one for parasites from outside, for debuggers ([`super::inspect::layout`]).
    pub(in crate::sched) slabs: [AtomicPtr<()>; 2],
}

// SAFETY: `runtime` is never dereferenced; everything else is shared as its type allows.
unsafe impl Send for WorkerShared {}
// SAFETY: `runtime` is never dereferenced; all other fields are made to be shared (atomics, `OnceLock`s, the
// queues' own protocols).
unsafe impl Sync for WorkerShared {}

impl WorkerShared {
    /// `notes`: how many the recorder keeps.
    pub(crate) fn new(index: usize, runtime: *const (), ids: Arc<Ids>, notes: usize) -> Self {
        Self {
            ring: Ring::new(notes),
            index,
            ids,
            runtime,
            tid: AtomicI32::new(0),
            counters: Counters::default(),
            measured: Measured::new(),
            pieces: AtomicUsize::new(0),
            asks: AtomicBool::new(false),
            attention: Attention::new(),
            inbox: Inbox::new(),
            parking: Parking::new(),
            called: Called::new(),
            unstarted: StealQueue::new(),
            notifier: OnceLock::new(),
            helpers: OnceLock::new(),
            brief: AtomicBool::new(false),
            ready: ReadyShared::new(),
            idle: AtomicBool::new(false),
            hosts: AtomicUsize::new(0),
            has_placed: AtomicBool::new(false),
            expects: AtomicBool::new(true),
            is_working: AtomicBool::new(false),
            outside: Outside::new(),
            slabs: [const { AtomicPtr::new(std::ptr::null_mut()) }; 2],
        }
    }

    /// Tells debuggers of a slab.
    pub(in crate::sched) fn note_slab(&self, slab: &Slab) {
        let address = slab.address().cast_mut();
        for place in &self.slabs {
            // Relaxed: debuggers read it while the process stands still.
            if place
                .compare_exchange(std::ptr::null_mut(), address, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
            {
                return;
            }
        }
    }

    /// The runtime's address, for comparison.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn runtime(&self) -> *const () {
        self.runtime
    }

    /// A new reference count for a `WorkerShared` that is known by address.
    ///
    /// # Safety
    /// Another count of it lasts until this call returns.
    pub(crate) unsafe fn retain(remote: NonNull<WorkerShared>) -> Arc<WorkerShared> {
        // SAFETY: every `WorkerShared` is in an `Arc`, which is alive (contract).
        unsafe {
            Arc::increment_strong_count(remote.as_ptr());
            Arc::from_raw(remote.as_ptr())
        }
    }
}

impl Thread {
    /// The part of the descriptor through which a canceller reaches the thread: its home worker, and whether
    /// it has been asked to end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn reach(&self) -> Reach<'_, WorkerShared> {
        Reach::new(&self.home, &self.ask)
    }
}
