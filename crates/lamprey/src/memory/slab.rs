//! Memory for stackless parasites: a slab allocator for each worker, with blocks in size classes. Allocating
//! a block, and freeing it on the owning worker, is a pop and a push. There may be ten million live blocks,
//! and all of them can be enumerated.
//!
//! A block has no header: its metadata is in the header of its chunk ([`chunk`]). Chunks are carved from
//! regions ([`region`]) one block at a time, so the thread that takes a new block is the first to touch its
//! memory.
//!
//! # Invariants
//! 1. **The mark.** The second word of a new block is null. The thread that takes the block writes a non-null
//!    value (a vtable) there before any other call on the slab, and does not change it; `give` on the owning
//!    worker sets it to null. So the mark tells live blocks from free ones, and only the owner's kernel
//!    thread writes it.
//! 2. A block that was freed on another kernel thread still has its mark until the owner receives it: only
//!    its first word (the link) has been written. An enumeration must find out from its other words that it
//!    is over ([`Slab::each_live`]).
//! 3. A free block is in exactly one list: that of its class, or the returns. Blocks beyond the position up
//!    to which the class has carved its chunk are in no list and have never been touched.
//! 4. Chunks live until their slab has been dropped and the last block has been returned ([`returns`]);
//!    `trim` releases only chunks without a live block.
//!
//! # Who may touch what
//! The slab: its owner's kernel thread. A live block: the thread that the owner gave it to. `owner_of`,
//! `give_from_outside`, and `give` on another slab: any kernel thread. No exclusive reference may cover the
//! first two words of a live block.
//!
//! # Rejected
//! * A header for each block: 8 bytes for each of ten million.
//! * Headers at different offsets in their chunks, so that they do not share cache sets: saves 1 of 8 ns when
//!   10,000 blocks are taken and freed in random order, nothing for fewer or in order.
//! * A count of live blocks for each chunk: one more write at each take and give; `trim` and `drop` read the
//!   marks instead. marks instead.

pub(crate) mod chunk;
mod class;
mod memory;
mod poison;
mod region;
pub(crate) mod returns;
mod trim;

#[cfg(all(test, not(loom)))]
mod tests;

use self::chunk::{Block, Chunk};
use self::class::{CLASSES, HUGE, class_of, count_of_class, first_of_class, size_of_class};
use self::region::{Region, Regions};
use self::returns::Returns;
use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr::{self, NonNull};

/// The slab allocator of one worker.
pub(crate) struct Slab {
    /// The free blocks of each class, last freed first.
    free: [Cell<*mut Block>; CLASSES],
    fresh: [Fresh; CLASSES],
    shared: NonNull<Shared>,
    one_kernel_thread: PhantomData<*const ()>,
}

/// Where an enumeration in pieces goes on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    region: usize,
    chunk: u32,
}

/// The part of a chunk that its class has not carved yet.
struct Fresh {
    next: Cell<*mut Block>,
    left: Cell<usize>,
}

/// The part of a slab that lives as long as any of its blocks.
struct Shared {
    returns: Returns,
    /// Accessed by the owner while it lives, then by the thread that ends the slab.
    regions: UnsafeCell<Regions>,
    owner: *const (),
    ended: unsafe fn(*const ()),
}

/// Where debuggers find the blocks: names and offsets, or sizes, in bytes.
pub(crate) const LAYOUT: [(&str, usize); 12] = [
    ("slab.shared", offset_of!(Slab, shared)),
    ("slab shared.regions", offset_of!(Shared, regions)),
    ("regions.table", offset_of!(Regions, table)),
    ("size of region", size_of::<Option<Region>>()),
    ("region.chunks", offset_of!(Region, chunks)),
    ("region.used", offset_of!(Region, used)),
    ("size of chunk", chunk::CHUNK),
    ("chunk.shared", offset_of!(Chunk, shared)),
    ("chunk.region", offset_of!(Chunk, region)),
    ("chunk.class", offset_of!(Chunk, class)),
    ("chunk.first", offset_of!(Chunk, first)),
    ("huge class", HUGE),
];

/// The sizes of the classes' blocks.
pub(crate) const SIZES: [usize; CLASSES] = {
    let mut sizes = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        sizes[class] = size_of_class(class);
        class += 1;
    }
    sizes
};

impl Slab {
    /// The part of it that debuggers find its blocks by.
    pub(crate) fn address(&self) -> *const () {
        self.shared.as_ptr().cast_const().cast()
    }

    /// A slab without memory. [`owner_of`] returns `owner` for each of its blocks. When the slab has been
    /// dropped and its last block has been returned, `ended` is called with `owner`, once, on the kernel
    /// thread that returned it.
    pub(crate) fn new(owner: *const (), ended: unsafe fn(*const ())) -> Self {
        let shared = Shared { returns: Returns::new(), regions: UnsafeCell::default(), owner, ended };
        Self {
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            fresh: [const { Fresh { next: Cell::new(ptr::null_mut()), left: Cell::new(0) } }; CLASSES],
            shared: NonNull::from(Box::leak(Box::new(shared))),
            one_kernel_thread: PhantomData,
        }
    }

