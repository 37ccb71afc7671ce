//! One large mapping, cut into equal slots, and the stack in a slot.
//!
//! ```text
//!     slot:  | guard page | ........ usable ........ | label | colour |
//!            ^ base + i * stride                     ^ top   ^ top + 16
//!                         ^ limit
//! ```
//!
//! Invariant: a slot has at most one [`PooledStack`], which exists only after its guard was installed. Each
//! `PooledStack` keeps its region mapped; the last one to be dropped unmaps it.
//!
//! The *colour* shifts the tops of neighbours. Slots are whole pages, so without it all tops would fall into
//! the same few sets of the first-level cache, and a dozen contexts would evict each other (measured: three
//! times slower at 500 contexts). The first region of each class, and each large stack in turn, begins with
//! another colour, because two contexts whose frames are at the same page offsets wait for each other's
//! stores (measured: 4 % of a ping-pong between a large stack and one of a class). The slot is larger than
//! the class by guard and colour, so the requested bytes are usable.

use super::guard::{self, GuardKind};
use super::pool::{Inner, LARGE};
use super::{Stack, Token, page_size};
use crate::arch;
use crate::overflow::registry::{Registration, Slot};
use std::io;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

/// Bytes above `top` that belong to the pool: the label.
const LABEL_BYTES: usize = 16;
const CACHE_LINE: usize = 64;
const COLOURS: usize = 32;

/// The number of bytes by which the top of slot `index` is moved down, if the region's first slot has colour
/// `first`. 5 has no common divisor with the number of colours, so neighbours are far apart and all colours
/// occur.
fn colour(first: usize, index: usize) -> usize {
    (first.wrapping_add(index).wrapping_mul(5) % COLOURS) * CACHE_LINE
}

/// The colour of the first slot of a region of `class`, after `mapped` other regions that count on.
fn first_colour(class: usize, mapped: usize) -> usize {
    (class * COLOURS / (LARGE + 1)).wrapping_add(mapped)
}

/// Bytes from one slot to the next for stacks with `usable` bytes.
fn stride(usable: usize) -> Option<usize> {
    let page = page_size();
    usable.checked_add(LABEL_BYTES + (COLOURS - 1) * CACHE_LINE + page)?.checked_next_multiple_of(page)
}

/// The slot around `address` in a region that begins at `start`, with colour `first`. Async-signal-safe.
pub(crate) fn slot_at(start: usize, stride: usize, first: usize, address: usize) -> Slot {
    let index = (address - start) / stride;
    let guard = start + index * stride;
    let top = guard + stride - colour(first, index) - LABEL_BYTES;
    // SAFETY: the word at `top` of a mapped slot is its label, or zero if it was never written.
    // Relaxed: written by the thread that runs on this stack, which is the one that has faulted.
    let label = unsafe { (*(top as *const AtomicPtr<()>)).load(Relaxed) };
    Slot { guard, top, label: label.cast() }
}

/// How regions are mapped.
const FLAGS: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
const ACCESS: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// One mapping of a pool.
pub(crate) struct Region {
    base: NonNull<u8>,
    slots: usize,
    stride: usize,
    class: usize,
    /// The colour of slot 0.
    first: usize,
    guard: GuardKind,
    mapped_guards: AtomicUsize,
    /// The number of its idle stacks, while its class looks for regions to unmap. Under the lock of the class.
    idle: AtomicUsize,
    pool: Weak<Inner>,
    #[cfg(feature = "valgrind")]
    valgrind_ids: std::sync::Mutex<Vec<usize>>,
    /// `None` only while the region is being unmapped.
    registration: Option<Registration>,
}

// SAFETY: the fields do not change, and only the `PooledStack` that owns a slot reaches its memory.
unsafe impl Send for Region {}
// SAFETY: the fields that are shared do not change or are atomic.
unsafe impl Sync for Region {}

