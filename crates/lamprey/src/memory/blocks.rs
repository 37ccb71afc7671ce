//! Free lists of small memory blocks that a worker keeps for descriptors, which are allocated and freed at
//! every spawn.
//!
//! Invariants:
//! 1. A block of a class is always allocated and freed with that class's layout (size rounded up to [`STEP`],
//!    aligned to [`ALIGN`]), by any kernel thread; so any worker may keep it, and any thread may return it to
//!    the system.
//! 2. The blocks in `free[class]` belong to this worker alone; the first word of each is the link.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

const STEP: usize = 64;
const ALIGN: usize = 16;
const CLASSES: usize = 8;
/// The largest number of free blocks that a class keeps.
const KEEP: u32 = 1024;

/// The free lists of one worker.
pub(crate) struct Blocks {
    free: [Class; CLASSES],
}

struct Class {
    first: Cell<*mut *mut u8>,
    count: Cell<u32>,
}

/// The class of a layout; `None` if its blocks are not kept.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn class_of(layout: Layout) -> Option<usize> {
    if layout.size() == 0 || layout.size() > STEP * CLASSES || layout.align() > ALIGN {
        return None;
    }
    Some((layout.size() - 1) / STEP)
}

/// The layout with which a block of `layout` is allocated (invariant 1).
#[cfg_attr(not(debug_assertions), inline(always))]
fn layout_of(layout: Layout) -> Layout {
    match class_of(layout) {
        // SAFETY: a non-zero multiple of 64, at most 512, and a power of two as alignment.
        Some(class) => unsafe { Layout::from_size_align_unchecked((class + 1) * STEP, ALIGN) },
        None => layout,
    }
}

impl Blocks {
    pub(crate) fn new() -> Self {
        Self { free: [const { Class { first: Cell::new(ptr::null_mut()), count: Cell::new(0) } }; CLASSES] }
    }

    /// Memory for `layout`, whose size is not zero.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&self, layout: Layout) -> NonNull<u8> {
        if let Some(class) = class_of(layout) {
            let class = &self.free[class];
            if let Some(block) = NonNull::new(class.first.get()) {
                // SAFETY: invariant 2: the block is this worker's, and its first word is the link.
                class.first.set(unsafe { block.read() }.cast());
                class.count.set(class.count.get() - 1);
                return block.cast();
            }
        }
        take_from_system(layout)
    }

    /// Takes back a block.
    ///
    /// # Safety
    /// It came from [`take`](Self::take) or [`take_from_system`] with this layout, and is not used any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn give(&self, block: NonNull<u8>, layout: Layout) {
        if let Some(class) = class_of(layout) {
            let class = &self.free[class];
            if class.count.get() < KEEP {
                let block = block.cast::<*mut u8>();
                // SAFETY: the caller has given the block up (contract); it is aligned and large enough for a
                // word.
                unsafe { block.write(class.first.get().cast()) };
                class.first.set(block.as_ptr());
                class.count.set(class.count.get() + 1);
                return;
            }
        }
        // SAFETY: as promised by the caller.
        unsafe { give_to_system(block, layout) }
    }
}

/// [`Blocks::take`] without a worker.
#[cold]
pub(crate) fn take_from_system(layout: Layout) -> NonNull<u8> {
    let layout = layout_of(layout);
    // SAFETY: the size is not zero (the callers allocate descriptors).
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// [`Blocks::give`] without a worker.
///
/// # Safety
/// As for [`Blocks::give`].
#[cold]
pub(crate) unsafe fn give_to_system(block: NonNull<u8>, layout: Layout) {
    // SAFETY: invariant 1: the block was allocated with this layout.
    unsafe { dealloc(block.as_ptr(), layout_of(layout)) }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (at, class) in self.free.iter().enumerate() {
            let layout = Layout::from_size_align((at + 1) * STEP, ALIGN).expect("small and aligned");
            while let Some(block) = NonNull::new(class.first.get()) {
                // SAFETY: invariant 2: the block is this worker's, and its first word is the link.
                class.first.set(unsafe { block.read() }.cast());
                // SAFETY: invariant 1: the block was allocated with this layout.
                unsafe { give_to_system(block.cast(), layout) };
            }
        }
    }
}
