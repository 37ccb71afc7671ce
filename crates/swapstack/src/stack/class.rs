//! The stacks of one size, behind the lock of the shared pool.
//!
//! Invariants:
//! * A slot below `next` of the current region, and every slot of the regions before it, has its `PooledStack`: in use, in a
//!   [`LocalPool`](crate::LocalPool), in exactly one of the three lists here, or in the hands of one function that puts it back.
//!   Slots from `next` on have never been touched.
//! * `dirty` stacks may have resident pages; `clean` ones have none; `unguarded` ones have no guard (yet, or any
//!   more: [`reclaim`](super::reclaim)) and are not handed out without one.

use super::pool::{CLASSES, Inner};
use super::region::{PooledStack, Region};
use std::io;
use std::ptr;
use std::sync::Arc;

/// The first region of a class is small, so that a small program reserves little; each further one is
/// twice as large, so that a million stacks need few mappings.
const FIRST_REGION_SLOTS: usize = 64;
const LAST_REGION_SLOTS: usize = 16 << 10;

#[derive(Default)]
pub(super) struct Class {
    pub(super) dirty: Vec<PooledStack>,
    pub(super) clean: Vec<PooledStack>,
    /// The smallest length of `dirty` since the present period began.
    pub(super) fewest: usize,
    /// The number of stacks in `dirty` that were not needed in the period before, and have not been trimmed
    /// yet.
    pub(super) unneeded: usize,
    pub(super) unguarded: Vec<PooledStack>,
    /// The region that stacks are carved from.
    region: Option<Arc<Region>>,
    /// The first slot of `region` that has not been carved.
    next: usize,
    pub(super) regions: usize,
    pub(super) reserved_bytes: usize,
    pub(super) carved: usize,
}

impl Class {
    /// Moves idle stacks to `into` until it has `wanted`; appends what is missing then to `bare`, without guards.
    ///
    /// # Errors
    /// If no more can be mapped. Both lists keep what they have got.
    pub(super) fn take(
        &mut self,
        pool: &Arc<Inner>,
        class: usize,
        wanted: usize,
        into: &mut Vec<PooledStack>,
        bare: &mut Vec<PooledStack>,
    ) -> io::Result<()> {
        while into.len() < wanted
            && let Some(stack) = self.dirty.pop().or_else(|| self.clean.pop())
        {
            into.push(stack);
        }
        self.fewest = self.fewest.min(self.dirty.len());
        while into.len() + bare.len() < wanted {
            let stack = match self.unguarded.pop() {
                Some(stack) => stack,
                None => self.carve(pool, class)?,
            };
            bare.push(stack);
        }
        Ok(())
    }

    /// A new stack, without a guard.
    fn carve(&mut self, pool: &Arc<Inner>, class: usize) -> io::Result<PooledStack> {
        let region = match &self.region {
            Some(region) if self.next < region.slots() => region,
            full => {
                let slots = full.as_ref().map_or(FIRST_REGION_SLOTS, |last| last.slots() * 2);
                let region = map(pool, class, slots.min(LAST_REGION_SLOTS))?;
                self.regions += 1;
                self.reserved_bytes += region.bytes();
                self.next = 0;
                self.region.insert(region)
            }
        };
        // SAFETY: slots from `next` on have no stack yet, and `next` moves past this one.
        let stack = unsafe { region.slot(self.next) };
        self.next += 1;
        self.carved += 1;
        Ok(stack)
    }

    /// Unmaps the regions whose stacks are all idle. Allocates nothing: it is called when there may be no memory.
    pub(super) fn unmap_idle(&mut self) {
        let lists = [&self.dirty, &self.clean, &self.unguarded];
        lists.into_iter().flatten().for_each(|stack| stack.region().begin_count());
        lists.into_iter().flatten().for_each(|stack| stack.region().count_idle());

        let (current, next) = (self.region.as_ref().map(Arc::as_ptr), self.next);
        let is_idle = |region: &Region| {
            let carved = if current == Some(ptr::from_ref(region)) { next } else { region.slots() };
            region.idle() == carved
        };
        if self.region.as_deref().is_some_and(is_idle) {
            (self.region, self.next) = (None, 0);
        }
        for list in [&mut self.dirty, &mut self.clean, &mut self.unguarded] {
            for stack in list.extract_if(.., |stack| is_idle(stack.region())) {
                self.carved -= 1;
                let bytes = stack.unmap();
                self.regions -= usize::from(bytes != 0);
                self.reserved_bytes -= bytes;
            }
        }
        (self.fewest, self.unneeded) = (0, 0);
    }
}

/// Maps a region of `slots`, or of fewer if the address space is nearly full.
fn map(pool: &Arc<Inner>, class: usize, slots: usize) -> io::Result<Arc<Region>> {
    match Region::map(slots, CLASSES[class], class, 0, pool.guard_kind(), Arc::downgrade(pool)) {
        Err(_) if slots > 1 => map(pool, class, slots / 2),
        result => result,
    }
}
