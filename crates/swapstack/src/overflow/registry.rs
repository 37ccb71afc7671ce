//! The registry of all stacks of the process, which a signal handler searches by address.
//!
//! # States
//! ```text
//! vacant (end is 0) --register--> changing --> live --drop--> changing --> vacant
//! ```
//! Entries are leaked and linked once, for ever; a vacant one is reused. There is one for each region of a
//! pool, and one for each generator on a stack that is not a pool's. `version` is odd while an entry changes.
//!
//! # Invariants
//! 1. The list only grows, at its head, so a reader can walk it at any moment.
//! 2. An entry is live only while its memory is mapped, and the memory is used only while the entry is live.
//!    So the entry of a stack in use does not change, and a reader may skip entries that change: they
//!    describe other stacks.
//!
//! # Who may touch what
//! Writers (under the lock of `VACANT`): all fields. Readers, which are the signal handler and the
//! AddressSanitizer support: without the lock.
//!
//! # Orderings
//! Each entry is a sequence lock. The Release fence after `version` has become odd pairs with the Acquire
//! fence of `read`: a reader that has read one of the fields stored after it then sees another version. The
//! Release store that makes `version` even pairs with the Acquire load at the beginning of `read`.
//!
//! # Rejected
//! * A thread-local "current context": wrong as soon as a runtime interleaves contexts that are inside
//!   generators.
//! * A lock in the handler: it may have interrupted the holder.
//! * Storing `end` last and loading it first, without a version: while an entry is reused, the old end and
//!   the new start seem to include all addresses between the two regions, and the reader looks for a label
//!   where there is none.

use super::Label;
use crate::stack::page_size;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use std::sync::{Mutex, PoisonError};

/// The position of a stack, for an address in it.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// The address of the guard page; `limit` is one page above.
    pub(crate) guard: usize,
    pub(crate) top: usize,
    /// The address of the label, or null.
    pub(crate) label: *const Label,
}

impl Slot {
    /// The lowest usable address of the stack.
    pub(crate) fn limit(&self) -> usize {
        self.guard + page_size()
    }
}

#[derive(Default)]
struct Entry {
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    /// The bytes from slot to slot; 0 for a single stack, whose label is `label`.
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
    /// Registers the slots of a pool's region between `start` and `end`; the first has colour `first`. (Their
    /// labels are above their tops.)
    pub(crate) fn of_region(start: usize, end: usize, stride: usize, first: usize) -> Self {
        Self::new(start, end, stride, first, ptr::null())
    }

    /// Registers one stack and its label.
    pub(crate) fn of_stack(limit: usize, top: usize, label: *const Label) -> Self {
        Self::new(limit - page_size(), top, 0, 0, label)
    }

    fn new(start: usize, end: usize, stride: usize, first: usize, label: *const Label) -> Self {
        let mut vacant = VACANT.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = vacant.pop().unwrap_or_else(|| link(Box::leak(Box::default())));
        entry.change(|| {
            // Relaxed (all): `change` orders them.
            entry.start.store(start, Relaxed);
            entry.end.store(end, Relaxed);
            entry.stride.store(stride, Relaxed);
            // Relaxed (all): `change` orders them.
            entry.first.store(first, Relaxed);
            entry.label.store(label.cast_mut(), Relaxed);
        });
        Self(entry)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut vacant = VACANT.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: `change` orders it.
        self.0.change(|| self.0.end.store(0, Relaxed));
        vacant.push(self.0);
    }
}

/// The content of a live entry.
#[derive(Clone, Copy)]
struct Live {
    start: usize,
    end: usize,
    stride: usize,
    first: usize,
    label: *const Label,
}

impl Entry {
    /// Runs `stores` as one change, which readers detect. Called under the lock.
    fn change(&self, stores: impl FnOnce()) {
        // Relaxed: writers are ordered by the lock.
        let version = self.version.load(Relaxed);
        // Relaxed: the fence orders it.
        self.version.store(version.wrapping_add(1), Relaxed);
        // Release pairs with the Acquire fence in `read`.
        fence(Release);
        stores();
        // Release pairs with the Acquire load in `read`.
        self.version.store(version.wrapping_add(2), Release);
    }

