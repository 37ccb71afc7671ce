//! The slots of the owners: each publishes the object whose section its worker is in, for all kernel threads
//! to see.
//!
//! Slots are static, so that a thread that reads an epoch in a word can look at its slot, also after the
//! worker has ended. The protocol is described in [`bias`](super).

use super::bulk_revocation::{BulkRevocation, CALM};
use crate::sync_shim::{AtomicUsize, Mutex, Ordering, left_out, relax};
use std::marker::PhantomData;

// Not the shim's type, which the checker tracks for values that are freed by protocol.
#[cfg(not(loom))]
pub(super) use crate::sync_shim::AtomicU32;
#[cfg(loom)]
pub(super) use loom::sync::atomic::AtomicU32;

/// The number of workers of a process that can own objects at a time; the objects of other workers are
/// shared.
const SLOTS: usize = if cfg!(loom) { 2 } else { 256 };
/// An epoch is its slot's index and, from this bit on, its number in that slot, beginning with 1: never equal
/// to a state of the word.
const NUMBER: u32 = 256;
/// In place of an epoch when the numbers have run out. No word ever holds it.
const NO_EPOCH: u32 = 3;

/// Release, or Relaxed in a broken variant.
macro_rules! release_unless {
    ($what:ident) => {
        if left_out!($what) { Ordering::Relaxed } else { Ordering::Release }
    };
}

pub(super) use release_unless;

/// The slot of one owner. On cache lines of its own: the owner writes it twice in each operation.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Slot {
    /// The address of the word whose section the owner is in, or 0.
    busy: AtomicUsize,
    /// The present epoch, or the last one.
    epoch: AtomicU32,
    /// The newest epoch that is over.
    over: AtomicU32,
    pub(crate) bulk_revocation: BulkRevocation,
}

