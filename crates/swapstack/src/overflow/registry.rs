//! All stacks of the process, to be found by address from a signal handler.
//!
//! # States
//! An entry is *vacant* (`end == 0`) or *live*. Entries are leaked and linked once, for ever; a vacant
//! one is used again. There is one for each region of a pool, and one for each generator that runs on
//! a stack of its user's.
//!
//! # Invariants
//! The list is only ever extended at its head, so a reader can walk it at any moment. An entry is live only
//! while what it describes is mapped.
//!
//! # Who may touch what
//! Writers (under the lock of `VACANT`): all fields. The signal handler: reads only, without the lock.
//!
//! # Orderings
//! `end` is stored last with Release when an entry becomes live, and read first with Acquire by the
//! handler. A handler that looks while another thread recycles an entry can read a mixture; that takes a
//! fault on a stack that is being unmapped, which is a bug already, and the worst
//! outcome is a report that names the wrong stack.
//!
//! # Rejected
//! A thread-local "current context": wrong as soon as a runtime interleaves contexts that are inside
//! generators. A lock in the handler: it may have interrupted the holder.

use super::Label;
use crate::stack::page_size;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// How to find the stack in a live entry, given an address in it.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// The guard page; `limit` is one page above.
    pub(crate) guard: usize,
    pub(crate) top: usize,
    /// Where a pointer to the label is, or null.
    pub(crate) label: *const Label,
}

impl Slot {
    /// The lowest address of the stack that may be used.
    pub(crate) fn limit(&self) -> usize {
        self.guard + page_size()
    }
}

#[derive(Default)]
struct Entry {
    start: AtomicUsize,
    end: AtomicUsize,
    /// Bytes from slot to slot; 0 for a single stack, whose label is `label`.
    stride: AtomicUsize,
    /// The colour of a region's first slot.
    first: AtomicUsize,
    label: AtomicPtr<Label>,
    next: AtomicPtr<Entry>,
}

static HEAD: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
static VACANT: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

/// Keeps an entry live.
pub(crate) struct Registration(&'static Entry);

impl Registration {
    /// Registers the slots between `start` and `end`, of which the first has colour `first`. (A region of a pool: the labels are above
    /// the tops.)
    pub(crate) fn of_region(start: usize, end: usize, stride: usize, first: usize) -> Self {
        Self::new(start, end, stride, first, ptr::null())
    }

    /// Registers one stack and who lives on it.
    pub(crate) fn of_stack(limit: usize, top: usize, label: *const Label) -> Self {
        Self::new(limit - page_size(), top, 0, 0, label)
    }

    fn new(start: usize, end: usize, stride: usize, first: usize, label: *const Label) -> Self {
        let mut vacant = VACANT.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = vacant.pop().unwrap_or_else(|| link(Box::leak(Box::default())));
        // Relaxed: made visible to the handler by the Release store to `end`.
        entry.start.store(start, Relaxed);
        // Relaxed: as above.
        entry.stride.store(stride, Relaxed);
        // Relaxed: as above.
        entry.first.store(first, Relaxed);
        // Relaxed: as above.
        entry.label.store(label.cast_mut(), Relaxed);
        // Release: pairs with the Acquire load of `end` in `find`.
        entry.end.store(end, Release);
        Self(entry)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Relaxed: the handler need not see it at once, see "Orderings".
        self.0.end.store(0, Relaxed);
        VACANT.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Puts a new entry at the head of the list. Called under the lock.
fn link(entry: &'static Entry) -> &'static Entry {
    // Relaxed: writers are ordered by the lock.
    let head = HEAD.load(Relaxed);
    // Relaxed: made visible by the next store.
    entry.next.store(head, Relaxed);
    // Release: pairs with the Acquire load of `HEAD` in `find`.
    HEAD.store(ptr::from_ref(entry).cast_mut(), Release);
    entry
}

/// The stack whose slot holds `address`. Async-signal-safe.
///
/// A stack that was registered by itself goes before a region: it is one from a pool in a wrapper.
pub(crate) fn find(address: usize) -> Option<Slot> {
    let mut in_region = None;
    // Acquire: pairs with the Release store in `link`.
    let mut next = HEAD.load(Acquire);
    // SAFETY: entries are leaked, so whatever the list holds is alive.
    while let Some(entry) = unsafe { next.as_ref() } {
        // Acquire: pairs with the Release store in `Registration::new`.
        let end = entry.end.load(Acquire);
        // Relaxed: ordered by the load of `end`.
        let start = entry.start.load(Relaxed);
        if (start..end).contains(&address) {
            // Relaxed (all): ordered by the load of `end`.
            let (stride, first) = (entry.stride.load(Relaxed), entry.first.load(Relaxed));
            // Relaxed: as above.
            let label = entry.label.load(Relaxed);
            if stride == 0 {
                return Some(Slot { guard: start, top: end, label });
            }
            in_region = Some((start, stride, first));
        }
        // Relaxed: the entry was linked before the head that led here was published.
        next = entry.next.load(Relaxed);
    }
    in_region.map(|(start, stride, first)| crate::stack::slot_at(start, stride, first, address))
}
