//! Buffers that the kernel chooses from when it receives bytes that no call has asked for yet: a ring of them that is
//! shared with it.
//!
//! # Invariants
//! * Each buffer is the kernel's, or that of one [`Piece`]. A completion gives it to us; the drop of the piece gives it
//!   back, by an entry in the ring and then its new end (`tail`, Release: the kernel reads it with Acquire).
//! * The memory is freed after the kernel has forgotten the ring: [`Buffers::forget`] unregisters it when the worker
//!   ends, and pieces keep it beyond that.

use super::ring::Ring;
use crate::sync_shim::{AtomicU16, Mutex, MutexGuard, Ordering};
use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

/// The group of a ring's buffers: it has one.
pub(super) const GROUP: u16 = 0;
/// How many there are: a power of two.
const COUNT: u16 = 256;
/// Bytes in each.
const SIZE: usize = 4096;
const PAGE: usize = 4096;

/// The buffers of one ring.
pub(super) struct Buffers {
    /// The ring of entries, then the buffers.
    memory: NonNull<u8>,
    /// Where the next entry goes; `None` when the kernel has forgotten the ring.
    tail: Mutex<Option<u16>>,
}

// SAFETY: entries are written under the lock, and the bytes of a buffer are touched by its one holder.
unsafe impl Send for Buffers {}
// SAFETY: as for `Send`.
unsafe impl Sync for Buffers {}

impl Buffers {
    fn layout() -> Layout {
        let entries = (usize::from(COUNT) * size_of::<BufRingEntry>()).next_multiple_of(PAGE);
        match Layout::from_size_align(entries + usize::from(COUNT) * SIZE, PAGE) {
            Ok(layout) => layout,
            Err(_) => crate::bug::bug!("no layout for the buffers of a ring"),
        }
    }

    /// Buffers that `ring` has been told of.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn register(ring: &Ring) -> io::Result<Arc<Self>> {
        let layout = Self::layout();
        // SAFETY: the layout is not of size zero.
        let memory =
            NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        let buffers = Arc::new(Self { memory, tail: Mutex::new(None) });
        // SAFETY: the entries are a page of zeros, and stay until `forget` (or the end of the ring).
        unsafe { ring.register_buffers(memory.as_ptr().expose_provenance() as u64, COUNT, GROUP)? };
        *buffers.tail() = Some(0);
        (0..COUNT).for_each(|id| buffers.give_back(id));
        Ok(buffers)
    }

    /// The worker ends: the kernel forgets the buffers, none of which it is using any more.
    pub(super) fn forget(&self, ring: &Ring) {
        *self.tail() = None;
        ring.unregister_buffers(GROUP);
    }

    fn tail(&self) -> MutexGuard<'_, Option<u16>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn buffer(&self, id: u16) -> NonNull<u8> {
        let before = Self::layout().size() - usize::from(COUNT) * SIZE;
        // SAFETY: within the memory, as there are so many buffers.
        unsafe { self.memory.add(before + usize::from(id % COUNT) * SIZE) }
    }

    /// The kernel may use the buffer again. Its one holder calls this.
    fn give_back(&self, id: u16) {
        let mut tail = self.tail();
        let Some(at) = *tail else { return };
        let entries = self.memory.cast::<BufRingEntry>();
        // SAFETY: one of the entries; the kernel does not read it before the tail is beyond it.
        let entry = unsafe { &mut *entries.as_ptr().add(usize::from(at % COUNT)) };
        entry.set_addr(self.buffer(id).as_ptr().expose_provenance() as u64);
        entry.set_len(SIZE as u32);
        entry.set_bid(id);
        let next = at.wrapping_add(1);
        // SAFETY: the place of the tail lies in the first entry, aligned, and is written by us alone, under the lock.
        let place = unsafe { &*BufRingEntry::tail(entries.as_ptr()).cast::<AtomicU16>() };
        // Release pairs with the kernel's Acquire: it sees the entry.
        place.store(next, Ordering::Release);
        *tail = Some(next);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; no piece is left, and the kernel has forgotten it.
        unsafe { dealloc(self.memory.as_ptr(), Self::layout()) };
    }
}

/// Bytes that the kernel has received, in one of its buffers.
pub(crate) struct Piece {
    buffers: Arc<Buffers>,
    id: u16,
    taken: usize,
    len: usize,
}

impl Piece {
    /// The caller has the buffer from a completion that says that it has `len` bytes.
    pub(super) fn new(buffers: Arc<Buffers>, id: u16, len: usize) -> Self {
        Self { buffers, id, taken: 0, len: len.min(SIZE) }
    }

    /// The bytes that have not been taken.
    pub(crate) fn bytes(&self) -> &[u8] {
        let start = self.buffers.buffer(self.id);
        // SAFETY: the buffer is this piece's, and the kernel has written so many bytes to it; all were zeros before.
        let bytes = unsafe { std::slice::from_raw_parts(start.as_ptr(), self.len) };
        &bytes[self.taken..]
    }

    /// Takes bytes; true if none is left.
    pub(crate) fn take(&mut self, count: usize) -> bool {
        self.taken += count;
        self.taken >= self.len
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.buffers.give_back(self.id);
    }
}
