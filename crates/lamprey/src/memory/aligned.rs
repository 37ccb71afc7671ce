//! [`AlignedBuf`]: memory that `O_DIRECT` takes.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes that begin at a page, for files that are opened with `O_DIRECT`: the disk reads and writes them without a
/// copy. The length is the caller's; `O_DIRECT` wants a multiple of the device's block size (512 or 4096), and such an
/// offset; the kernel refuses others (`InvalidInput`). The end of a file that is no such multiple is written as a
/// whole block, and cut off by `set_len`.
///
/// # Examples
/// ```
/// let mut buffer = lamprey::fs::AlignedBuf::new(8192)?;
/// buffer[..5].copy_from_slice(b"hello");
/// assert_eq!(buffer.len(), 8192);
/// assert_eq!(buffer.as_ptr().addr() % 4096, 0);
/// # std::io::Result::Ok(())
/// ```
pub struct AlignedBuf {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the bytes are the buffer's own.
unsafe impl Send for AlignedBuf {}
// SAFETY: a shared buffer is only read.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// The alignment: the largest block size of common devices, and the size of a page.
    pub const ALIGN: usize = 4096;

    /// `len` bytes of zero.
    ///
    /// # Errors
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
    pub fn new(len: usize) -> io::Result<Self> {
        let too_large =
            || io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for a buffer of {len} bytes"));
        let layout = Layout::from_size_align(len, Self::ALIGN).map_err(|_| too_large())?;
        if len == 0 {
            return Ok(Self { start: layout.dangling_ptr(), layout });
        }
        // SAFETY: the layout is not of size zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_large)?;
        Ok(Self { start, layout })
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes of the buffer's own, initialised with zeros.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes of the buffer's own, initialised with zeros.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl AsRef<[u8]> for AlignedBuf {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuf").field("len", &self.len()).finish_non_exhaustive()
    }
}
