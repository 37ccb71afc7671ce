//! The timer wheel of one worker: the deadlines of blocked threads, in an order that finds the next one.
//!
//! A pure data structure. It counts *ticks* of any length and uses no clock, no lock and no atomic. It
//! allocates nothing: a node lives on the stack of the thread that blocks (or in the future that waits), and
//! the wheel only links it.
//!
//! # Invariant
//! Write ticks as numbers in base 64, digit 0 the lowest. Let `now` be the tick the wheel has reached. A
//! linked node that expires at `at` is in the list of the level `L` and the slot `S` where
//! * `L` is the highest digit in which `at` and `now` differ (0 if they do not),
//! * `S` is digit `L` of `at`.
//!
//! As `at >= now` ([`Wheel::insert`] moves a tick of the past up to `now`), it follows that
//! * `S` is greater than digit `L` of `now` (equal only for `at == now`), so no level ever wraps round;
//! * every node of a level expires before every node of the levels above, and every node of a slot before
//!   those of the slots after it: the lowest bit of the lowest occupied level is the slot to look at next;
//! * the list of a node follows from `at` and `now` alone: it need not be stored, and `remove` needs no
//!   search;
//! * two nodes of one tick are always in the same list, so they fire in the order in which they were armed.
//!
//! `now` moves only to the start of the first occupied slot, or to a tick before it: both keep every other
//! node in its list. The slot itself is then fired (level 0) or cascaded into the levels below (the others).
//! The bit of a slot is set exactly while its list is not empty, the bit of a level exactly while one of its
//! slots is occupied.
//!
//! # Who may touch what
//! One kernel thread at a time touches the wheel and every node linked in it: always the same one, or the one
//! that holds the lock around the wheel. Nodes and wheel are neither `Send` nor `Sync`.
//!
//! # Limits
//! Cascading a slot of level 1 and up takes time in proportion to its nodes, once for each level that a node
//! passes (at most ten, usually two): about 0.1 us for each node whose cache lines have gone cold, without a
//! pause. A million deadlines inside one slot of level 2 (4096 ticks) hold up their worker for a tenth of a
//! second when that slot is reached.
//!
//! # Rejected
//! * A heap: `log n` for arming and also for cancelling, which is how nearly every timeout ends.
//! * Levels chosen by distance (`at - now`) instead of by digit: slots then wrap round, and the list of a
//!   node can no longer be computed when it is removed.
//! * Bits that are cleared only when the slot is reached: a cancelled timeout would still wake a sleeping
//!   worker.

#[cfg(not(loom))]
use crate::sync_shim::{Ordering, compiler_fence};
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::{self, NonNull};

/// Bits in a digit.
const DIGIT: u32 = 6;
/// Slots in a level: the values of one digit, and the bits of its occupancy word.
const SLOTS: usize = 1 << DIGIT;
/// Levels: the digits of a `u64` tick, so that every tick has a slot and nothing overflows.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT) as usize;

/// The largest number of nodes that a signal handler looks at.
const MOST_LOOKED_AT: usize = 1000;

/// One deadline. Lives on the stack of the thread, or in the future, that waits for it.
pub(crate) struct Node<T> {
    /// Neighbours in the circular list of a slot; null when not linked.
    next: Cell<*const Node<T>>,
    prev: Cell<*const Node<T>>,
    at: Cell<u64>,
    payload: T,
    _pinned: PhantomPinned,
}

impl<T> Node<T> {
    /// A node that is not linked. `payload` is what the wheel hands out when the node fires.
    pub(crate) const fn new(payload: T) -> Self {
        let (next, prev) = (Cell::new(ptr::null()), Cell::new(ptr::null()));
        Self { next, prev, at: Cell::new(0), payload, _pinned: PhantomPinned }
    }

    /// True from `insert` until the node fires or is removed.
    pub(crate) fn is_linked(&self) -> bool {
        !self.next.get().is_null()
    }

    /// What was given to `new`.
    pub(crate) fn payload(&self) -> &T {
        &self.payload
    }
}

impl<T> Drop for Node<T> {
    fn drop(&mut self) {
        debug_assert!(
            self.next.get().is_null(),
            "a timer node was dropped while its wheel still points to it"
        );
    }
}

/// The slots of one digit. A slot is the first node of a circular list, or null.
struct Level<T> {
    occupied: Cell<u64>,
    slots: [Cell<*const Node<T>>; SLOTS],
}

/// The deadlines of one worker.
pub(crate) struct Wheel<T> {
    now: Cell<u64>,
    len: Cell<usize>,
    /// Set while lists are being changed: a signal handler that interrupts the change must not read them.
    is_changing: Cell<bool>,
    /// Bit `L`: level `L` has a node.
    occupied: Cell<u32>,
    levels: [Level<T>; LEVELS],
}

