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
/// The last block of a file is shorter than the buffer: the call says how much of it there is.
/// ```
/// use lamprey::fs::{AlignedBuf, OpenOptions};
///
/// # let path = std::env::temp_dir().join(format!("lamprey-aligned-{}", std::process::id()));
/// lamprey::run(|| {
///     std::fs::write(&path, "hello".repeat(1000))?;
///     let direct = rustix::fs::OFlags::DIRECT.bits() as i32; // or libc::O_DIRECT
///     let opened = OpenOptions::new().read(true).custom_flags(direct).open(&path);
/// #   std::fs::remove_file(&path)?;
///     let Ok(file) = opened else { return Ok(()) }; // not all file systems allow it
///     let mut buffer = AlignedBuf::new(4096)?;
///     assert_eq!(file.read_at(&mut buffer, 4096)?, 5000 - 4096);
///     assert_eq!(&buffer[..904], &"hello".repeat(1000).as_bytes()[4096..]);
///     std::io::Result::Ok(())
/// })?;
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