    /// The content; `None` if the entry changes meanwhile, or is vacant.
    fn read(&self) -> Option<Live> {
        // Acquire pairs with the last store of `change`.
        let version = self.version.load(Acquire);
        // Relaxed (all): the values count only if the version is the same after the fence.
        let end = self.end.load(Relaxed);
        #[cfg(test)]
        tests::between_loads();
        let live = Live {
            end,
            // Relaxed (all): the version after the fence decides.
            start: self.start.load(Relaxed),
            stride: self.stride.load(Relaxed),
            first: self.first.load(Relaxed),
            // Relaxed: the version after the fence decides.
            label: self.label.load(Relaxed),
        };
        // Acquire pairs with the Release fence in `change`.
        fence(Acquire);
        // Relaxed: after the fence.
        let is_whole = version.is_multiple_of(2) && self.version.load(Relaxed) == version;
        (is_whole && end != 0).then_some(live)
    }
}

/// Puts a new entry at the head of the list. Called under the lock.
fn link(entry: &'static Entry) -> &'static Entry {
    // Relaxed: writers are ordered by the lock.
    let head = HEAD.load(Relaxed);
    // Relaxed: published by the next store.
    entry.next.store(head, Relaxed);
    // Release: pairs with the Acquire load of `HEAD` in `find`.
    HEAD.store(ptr::from_ref(entry).cast_mut(), Release);
    entry
}

/// The stack whose slot holds `address`. Async-signal-safe.
///
/// A stack with an entry of its own takes precedence over a region: it is a pooled stack in a wrapper.
pub(crate) fn find(address: usize) -> Option<Slot> {
    let mut in_region = None;
    // Acquire: pairs with the Release store in `link`.
    let mut next = HEAD.load(Acquire);
    // SAFETY: entries are leaked, so all entries of the list are alive.
    while let Some(entry) = unsafe { next.as_ref() } {
        if let Some(live) = entry.read().filter(|live| (live.start..live.end).contains(&address)) {
            if live.stride == 0 {
                return Some(Slot { guard: live.start, top: live.end, label: live.label });
            }
            in_region = Some(live);
        }
        // Relaxed: the entry was linked before the head that led here was published.
        next = entry.next.load(Relaxed);
    }
    in_region.map(|live| crate::stack::slot_at(live.start, live.stride, live.first, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    type Step = Box<dyn FnOnce()>;

    /// One test at a time: they rely on which entry is reused next.
    static ALONE: Mutex<()> = Mutex::new(());

    thread_local! {
        /// What happens while this thread reads the next entry.
        static BETWEEN: RefCell<Option<Step>> = const { RefCell::new(None) };
    }

    pub(super) fn between_loads() {
        if let Some(step) = BETWEEN.take() {
            step();
        }
    }

    /// A pretended region with its slots.
    fn region(start: usize) -> Registration {
        Registration::of_region(start, start + (1 << 20), 1 << 18, 0)
    }

    /// Addresses beyond user space, so no stack has them.
    const LOW: usize = 1 << 60;
    const MIDDLE: usize = LOW + (1 << 30);
    const HIGH: usize = LOW + (2 << 30);

    #[test]
    fn what_changes_while_it_is_read_is_passed_over() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for is_gone in [false, true] {
            // The newest entry, which is read first.
            let entry = Box::leak(Box::<Entry>::default());
            let vacated = std::mem::take(&mut *VACANT.lock().unwrap());
            VACANT.lock().unwrap().push(link(entry));
            let high = region(HIGH);
            assert!(entry.read().is_some_and(|live| live.start == HIGH));
            BETWEEN.set(Some(Box::new(move || {
                drop(high);
                if !is_gone {
                    // Reuses the entry: the reader sees the old end and the new start.
                    std::mem::forget(region(LOW));
                }
            })));
            assert!(find(MIDDLE).is_none(), "nothing is there");
            assert_eq!(entry.read().map(|live| live.start), (!is_gone).then_some(LOW));
            VACANT.lock().unwrap().extend(vacated);
        }
    }

    #[test]
    fn a_stack_is_found_while_others_come_and_go() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = Registration::of_stack(MIDDLE + (5 << 20), MIDDLE + (6 << 20), ptr::null());
        let churn = std::thread::spawn(|| {
            for round in 0..if cfg!(miri) { 20 } else { 20_000 } {
                drop([region(if round % 2 == 0 { LOW } else { HIGH }), region(LOW + (9 << 20))]);
            }
        });
        while !churn.is_finished() {
            let slot = find(MIDDLE + (5 << 20)).expect("it is registered");
            assert_eq!((slot.limit(), slot.top), (MIDDLE + (5 << 20), MIDDLE + (6 << 20)));
        }
        churn.join().unwrap();
        drop(ours);
    }
}