impl Slot {
    /// Owner: announces a section.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn announce(&self, address: usize) {
        // Relaxed: the owner reads its own store.
        debug_assert_eq!(self.busy.load(Ordering::Relaxed), 0, "a section within a section");
        // Release pairs with the Acquire loads in `wait_outside`: a revoker that reads this comes after the
        // previous section.
        self.busy.store(address, release_unless!(BiasEntry));
    }

    /// Owner: ends its section.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn retreat(&self) {
        // Release pairs with the Acquire loads in `wait_outside`: the revoker comes after the section.
        self.busy.store(0, release_unless!(BiasExit));
    }

    /// The present epoch.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn epoch(&self) -> u32 {
        // Relaxed: only compared; the owner's barrier is between its `busy` and this load (bias: Orderings).
        self.epoch.load(Ordering::Relaxed)
    }

    /// Owner: the epoch that may own an object that has not been used.
    pub(super) fn adopts(&self) -> Option<u32> {
        self.owns_below(CALM)
    }

    /// Owner: the epoch that may own an object of an earlier epoch of this slot.
    pub(super) fn adopts_again(&self) -> Option<u32> {
        self.owns_below(2 * CALM)
    }

    fn owns_below(&self, bearable: u32) -> Option<u32> {
        let epoch = self.epoch();
        (epoch != NO_EPOCH && self.bulk_revocation.is_below(bearable)).then_some(epoch)
    }

    /// True if the owner is, and stays, outside of all objects of epoch `epoch`.
    pub(super) fn is_over(&self, epoch: u32) -> bool {
        // Acquire pairs with the Release in `has_ended`: the caller comes after all sections of the epoch.
        self.over.load(Ordering::Acquire) >= epoch || (left_out!(BiasStale) && self.epoch() != epoch)
    }

    /// Starts the epoch after `epoch`; false if that has been done. `epoch` is over only after a heavy
    /// barrier and [`wait_outside`](Self::wait_outside).
    pub(super) fn end_epoch(&self, epoch: u32) -> bool {
        let next = epoch.checked_add(NUMBER).unwrap_or(NO_EPOCH);
        // Relaxed: the caller's heavy barrier is between this and its load of `busy`; nothing is published.
        self.epoch.compare_exchange(epoch, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records that epoch `epoch` and all before it are over.
    pub(super) fn has_ended(&self, epoch: u32) {
        // Release pairs with the Acquire load in `is_over`.
        self.over.fetch_max(epoch, release_unless!(BiasOver));
    }

    /// After the heavy barrier: waits until the owner has left its section on `address`, if it is in one
    /// (`any`: on any object). A section that begins later sees what the caller did before the barrier, so
    /// there is at most one to wait for.
    pub(super) fn wait_outside(&self, address: usize, any: bool) {
        // Acquire pairs with the Release stores of `busy`: the caller comes after the last section.
        let inside = self.busy.load(Ordering::Acquire);
        let any = any && !left_out!(BiasAny);
        if inside == 0 || !(any || inside == address) || left_out!(NoWait) {
            return;
        }
        let mut spins = 0;
        // Acquire pairs with the Release stores of `busy`: the caller comes after the section.
        while self.busy.load(Ordering::Acquire) == inside {
            relax(&mut spins);
        }
    }

    /// Begins the epoch of a worker that has taken slot number `index`; false if the numbers have run out.
    fn begin(&self, index: usize) -> bool {
        let next = |epoch: u32| match epoch {
            0 => Some(NUMBER | index as u32),
            NO_EPOCH => None,
            epoch => epoch.checked_add(NUMBER),
        };
        self.bulk_revocation.forget();
        // Relaxed: only compared. An atomic update, because a revoker of an older epoch may change it too.
        self.epoch.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
impl Slot {
    /// Makes the present epoch the last one.
    pub(super) fn use_up_epochs(&self) {
        // Relaxed: the caller is the owner, and the value is only compared.
        self.epoch.fetch_or(!(NUMBER - 1), Ordering::Relaxed);
    }
}

struct Table {
    slots: [Slot; SLOTS],
    taken: Mutex<[bool; SLOTS]>,
}

macro_rules! slot {
    () => {
        Slot {
            busy: AtomicUsize::new(0),
            epoch: AtomicU32::new(0),
            over: AtomicU32::new(0),
            bulk_revocation: BulkRevocation::new(),
        }
    };
}

#[cfg(not(loom))]
fn table() -> &'static Table {
    static TABLE: Table = Table { slots: [const { slot!() }; SLOTS], taken: Mutex::new([false; SLOTS]) };
    &TABLE
}

#[cfg(loom)]
fn table() -> &'static Table {
    loom::lazy_static! {
        static ref TABLE: Table =
            Table { slots: std::array::from_fn(|_| slot!()), taken: Mutex::new([false; SLOTS]) };
    }
    &TABLE
}

/// The slot of an epoch.
pub(super) fn slot_of(epoch: u32) -> &'static Slot {
    &table().slots[(epoch % NUMBER) as usize]
}

/// A worker's right to a slot: taken on its kernel thread, and released there by dropping it.
#[derive(Debug)]
pub(crate) struct Lease {
    slot: &'static Slot,
    one_kernel_thread: PhantomData<*const ()>,
}

impl Lease {
    /// A free slot; `None` if there is none, or no `membarrier`. Called after the probe.
    pub(crate) fn take() -> Option<Self> {
        if !crate::sync_shim::has_membarrier() {
            return None;
        }
        let table = table();
        let mut taken = table.taken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut free = table.slots.iter().zip(taken.iter_mut()).enumerate();
        let (_, (slot, taken)) = free.find(|(index, (slot, taken))| !**taken && slot.begin(*index))?;
        *taken = true;
        Some(Self { slot, one_kernel_thread: PhantomData })
    }

    /// For [`Bias::enter`](super::Bias::enter), on this kernel thread only.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn slot(&self) -> &'static Slot {
        self.slot
    }
}

impl Drop for Lease {
    /// The epoch is over without a barrier: all of its sections ran on this kernel thread.
    fn drop(&mut self) {
        self.slot.has_ended(self.slot.epoch());
        let table = table();
        let mut taken = table.taken.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(at) = table.slots.iter().position(|slot| std::ptr::eq(slot, self.slot)) {
            taken[at] = false;
        }
    }
}