impl<T> Wheel<T> {
    /// An empty wheel that has reached tick `now`.
    pub(crate) const fn new(now: u64) -> Self {
        let levels = [const { Level { occupied: Cell::new(0), slots: [const { Cell::new(ptr::null()) }; SLOTS] } };
            LEVELS];
        Self {
            now: Cell::new(now),
            len: Cell::new(0),
            is_changing: Cell::new(false),
            occupied: Cell::new(0),
            levels,
        }
    }

    /// [`Self::new`] for tick 0, in a box: a wheel is too large for the stack of a host.
    pub(crate) fn boxed() -> Box<Self> {
        // SAFETY: a new wheel is all zeros: null pointers, zero counts and empty bit sets.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// The tick that it has reached: while a node fires, the one at which it was due, or was armed if that was later.
    #[cfg(not(loom))]
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// How many nodes are linked.
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// Links `node`. It fires in the first [`Self::advance`] that reaches `at`; in the next one if `at` has
    /// passed.
    ///
    /// # Safety
    /// * `node` is not linked, in this wheel or in another.
    /// * Until it has fired or been removed, `node` is neither moved nor dropped, nor borrowed by `&mut`. (A
    ///   pinned `&mut` to its container does not count: the node is not `Unpin`.)
    pub(crate) unsafe fn insert(&self, node: &Node<T>, at: u64) {
        debug_assert!(!node.is_linked(), "a timer node was armed twice");
        node.at.set(at.max(self.now.get()));
        self.len.set(self.len.get() + 1);
        // SAFETY: not linked and pinned, by this function's contract.
        self.change(|| unsafe { self.link(node) });
    }

    /// Unlinks `node`; it will not fire. Does nothing if it is not linked.
    ///
    /// # Safety
    /// If `node` is linked, it is linked in this wheel.
    pub(crate) unsafe fn remove(&self, node: &Node<T>) {
        if node.is_linked() {
            self.len.set(self.len.get() - 1);
            // SAFETY: linked, and in this wheel by this function's contract.
            self.change(|| unsafe { self.unlink(node) });
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn change(&self, step: impl FnOnce()) {
        self.is_changing.set(true);
        // Release (both): a signal handler on this thread sees the changes after the first store and before
        // the second one.
        #[cfg(not(loom))]
        compiler_fence(Ordering::Release);
        step();
        // Release: keeps the changes before the store below, for a signal handler on this thread.
        #[cfg(not(loom))]
        compiler_fence(Ordering::Release);
        self.is_changing.set(false);
    }

    /// When the first node expires, for a signal handler that has interrupted the wheel's kernel thread
    /// anywhere but in [`advance`](Self::advance); `None` if the wheel is empty or in the middle of a change.
    pub(crate) fn earliest(&self) -> Option<u64> {
        if self.is_changing.get() {
            return None;
        }
        let (level, slot, _) = self.first()?;
        let first = self.levels[level].slots[slot].get();
        let (mut node, mut earliest) = (first, u64::MAX);
        for _ in 0..MOST_LOOKED_AT {
            // SAFETY: no list is in the middle of a change (checked on entry), and a linked node is alive by
            // the contract of `insert`.
            let this = unsafe { &*node };
            earliest = earliest.min(this.at.get());
            node = this.next.get();
            if node == first {
                break;
            }
        }
        Some(earliest)
    }

    /// Moves on to tick `to` and calls `fire` with the payload of every node that expires on the way, in the
    /// order of their ticks and, within one tick, in the order in which they were armed. A `to` of the past
    /// counts as now.
    ///
    /// A node is unlinked before its payload is handed out, so `fire` may free the node. `fire` may also
    /// insert and remove nodes; one that it inserts at a tick up to `to` fires within this call, so a `fire`
    /// that always re-arms at such a tick makes this loop for ever. It must not call `advance`. If it panics,
    /// nodes that have not fired stay armed.
    pub(crate) fn advance(&self, to: u64, mut fire: impl FnMut(T))
    where
        T: Copy,
    {
        while let Some(node) = self.pop_due(to) {
            // SAFETY: alive until its owner learns that it has fired.
            fire(unsafe { node.as_ref() }.payload);
        }
    }

    /// One step of [`Self::advance`]: moves on to the next node that expires by tick `to` and unlinks it;
    /// `None` when there is none left and `to` has been reached. The node is alive until its owner learns
    /// that it has fired.
    pub(crate) fn pop_due(&self, to: u64) -> Option<NonNull<Node<T>>> {
        let to = to.max(self.now.get());
        while let Some((level, slot, start)) = self.first().filter(|&(.., start)| start <= to) {
            if level > 0 {
                self.deal_out(level, slot, start);
                continue;
            }
            self.now.set(start);
            // SAFETY: an occupied slot points to a linked node, which is alive by the contract of `insert`.
            let first = unsafe { &*self.levels[level].slots[slot].get() };
            self.len.set(self.len.get() - 1);
            // SAFETY: it is linked in this wheel, at the head of this slot.
            unsafe { self.unlink(first) };
            return Some(NonNull::from(first));
        }
        self.now.set(to);
        None
    }

    /// A tick at which to call [`Self::advance`] again: no node expires before it. It is exact when the next
    /// expiry shares all but the last digit with `now`; further away it is the start of a slot, and advancing
    /// to it only cascades that slot. `None` if nothing is armed.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.first().map(|(.., start)| start)
    }

    /// The first occupied slot, as level, slot and the first tick that belongs to it.
    fn first(&self) -> Option<(usize, usize, u64)> {
        if self.occupied.get() == 0 {
            return None;
        }
        let level = self.occupied.get().trailing_zeros();
        let slot = self.levels[level as usize].occupied.get().trailing_zeros();
        let shift = level * DIGIT;
        // Two shifts: at the top level a single one would be by 66 bits, more than a `u64` has.
        let above = u64::MAX << shift << DIGIT;
        Some((level as usize, slot as usize, self.now.get() & above | u64::from(slot) << shift))
    }

    /// Where the invariant puts a node that expires at `at`.
    fn place(&self, at: u64) -> (usize, usize) {
        let differ = at ^ self.now.get();
        let level = (differ | 1).ilog2() / DIGIT;
        (level as usize, (at >> (level * DIGIT)) as usize % SLOTS)
    }

    /// Cascades a slot above level 0: moves `now` to its start and its nodes to the levels below, in their
    /// order.
    fn deal_out(&self, level: usize, slot: usize, start: u64) {
        let first = self.levels[level].slots[slot].replace(ptr::null());
        self.clear_bits(level, slot);
        self.now.set(start);
        let mut next = first;
        loop {
            // SAFETY: a node of the list, alive by the contract of `insert`.
            let node = unsafe { &*next };
            next = node.next.get();
            // SAFETY: the head of the list was set to null above, so no list holds its nodes; they are still
            // pinned.
            unsafe { self.link(node) };
            if next == first {
                return;
            }
        }
    }

    /// Appends `node` to its list.
    ///
    /// # Safety
    /// No list holds `node`; it stays where it is until it is unlinked.
    unsafe fn link(&self, node: &Node<T>) {
        let (level, slot) = self.place(node.at.get());
        let level_bits = 1 << level;
        let level = &self.levels[level];
        let first = level.slots[slot].get();
        let (prev, next) = if first.is_null() {
            level.slots[slot].set(node);
            level.occupied.set(level.occupied.get() | 1 << slot);
            self.occupied.set(self.occupied.get() | level_bits);
            (ptr::from_ref(node), ptr::from_ref(node))
        } else {
            // SAFETY: linked nodes are alive by the contract of `insert`; a linked node's neighbours are
            // linked.
            (unsafe { (*first).prev.get() }, first)
        };
        node.prev.set(prev);
        node.next.set(next);
        // SAFETY: `prev` is the node itself or linked, hence alive by the contract of `insert`.
        unsafe { (*prev).next.set(node) };
        // SAFETY: `next` is the node itself or linked, hence alive by the contract of `insert`.
        unsafe { (*next).prev.set(node) };
    }

    /// Takes `node` out of its list.
    ///
    /// # Safety
    /// `node` is linked in this wheel.
    unsafe fn unlink(&self, node: &Node<T>) {
        let (level, slot) = self.place(node.at.get());
        let head = &self.levels[level].slots[slot];
        debug_assert!(!head.get().is_null(), "a timer node is not in the wheel that removes it");
        let next = node.next.replace(ptr::null());
        let prev = node.prev.replace(ptr::null());
        if ptr::eq(next, node) {
            head.set(ptr::null());
            self.clear_bits(level, slot);
            return;
        }
        if ptr::eq(head.get(), node) {
            head.set(next);
        }
        // SAFETY: the neighbours of a linked node are linked, hence alive by the contract of `insert`.
        unsafe { (*prev).next.set(next) };
        // SAFETY: the neighbours of a linked node are linked, hence alive by the contract of `insert`.
        unsafe { (*next).prev.set(prev) };
    }

    /// Clears the bits of a slot that has become empty.
    fn clear_bits(&self, level: usize, slot: usize) {
        let slots = &self.levels[level].occupied;
        slots.set(slots.get() & !(1 << slot));
        if slots.get() == 0 {
            self.occupied.set(self.occupied.get() & !(1 << level));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