impl Region {
    /// Maps room for `slots` stacks of `usable` bytes; `mapped` chooses the colour of the first one among
    /// those of its class. Nothing is resident yet.
    pub(crate) fn map(
        slots: usize,
        usable: usize,
        class: usize,
        mapped: usize,
        guard: GuardKind,
        pool: Weak<Inner>,
    ) -> io::Result<Arc<Self>> {
        if let Some(obstacle) = arch::obstacle() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, obstacle));
        }
        let stride = stride(usable);
        let bytes = stride.and_then(|stride| stride.checked_mul(slots));
        let (Some(stride), Some(bytes)) = (stride, bytes) else {
            let message = format!("a stack of {usable} bytes is larger than the address space");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, ACCESS, FLAGS, -1, 0) };
        let Some(base) = NonNull::new(base.cast::<u8>()).filter(|_| base != libc::MAP_FAILED) else {
            let cause = io::Error::last_os_error();
            let message = format!(
                "cannot reserve {bytes} bytes of address space for stacks: {cause} (see `ulimit -v`, \
                 vm.overcommit_memory and vm.max_map_count)"
            );
            return Err(io::Error::new(cause.kind(), message));
        };
        // A huge page would make a touched stack cost 2 MiB. Kernels built without huge pages refuse the
        // advice (EINVAL) and do not need it.
        // SAFETY: advice about our own mapping that does not change its content.
        unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_NOHUGEPAGE) };
        let start = base.as_ptr().addr();
        let first = first_colour(class, mapped);
        let registration = Some(Registration::of_region(start, start + bytes, stride, first));
        let mapped_guards = AtomicUsize::new(0);
        Ok(Arc::new(Self {
            base,
            slots,
            stride,
            class,
            first,
            guard,
            mapped_guards,
            idle: AtomicUsize::new(0),
            pool,
            registration,
            #[cfg(feature = "valgrind")]
            valgrind_ids: Default::default(),
        }))
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots * self.stride
    }

    pub(super) fn begin_count(&self) {
        // Relaxed: the lock of the class orders all accesses.
        self.idle.store(0, Relaxed);
    }

    pub(super) fn count_idle(&self) {
        // Relaxed: as in `begin_count`.
        self.idle.fetch_add(1, Relaxed);
    }

    pub(super) fn idle(&self) -> usize {
        // Relaxed: as in `begin_count`.
        self.idle.load(Relaxed)
    }

    /// The stack in slot `index`, which has no guard yet.
    ///
    /// # Safety
    /// `index < slots`, and no other `PooledStack` of this slot exists.
    pub(crate) unsafe fn slot(self: &Arc<Self>, index: usize) -> PooledStack {
        debug_assert!(index < self.slots);
        // SAFETY: within the mapping, because the offset is less than `bytes()`.
        let top =
            unsafe { self.base.add((index + 1) * self.stride - colour(self.first, index) - LABEL_BYTES) };
        PooledStack { top, region: Arc::clone(self) }
    }
}

#[cfg(feature = "valgrind")]
impl Region {
    fn register_with_valgrind(&self, stack: &PooledStack) {
        let id = crate::tools::valgrind::register(stack.limit().addr().get(), stack.top().addr().get());
        self.valgrind_ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(id);
    }

    fn deregister_from_valgrind(&mut self) {
        let ids = self.valgrind_ids.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        ids.drain(..).for_each(crate::tools::valgrind::deregister);
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // Before anything else: others may get the same addresses as soon as they are unmapped.
        self.registration = None;
        #[cfg(feature = "valgrind")]
        self.deregister_from_valgrind();
        #[cfg(feature = "tsan")]
        crate::tools::tsan::forget(self.base.as_ptr().addr(), self.base.as_ptr().addr() + self.bytes());
        // SAFETY: the last `PooledStack` of this region was dropped, so the memory is not used any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes()) };
        guard::forget_mapped(*self.mapped_guards.get_mut());
    }
}

/// A stack from a [`StackPool`](crate::StackPool): two words, owned, and free to move between threads.
///
/// Give it back with [`LocalPool::give`](crate::LocalPool::give) or
/// [`StackPool::give`](crate::StackPool::give); its drop does the latter, more slowly. It may outlive its
/// pool: the memory is unmapped when the last stack of its region is dropped.
pub struct PooledStack {
    top: NonNull<u8>,
    region: Arc<Region>,
}

// SAFETY: it owns the memory between `limit` and `top` exclusively.
unsafe impl Send for PooledStack {}
// SAFETY: a shared reference only reads two addresses.
unsafe impl Sync for PooledStack {}

impl PooledStack {
    fn index(&self) -> usize {
        (self.top.as_ptr().addr() - self.region.base.as_ptr().addr()) / self.region.stride
    }

    /// The first byte of the slot: the guard page.
    fn slot_base(&self) -> NonNull<u8> {
        // SAFETY: within the mapping of the region.
        unsafe { self.region.base.add(self.index() * self.region.stride) }
    }

