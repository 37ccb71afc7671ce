//! Zeroed address space from the system, which uses memory only where it is touched.
//!
//! Under miri, which has no `mmap`, it comes from the allocator.

use std::alloc::Layout;
use std::ptr::NonNull;

/// A mapping, which is unmapped when dropped. The owner must ensure that it is unused by then.
pub(super) struct Mapping {
    start: NonNull<u8>,
    layout: Layout,
}

impl Mapping {
    /// Zeroed memory of whole pages; `None` if the system refuses.
    pub(super) fn new(layout: Layout) -> Option<Self> {
        Some(Self { start: system::map(layout)?, layout })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Asks for pages of 2 MiB, so that the first touch of any part causes one page fault for all of it. A
    /// refusal is harmless.
    pub(super) fn prefer_huge_pages(&self) {
        system::advise(self.start, self.layout.size(), libc::MADV_HUGEPAGE);
    }

    /// Zeroes the pages at `at` and returns their memory; false if the system refuses, and they stay
    /// unchanged.
    pub(super) fn clear(&self, at: NonNull<u8>, bytes: usize) -> bool {
        debug_assert!(at >= self.start && at.addr().get() + bytes <= self.start.addr().get() + self.bytes());
        system::advise(at, bytes, libc::MADV_DONTNEED)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        system::unmap(self.start, self.layout);
    }
}

#[cfg(not(miri))]
mod system {
    use super::{Layout, NonNull};
    use std::ptr;

    const PAGE: usize = 4096;

    fn map_anywhere(bytes: usize) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    fn unmap_bytes(start: NonNull<u8>, bytes: usize) {
        if bytes == 0 {
            return;
        }
        // SAFETY: an unused part of a mapping from `map_anywhere`. It fails only if the system cannot split
        // the mapping, and then the address space stays mapped.
        unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    }

    pub(super) fn map(layout: Layout) -> Option<NonNull<u8>> {
        let (bytes, align) = (layout.size(), layout.align());
        let start = map_anywhere(bytes)?;
        if start.addr().get().is_multiple_of(align) {
            return Some(start);
        }
        unmap_bytes(start, bytes);
        // Maps enough to contain an aligned part, and unmaps both ends.
        let more = bytes.checked_add(align)?.checked_sub(PAGE)?;
        let start = map_anywhere(more)?;
        let skip = start.as_ptr().align_offset(align);
        unmap_bytes(start, skip);
        // SAFETY: `skip` is below `align` and a multiple of the page size, so both are within `more`.
        let (aligned, end) = unsafe { (start.add(skip), start.add(skip + bytes)) };
        unmap_bytes(end, more - skip - bytes);
        Some(aligned)
    }

    pub(super) fn unmap(start: NonNull<u8>, layout: Layout) {
        unmap_bytes(start, layout.size());
    }

    pub(super) fn advise(start: NonNull<u8>, bytes: usize, advice: libc::c_int) -> bool {
        // SAFETY: memory of this mapping; the caller asks for its pages to be cleared.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, advice) == 0 }
    }
}

#[cfg(miri)]
mod system {
    use super::{Layout, NonNull};
    use std::alloc::{alloc_zeroed, dealloc};

    pub(super) fn map(layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the size of a mapping is never zero.
        NonNull::new(unsafe { alloc_zeroed(layout) })
    }

    pub(super) fn unmap(start: NonNull<u8>, layout: Layout) {
        // SAFETY: from `map`, with this layout.
        unsafe { dealloc(start.as_ptr(), layout) }
    }

    pub(super) fn advise(start: NonNull<u8>, bytes: usize, advice: libc::c_int) -> bool {
        if advice == libc::MADV_DONTNEED {
            // SAFETY: memory of this mapping that is unused.
            unsafe { start.write_bytes(0, bytes) };
        }
        true
    }
}