    /// Allocates a block for `layout`; `None` if the system has no memory. The caller writes the mark at once
    /// (invariant 1).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let class = class_of(layout);
        if class == HUGE {
            return self.take_huge(layout);
        }
        match self.pop(class) {
            Some(block) => Some(block.cast()),
            None => self.refill(class),
        }
    }

    /// Frees a block of any slab.
    ///
    /// # Safety
    /// It came from `take` with this layout, has its mark, and the caller gives up its access. The caller
    /// runs on this slab's kernel thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn give(&self, block: NonNull<u8>, layout: Layout) {
        let (class, block) = (class_of(layout), block.cast::<Block>());
        // SAFETY: a live block's chunk has a header.
        let home = unsafe { Chunk::of(block).as_ref() }.shared;
        if class != HUGE && home == self.shared {
            self.push(class, block);
        } else {
            // SAFETY: as promised by the caller.
            unsafe { self.give_elsewhere(block) }
        }
    }

    /// The cases of `give` that are not a plain push.
    ///
    /// # Safety
    /// As for `give`.
    #[cold]
    #[inline(never)]
    unsafe fn give_elsewhere(&self, block: NonNull<Block>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if Chunk::of(block).as_ref().shared == self.shared {
                self.receive(block);
            } else {
                give_from_outside(block.cast());
            }
        }
    }

    /// Calls `f` with each block that has its mark. `f` may take and give blocks, including the one it is
    /// called with; a block that is taken during the call may or may not be visited. `f` must not call
    /// `trim`.
    ///
    /// A block may be over, or may be ending on another kernel thread at the same time (invariant 2). It
    /// stays readable, except for the link, until this slab receives it, which may be at the next `take`. So
    /// `f` first claims a block by one atomic step on a state word that fails when the block is over, and
    /// without a claim neither keeps nor touches it. Incrementing a reference count is not such a step.
    pub(crate) fn each_live(&self, mut f: impl FnMut(NonNull<u8>)) {
        let mut place = Place::default();
        while self.live_of_next_chunk(&mut place, &mut f) {}
    }

    /// A piece of [`each_live`](Self::each_live): the blocks of the first chunk from `place` on, which moves on. False if there is none.
    /// Between two calls anything may be done with the slab.
    pub(crate) fn live_of_next_chunk(&self, place: &mut Place, mut f: impl FnMut(NonNull<u8>)) -> bool {
        let Place { region, chunk } = place;
        while *region < self.regions(|regions| regions.places()) {
            let rest = u64::MAX.checked_shl(*chunk).unwrap_or(0);
            // The table may grow during `f`, so no reference into it is kept.
            let found = self.regions(|regions| {
                let region = regions.get(*region)?;
                region.chunks(rest).next().map(|found| (found, region.bit(found).trailing_zeros()))
            });
            if let Some((found, at)) = found {
                *chunk = at + 1;
                self.live_of(found).for_each(|block| f(block.cast()));
                return true;
            }
            (*region, *chunk) = (*region + 1, 0);
        }
        false
    }

    /// The number of bytes in its chunks.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.regions(|regions| regions.bytes())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pop(&self, class: usize) -> Option<NonNull<Block>> {
        let block = NonNull::new(self.free[class].get())?;
        poison::taken(block, class);
        // SAFETY: a block in the free list is the slab's (invariant 3), and only the owner's thread is here.
        self.free[class].set(unsafe { block.as_ref() }.link.get());
        Some(block)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&self, class: usize, block: NonNull<Block>) {
        // SAFETY: the caller has given the block up, so it is the slab's.
        let words = unsafe { block.as_ref() };
        debug_assert!(!words.mark.get().is_null(), "a block without its mark was given back, or one twice");
        words.link.set(self.free[class].get());
        words.mark.set(ptr::null());
        self.free[class].set(block.as_ptr());
        poison::free(block, class);
    }

    /// A block of a class whose list is empty: from the returns, or newly carved.
    #[cold]
    #[inline(never)]
    fn refill(&self, class: usize) -> Option<NonNull<u8>> {
        self.take_in();
        if let Some(block) = self.pop(class) {
            return Some(block.cast());
        }
        let fresh = &self.fresh[class];
        if fresh.left.get() == 0 {
            let (chunk, region) = self.regions(|regions| regions.take_chunk())?;
            let first = first_of_class(class);
            // SAFETY: an unused chunk of this slab, and the first block lies in it.
            fresh.next.set(unsafe { self.head(chunk, region, class, first) }.as_ptr());
            fresh.left.set(count_of_class(class));
        }
        let block = NonNull::new(fresh.next.get())?;
        // SAFETY: within the chunk, or its end.
        fresh.next.set(unsafe { block.byte_add(size_of_class(class)) }.as_ptr());
        fresh.left.set(fresh.left.get() - 1);
        Some(block.cast())
    }

    #[cold]
    #[inline(never)]
    fn take_huge(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.take_in();
        let (chunk, region, first) = self.regions(|regions| regions.take_huge(layout))?;
        // SAFETY: a chunk of this slab without a header, with room for the block.
        Some(unsafe { self.head(chunk, region, HUGE, first) }.cast())
    }

    /// Writes a chunk's header; returns its first block.
    ///
    /// # Safety
    /// The chunk is this slab's and has no header; the block lies in it.
    unsafe fn head(
        &self,
        chunk: NonNull<Chunk>,
        region: usize,
        class: usize,
        first: usize,
    ) -> NonNull<Block> {
        poison::chunk(chunk);
        // SAFETY: promised by the caller; the shared part lives as long as the slab.
        unsafe {
            let owner = self.shared.as_ref().owner;
            chunk.write(Chunk {
                shared: self.shared,
                owner,
                region,
                class: class as u32,
                first: first as u32,
            });
            Chunk::at(chunk, first)
        }
    }

    /// Receives the blocks that were freed on other kernel threads.
    fn take_in(&self) {
        // SAFETY: the shared part lives as long as the slab.
        for block in unsafe { self.shared.as_ref() }.returns.take() {
            self.receive(block);
        }
    }

    /// Frees a block of this slab, of any class.
    fn receive(&self, block: NonNull<Block>) {
        // SAFETY: its chunk has a header until this call ends.
        let (class, region) = unsafe {
            let chunk = Chunk::of(block).as_ref();
            (chunk.class as usize, chunk.region)
        };
        if class == HUGE {
            self.regions(|regions| regions.remove(region));
        } else {
            self.push(class, block);
        }
    }

    /// The blocks of a chunk that have been handed out at least once.
    fn carved_of(&self, chunk: NonNull<Chunk>) -> impl Iterator<Item = NonNull<Block>> + use<> {
        // SAFETY: a used chunk has a header.
        let (class, first) = unsafe { (chunk.as_ref().class as usize, chunk.as_ref().first as usize) };
        let (size, count) = if class == HUGE {
            (0, 1)
        } else {
            let left = if self.is_carving(class, chunk) { self.fresh[class].left.get() } else { 0 };
            (size_of_class(class), count_of_class(class) - left)
        };
        // SAFETY: `first` and the offsets of all blocks are within the chunk.
        (0..count).map(move |at| unsafe { Chunk::at(chunk, first + at * size) })
    }

    /// The blocks of a chunk that have their mark.
    fn live_of(&self, chunk: NonNull<Chunk>) -> impl Iterator<Item = NonNull<Block>> + use<> {
        // SAFETY: a block that was handed out once stays readable, and only this kernel thread writes marks
        // (invariant 1).
        self.carved_of(chunk).filter(|block| !unsafe { block.as_ref() }.mark.get().is_null())
    }

    /// True if `class` is carving `chunk`.
    fn is_carving(&self, class: usize, chunk: NonNull<Chunk>) -> bool {
        NonNull::new(self.fresh[class].next.get()).is_some_and(|next| Chunk::of(next) == chunk)
    }

    /// Calls `f` with the table of regions. `f` must not call this function.
    fn regions<R>(&self, f: impl FnOnce(&mut Regions) -> R) -> R {
        // SAFETY: only the owner's kernel thread accesses the table while the slab lives, and `f` does not
        // make a second reference.
        f(unsafe { &mut *self.shared.as_ref().regions.get() })
    }
}

