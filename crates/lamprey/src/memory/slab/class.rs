//! Size classes: the block size for a layout. All of it is folded when the layout is constant.
//!
//! Invariants:
//! 1. Every layout of a class fits into its blocks, in size and in alignment.
//! 2. A block is a multiple of 8 bytes and at least two words.

use super::chunk::{CHUNK, HEADER};
use std::alloc::Layout;

/// Classes of multiples of [`STEP`], up to [`FINE`] bytes, from two words on.
const STEP: usize = 8;
const FINE: usize = 512;
const FINE_CLASSES: usize = FINE / STEP - 1;
/// Above that, eight classes for each doubling: at most an eighth is wasted.
const DOUBLINGS: usize = 4;
const LARGEST: usize = FINE << DOUBLINGS;
/// Above that, one class for each number of blocks that share a chunk: the waste is spread over the blocks,
/// not left untouched at the end, because a chunk may lie in a huge page.
const PACKED: usize = FINE_CLASSES + 8 * DOUBLINGS;
const SHARES: usize = ROOM / LARGEST;

/// The number of classes.
pub(super) const CLASSES: usize = PACKED + SHARES;
/// The class of chunks that hold one block, too large or too strongly aligned for the other classes.
pub(super) const HUGE: usize = CLASSES;
/// The strongest alignment in a class.
const ALIGN: usize = 2 * HEADER;
/// The bytes of a chunk that are available for blocks of that alignment.
const ROOM: usize = CHUNK - ALIGN;

/// The class of a layout, or [`HUGE`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) const fn class_of(layout: Layout) -> usize {
    if layout.align() > ALIGN || layout.size() > ROOM {
        return HUGE;
    }
    // A multiple of its alignment stays one in its class: up to FINE it is the block's size, and above that
    // all sizes are multiples of the step between them, which divides or is a multiple of every alignment up
    // to ALIGN.
    let size =
        (if layout.size() < 2 * STEP { 2 * STEP } else { layout.size() }).next_multiple_of(layout.align());
    if size <= FINE {
        size.div_ceil(STEP) - 2
    } else if size <= LARGEST {
        let doubling = ((size - 1) / FINE).ilog2() as usize;
        let start = FINE << doubling;
        FINE_CLASSES + 8 * doubling + (size - 1 - start) / (start / 8)
    } else {
        CLASSES - ROOM / size.next_multiple_of(ALIGN)
    }
}

/// The size of a block in bytes.
pub(super) const fn size_of_class(class: usize) -> usize {
    if class < FINE_CLASSES {
        (class + 2) * STEP
    } else if class < PACKED {
        let start = FINE << ((class - FINE_CLASSES) / 8);
        start + ((class - FINE_CLASSES) % 8 + 1) * (start / 8)
    } else {
        let share = ROOM / (CLASSES - class);
        share - share % ALIGN
    }
}

/// The offset of the first block of a chunk.
pub(super) const fn first_of_class(class: usize) -> usize {
    if size_of_class(class).is_multiple_of(ALIGN) { ALIGN } else { HEADER }
}

/// The number of blocks of a full chunk.
pub(super) const fn count_of_class(class: usize) -> usize {
    (CHUNK - first_of_class(class)) / size_of_class(class)
}

const _: () = {
    let mut class = 0;
    while class < CLASSES {
        let size = size_of_class(class);
        // Invariants 1 and 2 for the plain layout of that size, and that classes are distinct.
        assert!(size >= 16 && size.is_multiple_of(STEP) && count_of_class(class) > 0);
        let Ok(layout) = Layout::from_size_align(size, STEP) else { panic!("no layout") };
        assert!(class_of(layout) == class);
        class += 1;
    }
};
