//! Small blocks of memory that a worker keeps for the next thread: descriptors come and go at every spawn.
//!
//! Invariants:
//! 1. A block of a class is always allocated and freed with that class's layout (size rounded up to [`STEP`],
//!    aligned to [`ALIGN`]), by whichever kernel thread; so any worker may keep it, and anyone may give it
//!    back to the system.
//! 2. The blocks in `free[class]` belong to this worker alone; the first word of each is the link.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

const STEP: usize = 64;
const ALIGN: usize = 16;
const CLASSES: usize = 8;
/// Blocks that a class keeps at most.
const KEEP: u32 = 1024;

/// The blocks that a worker keeps. See the module's text.
pub(crate) struct Blocks {
    free: [Class; CLASSES],
}

struct Class {
    first: Cell<*mut *mut u8>,
    count: Cell<u32>,
}

/// The class of a layout; `None` if it is not for blocks.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn class_of(layout: Layout) -> Option<usize> {
    if layout.size() == 0 || layout.size() > STEP * CLASSES || layout.align() > ALIGN {
        return None;
    }
    Some((layout.size() - 1) / STEP)
}

/// What a block of `layout` is allocated as (invariant 1).
#[cfg_attr(not(debug_assertions), inline(always))]
fn layout_of(layout: Layout) -> Layout {
    match class_of(layout) {
        // SAFETY: a small multiple of 64 with a power of two as alignment.
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
                // SAFETY: invariant 2: ours, and its first word is the link.
                class.first.set(unsafe { block.read() }.cast());
                class.count.set(class.count.get() - 1);
                return block.cast();
            }
        }
        take_from_system(layout)
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// It came from [`take`](Self::take) or [`take_from_system`] with this layout, and is not used any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn give(&self, block: NonNull<u8>, layout: Layout) {
        if let Some(class) = class_of(layout) {
            let class = &self.free[class];
            if class.count.get() < KEEP {
                let block = block.cast::<*mut u8>();
                // SAFETY: ours now, large enough for a word and aligned.
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

/// As [`Blocks::take`], where there is no worker.
#[cold]
pub(crate) fn take_from_system(layout: Layout) -> NonNull<u8> {
    let layout = layout_of(layout);
    // SAFETY: the size is not zero (the callers allocate descriptors).
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// As [`Blocks::give`], where there is no worker.
///
/// # Safety
/// As for [`Blocks::give`].
#[cold]
pub(crate) unsafe fn give_to_system(block: NonNull<u8>, layout: Layout) {
    // SAFETY: invariant 1.
    unsafe { dealloc(block.as_ptr(), layout_of(layout)) }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (at, class) in self.free.iter().enumerate() {
            let layout = Layout::from_size_align((at + 1) * STEP, ALIGN).expect("small and aligned");
            while let Some(block) = NonNull::new(class.first.get()) {
                // SAFETY: invariant 2.
                class.first.set(unsafe { block.read() }.cast());
                // SAFETY: invariant 1.
                unsafe { give_to_system(block.cast(), layout) };
            }
        }
    }
}