/// Frees a block on a kernel thread without a slab, or one of another slab.
///
/// # Safety
/// It came from `take`, has its mark, and the caller gives up its access.
#[cold]
pub(crate) unsafe fn give_from_outside(block: NonNull<u8>) {
    let block = block.cast::<Block>();
    // SAFETY: a live block has a chunk, and keeps the shared part alive until it is returned; no reference to
    // the whole of it outlives that.
    unsafe {
        let shared = Chunk::of(block).as_ref().shared;
        if (*shared.as_ptr()).returns.give(block) {
            end(shared);
        }
    }
}

/// The owner word of the slab of a live block.
///
/// # Safety
/// The block is live, and the pointer is the one that `take` gave (it may reach the whole chunk).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn owner_of(block: NonNull<u8>) -> *const () {
    // SAFETY: a live block's chunk has a header.
    unsafe { Chunk::of(block.cast()).as_ref() }.owner
}

/// Frees the shared part and all memory.
///
/// # Safety
/// The slab has been dropped, no block is out, and no other thread calls this.
unsafe fn end(shared: NonNull<Shared>) {
    // SAFETY: from `Box::leak`; by this function's contract no other thread uses it any more.
    let shared = unsafe { Box::from_raw(shared.as_ptr()) };
    let (owner, ended) = (shared.owner, shared.ended);
    drop(shared);
    // SAFETY: the contract of `Slab::new`: called once, at the end.
    unsafe { ended(owner) }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: the shared part lives until `settle`, below.
        let returned = unsafe { self.shared.as_ref() }.returns.close();
        returned.for_each(|block| self.receive(block));
        // Some blocks may stay out for long: only their chunks are kept.
        self.trim();
        let mut out = 0;
        self.each_live(|_| out += 1);
        // SAFETY: the shared part lives until `settle`. If that returns true, no block is out, and this
        // thread must call `end`.
        unsafe {
            if (*self.shared.as_ptr()).returns.settle(out) {
                end(self.shared);
            }
        }
    }
}
