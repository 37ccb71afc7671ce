//! Poisons free blocks for AddressSanitizer, except for the slab's own two words. AddressSanitizer sees the
//! slab's memory only as a few large mappings, and would not notice the use of a freed block.
//!
//! Invariant: what [`free`] has poisoned is unpoisoned by [`taken`] before it is handed out, or by [`chunk`]
//! before it is carved again.

use super::chunk::{Block, CHUNK, Chunk};
use super::class::size_of_class;
use std::ffi::c_void;
use std::ptr::NonNull;

#[cfg(feature = "asan")]
mod sanitizer {
    use super::c_void;

    // SAFETY: declared as in the sanitizer's interface header.
    unsafe extern "C" {
        pub(super) fn __asan_poison_memory_region(start: *const c_void, bytes: usize);
        pub(super) fn __asan_unpoison_memory_region(start: *const c_void, bytes: usize);
    }
}

/// Poisons or unpoisons `bytes` at `start`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn mark(start: *const c_void, bytes: usize, usable: bool) {
    #[cfg(feature = "asan")]
    // SAFETY: changes only the sanitizer's shadow memory.
    unsafe {
        if usable {
            sanitizer::__asan_unpoison_memory_region(start, bytes);
        } else {
            sanitizer::__asan_poison_memory_region(start, bytes);
        }
    }
    #[cfg(not(feature = "asan"))]
    let _ = (start, bytes, usable);
}

/// The block has entered the list of its class.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn free(block: NonNull<Block>, class: usize) {
    let rest = block.as_ptr().wrapping_add(1);
    mark(rest.cast(), size_of_class(class) - size_of::<Block>(), false);
}

/// The block has left the list of its class.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn taken(block: NonNull<Block>, class: usize) {
    mark(block.as_ptr().cast(), size_of_class(class), true);
}

/// The chunk is carved into blocks again.
pub(super) fn chunk(chunk: NonNull<Chunk>) {
    mark(chunk.as_ptr().cast(), CHUNK, true);
}
