//! Returning memory to the system: chunks without a live block, and regions with only such chunks.
//!
//! The marks tell which blocks are free, so no counts are needed: a chunk is read up to its first live block.
//! Then the free lists are rebuilt from the chunks that stay. That reads every block, so `trim` does nothing
//! if fewer than an eighth of the chunks are free.

use super::Slab;
use super::chunk::Chunk;
use super::class::HUGE;
use super::region::{Region, Regions};
use std::ptr::{self, NonNull};

/// Chunks are released if at least one in so many is free.
const WORTH: u32 = 8;

impl Slab {
    /// Returns memory without live blocks to the system; the number of bytes. For an idle worker: it reads
    /// the free blocks, and if much is released, all the others too.
    pub(crate) fn trim(&self) -> usize {
        self.take_in();
        self.regions(|regions| {
            let (used, idle) = self.find_idle(regions);
            if idle == 0 || idle * WORTH < used {
                return 0;
            }
            let before = regions.bytes();
            regions.retain(|region| self.release_idle(region));
            self.list_free(regions);
            before - regions.bytes()
        })
    }

    /// Records in each region which of its chunks have no live block. Returns the number of used chunks, and
    /// the number of those without a live block.
    fn find_idle(&self, regions: &mut Regions) -> (u32, u32) {
        let (mut used, mut idle) = (0, 0);
        for region in regions.iter_mut() {
            region.idle = region.chunks(!0).filter(|&chunk| self.is_idle(chunk)).map(|c| region.bit(c)).sum();
            used += region.used.count_ones();
            idle += region.idle.count_ones();
        }
        (used, idle)
    }

    fn is_idle(&self, chunk: NonNull<Chunk>) -> bool {
        self.live_of(chunk).next().is_none()
    }

    /// Releases the idle chunks of a region; false if the whole region can go.
    fn release_idle(&self, region: &mut Region) -> bool {
        for chunk in region.chunks(region.idle) {
            // SAFETY: a used chunk has a header.
            let class = unsafe { chunk.as_ref() }.class as usize;
            if class != HUGE && self.is_carving(class, chunk) {
                self.fresh[class].next.set(ptr::null_mut());
                self.fresh[class].left.set(0);
            }
        }
        if region.idle == region.used {
            return false;
        }
        for chunk in region.chunks(region.idle) {
            region.release(chunk);
        }
        true
    }

    /// Rebuilds the lists of free blocks.
    fn list_free(&self, regions: &mut Regions) {
        self.free.iter().for_each(|list| list.set(ptr::null_mut()));
        for chunk in regions.iter_mut().flat_map(|region| region.chunks(!0)) {
            // SAFETY: a used chunk has a header.
            let class = unsafe { chunk.as_ref() }.class as usize;
            for block in self.carved_of(chunk) {
                // SAFETY: handed out once, so readable; without its mark it is free, so the slab may link it.
                let words = unsafe { block.as_ref() };
                if words.mark.get().is_null() {
                    words.link.set(self.free[class].get());
                    self.free[class].set(block.as_ptr());
                }
            }
        }
    }
}