    /// The number of its size class: 0, 1, 2 for the pooled ones, then one for all larger stacks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub fn class(&self) -> usize {
        self.region.class
    }

    /// The usable bytes from `limit` to `top`. Never less than requested.
    #[must_use]
    pub fn size(&self) -> usize {
        self.top.as_ptr().addr() - self.limit().as_ptr().addr()
    }

    /// The number of resident bytes of this stack, see [`high_water`](crate::stack::high_water).
    #[must_use]
    pub fn high_water(&self) -> usize {
        super::high_water(self)
    }

    /// Gives the memory of the pages that end at or below `address` back to the system: from then on
    /// [`high_water`](Self::high_water) tells what is used from then on. False if the system refuses, as it does for
    /// locked memory.
    ///
    /// # Safety
    /// Nothing below `address` on this stack is in use. (The caller may run on this stack, above it.)
    pub unsafe fn forget_below(&self, address: usize) -> bool {
        let limit = self.limit();
        let end = address.min(self.top_address()) & !(page_size() - 1);
        let bytes = end.saturating_sub(limit.as_ptr().addr());
        // SAFETY: whole pages of this slot, above its guard, whose content is not needed (contract).
        bytes == 0 || unsafe { libc::madvise(limit.as_ptr().cast(), bytes, libc::MADV_DONTNEED) } == 0
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_of(&self, pool: *const Inner) -> bool {
        Weak::as_ptr(&self.region.pool) == pool
    }

    pub(crate) fn install_guard(&self) -> io::Result<()> {
        // SAFETY: the guard page is in the slot that this value owns, below `limit`.
        let kind = unsafe { self.region.guard.install(self.slot_base()) }?;
        if kind == GuardKind::Mapped {
            // Relaxed: read only by `Region::drop`, which the reference count of the region orders.
            self.region.mapped_guards.fetch_add(1, Relaxed);
        }
        #[cfg(feature = "valgrind")]
        self.region.register_with_valgrind(self);
        Ok(())
    }

    /// Removes the guard of an idle stack, which is a mapped one, and its memory. `Err` has the stack as it was, if the system refuses that.
    pub(crate) fn without_guard(self) -> Result<Option<Self>, Self> {
        // SAFETY: the guard page is in the slot that this value owns, below `limit`; nobody runs on the stack.
        if !unsafe { guard::remove_mapped(self.slot_base()) } {
            return Err(self);
        }
        // Relaxed: as in `install_guard`.
        self.region.mapped_guards.fetch_sub(1, Relaxed);
        let base = self.slot_base().as_ptr().cast();
        // The kernel joins no mappings that have been written to since they were divided: a new one takes the place of this slot's.
        // SAFETY: the slot is this value's, whole pages of the region's mapping; its content is not needed.
        let mapped = unsafe { libc::mmap(base, self.region.stride, ACCESS, FLAGS | libc::MAP_FIXED, -1, 0) };
        if mapped == libc::MAP_FAILED {
            // There may be a hole now, into which others map: the region stays for ever.
            std::mem::forget(self);
            return Ok(None);
        }
        // SAFETY: advice about our own mapping that does not change its content; as its neighbours have it.
        unsafe { libc::madvise(base, self.region.stride, libc::MADV_NOHUGEPAGE) };
        Ok(Some(self))
    }

    /// Drops this stack instead of giving it back. The last one of a region unmaps it; returns the bytes that were unmapped.
    pub(crate) fn unmap(self) -> usize {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is never used or dropped again, so its region is moved out, not copied.
        let region = unsafe { ptr::read(&this.region) };
        Arc::into_inner(region).map_or(0, |region| region.bytes())
    }

    pub(super) fn region(&self) -> &Region {
        &self.region
    }

    pub(crate) fn top_address(&self) -> usize {
        self.top.as_ptr().addr()
    }

    /// The bounds of the slot, to find neighbours.
    pub(crate) fn span(&self) -> (usize, usize) {
        let base = self.slot_base().as_ptr().addr();
        (base, base + self.region.stride)
    }
}

// SAFETY: `region` keeps the memory mapped, the slot has one owner, and pools hand out only stacks whose
// guard page, right below `limit`, is installed.
unsafe impl Stack for PooledStack {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn top(&self) -> NonNull<u8> {
        self.top
    }

    fn limit(&self) -> NonNull<u8> {
        // SAFETY: a slot is larger than a page.
        unsafe { self.slot_base().add(page_size()) }
    }

    fn label_word(&self, _: Token) -> Option<&AtomicPtr<()>> {
        // SAFETY: the word at `top` belongs to this stack, is aligned, and is used only as an atomic.
        Some(unsafe { self.top.cast().as_ref() })
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        if let Some(pool) = self.region.pool.upgrade() {
            pool.give(Self { top: self.top, region: Arc::clone(&self.region) });
        }
    }
}
