//! A chunk: 64 KiB, aligned to 64 KiB, of blocks of one class behind one header. And the layout of a free
//! block.
//!
//! Invariants:
//! 1. A block begins inside its chunk or right behind its end, never at its start: the header is found by
//!    masking the address of the byte before the block, whatever the block's size ([`Chunk::of`]).
//! 2. A header is constant from before the chunk's first block is handed out until the chunk is released.

use super::Shared;
use std::cell::Cell;
use std::ptr::NonNull;

/// Bytes and alignment of a chunk.
pub(super) const CHUNK: usize = 64 << 10;
/// Bytes that the header takes.
pub(super) const HEADER: usize = 64;

/// The header of a chunk.
#[repr(C)]
pub(super) struct Chunk {
    /// The slab that it belongs to, which lives as long as any of its blocks.
    pub(super) shared: NonNull<Shared>,
    pub(super) owner: *const (),
    /// The index of its region in the table.
    pub(super) region: usize,
    pub(super) class: u32,
    /// The offset of the first block.
    pub(super) first: u32,
}

const _: () = assert!(size_of::<Chunk>() <= HEADER);

impl Chunk {
    /// The chunk of a block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of(block: NonNull<Block>) -> NonNull<Chunk> {
        let chunk = block.as_ptr().map_addr(|address| (address - 1) & !(CHUNK - 1));
        // SAFETY: no chunk lies at address 0.
        unsafe { NonNull::new_unchecked(chunk.cast()) }
    }

    /// The block at `offset` bytes from the start of `chunk`.
    ///
    /// # Safety
    /// It lies in the chunk.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn at(chunk: NonNull<Chunk>, offset: usize) -> NonNull<Block> {
        // SAFETY: as promised by the caller.
        unsafe { chunk.cast::<u8>().add(offset).cast() }
    }
}

/// The first two words of a block, which the slab uses.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Block {
    /// The next block of the list that holds this one, once it has been freed.
    pub(crate) link: Cell<*mut Block>,
    /// Null while the block is free: see the invariants of [`super`].
    pub(crate) mark: Cell<*const ()>,
}
