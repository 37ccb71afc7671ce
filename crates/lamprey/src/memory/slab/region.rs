//! The source of chunks: regions of up to 4 MiB of address space, carved chunk by chunk.
//!
//! Invariants:
//! 1. `used` has a bit for each chunk of the region that has a valid header; all others are zero memory (from
//!    their second word on).
//! 2. A region of a huge block has one chunk, used from its birth: it is never carved.

use super::chunk::{Block, CHUNK, Chunk, HEADER};
use super::memory::Mapping;
use std::alloc::Layout;
use std::ptr::NonNull;

/// Chunks of a full region: one for each bit of `used`.
const CHUNKS: usize = if cfg!(miri) { 4 } else { 64 };
/// The number of regions that a slab maps before it asks for huge pages: with fewer, a small program would
/// use much memory.
const SMALL_PAGES: usize = 8;

/// A region of chunks.
pub(super) struct Region {
    mapping: Mapping,
    /// The first chunk.
    pub(super) chunks: NonNull<u8>,
    count: usize,
    pub(super) used: u64,
    /// Scratch data of `trim`: chunks without a live block.
    pub(super) idle: u64,
}

impl Region {
    /// A region with as many chunks as the system grants.
    fn new(huge_pages: bool) -> Option<Self> {
        let mut count = CHUNKS;
        loop {
            let layout = Layout::from_size_align(count * CHUNK, CHUNK).ok()?;
            if let Some(mapping) = Mapping::new(layout) {
                if huge_pages {
                    mapping.prefer_huge_pages();
                }
                let chunks = mapping.start();
                return Some(Self { mapping, chunks, count, used: 0, idle: 0 });
            }
            if count == 1 {
                return None;
            }
            count /= 2;
        }
    }

    /// A region for one block of `layout`, and the block's offset in its only chunk.
    fn huge(layout: Layout) -> Option<(Self, usize)> {
        // Up to an alignment of half a chunk, the header fits in front of the block in the same chunk; above
        // that, the header is in the chunk before the block.
        let lead = layout.align().max(HEADER);
        let (skip, first) = if lead <= CHUNK / 2 { (0, lead) } else { (lead.max(CHUNK) - CHUNK, CHUNK) };
        let bytes = layout
            .size()
            .max(size_of::<Block>())
            .checked_add(skip + first)?
            .checked_next_multiple_of(CHUNK)?;
        let mapping = Mapping::new(Layout::from_size_align(bytes, layout.align().max(CHUNK)).ok()?)?;
        // SAFETY: `skip` is below `bytes`.
        let chunks = unsafe { mapping.start().add(skip) };
        Some((Self { mapping, chunks, count: 1, used: 1, idle: 0 }, first))
    }

    /// The used chunks in `mask`.
    pub(super) fn chunks(&self, mask: u64) -> impl Iterator<Item = NonNull<Chunk>> + use<> {
        let (start, mut left) = (self.chunks, mask & self.used);
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            // SAFETY: `used` has bits for chunks of the region only.
            (at < CHUNKS).then(|| unsafe { start.add(at * CHUNK) }.cast())
        })
    }

    /// The bit of a chunk of this region.
    pub(super) fn bit(&self, chunk: NonNull<Chunk>) -> u64 {
        1 << ((chunk.addr().get() - self.chunks.addr().get()) / CHUNK)
    }

    /// The bytes of its used chunks, or of its one block.
    pub(super) fn bytes(&self) -> usize {
        if self.count == 1 { self.mapping.bytes() } else { self.used.count_ones() as usize * CHUNK }
    }

    /// Returns the memory of a chunk to the system. If the system refuses, the chunk stays unchanged.
    pub(super) fn release(&mut self, chunk: NonNull<Chunk>) {
        let bit = self.bit(chunk);
        if self.mapping.clear(chunk.cast(), CHUNK) {
            self.used &= !bit;
        }
    }
}

/// All regions of a slab. The index of a region is constant while it lives.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) table: Vec<Option<Region>>,
    /// No region before this one has an unused chunk.
    open: usize,
}

impl Regions {
    /// An unused chunk, and the index of its region. The caller writes its header.
    pub(super) fn take_chunk(&mut self) -> Option<(NonNull<Chunk>, usize)> {
        while self.open < self.table.len() {
            if let Some(region) = &mut self.table[self.open] {
                let at = region.used.trailing_ones() as usize;
                if at < region.count {
                    region.used |= 1 << at;
                    // SAFETY: within the region.
                    return Some((unsafe { region.chunks.add(at * CHUNK) }.cast(), self.open));
                }
            }
            self.open += 1;
        }
        let huge_pages = self.table.len() >= SMALL_PAGES;
        self.open = self.insert(|| Region::new(huge_pages))?;
        self.take_chunk()
    }

    /// A chunk for one block of `layout`, the index of its region, and the block's offset.
    pub(super) fn take_huge(&mut self, layout: Layout) -> Option<(NonNull<Chunk>, usize, usize)> {
        let mut first = 0;
        let place = self.insert(|| {
            let (region, at) = Region::huge(layout)?;
            first = at;
            Some(region)
        })?;
        let chunk = self.get(place)?.chunks.cast();
        Some((chunk, place, first))
    }

    /// Inserts a new region into the table; returns its index.
    fn insert(&mut self, make: impl FnOnce() -> Option<Region>) -> Option<usize> {
        let vacant = self.table.iter().position(Option::is_none);
        if vacant.is_none() {
            // A failure here is exhaustion too, so it must not abort.
            self.table.try_reserve(1).ok()?;
        }
        let region = make()?;
        let place = vacant.unwrap_or(self.table.len());
        match vacant {
            Some(place) => self.table[place] = Some(region),
            None => self.table.push(Some(region)),
        }
        Some(place)
    }

    pub(super) fn get(&self, place: usize) -> Option<&Region> {
        self.table.get(place)?.as_ref()
    }

    /// All regions, for a caller that may free chunks in them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Region> {
        self.open = 0;
        self.table.iter_mut().flatten()
    }

    /// Unmaps the regions for which `stays` returns false.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(&mut Region) -> bool) {
        for slot in &mut self.table {
            slot.take_if(|region| !stays(region));
        }
    }

    /// The bytes of used chunks, with or without a live block.
    pub(super) fn bytes(&self) -> usize {
        self.table.iter().flatten().map(Region::bytes).sum()
    }

    /// Unmaps a region.
    pub(super) fn remove(&mut self, place: usize) {
        self.open = self.open.min(place);
        self.table[place] = None;
    }

    /// The upper bound of all indices.
    pub(super) fn places(&self) -> usize {
        self.table.len()
    }
}
