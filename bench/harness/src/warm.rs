//! Makes sure that the machine has enough physical memory before the time to fill it is measured.
//!
//! In a virtual machine, the hypervisor may have taken back memory that has long been free; the next first
//! touch then costs some 10 us a page instead of one or two. Free memory is in blocks of 2 MiB and in single
//! pages, and the allocator decides which of them a program uses: both kinds are touched, and given back at
//! once.

use anyhow::{Context, Result};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Touches about `bytes` of each kind.
pub fn memory(bytes: u64) -> Result<()> {
    let bytes = usize::try_from(bytes)?.max(1);
    in_blocks(bytes)?;
    drop(black_box(vec![1_u8; bytes]));
    Ok(())
}

fn in_blocks(bytes: usize) -> Result<()> {
    let length = NonZeroUsize::new(bytes).context("nothing to touch")?;
    // SAFETY: a mapping of our own at an address of the kernel's choice; written within its length; not used
    // after it is unmapped.
    unsafe {
        let start = mmap_anonymous(
            None,
            length,
            ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
            MapFlags::MAP_PRIVATE,
        )?;
        // A kernel without huge pages refuses, and then there are no blocks to touch.
        let _ = madvise(start, bytes, MmapAdvise::MADV_HUGEPAGE);
        start.cast::<u8>().write_bytes(1, bytes);
        Ok(munmap(start, bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_does_not_have_is_an_error() {
        assert!(memory(1 << 60).is_err());
        assert!(memory(1 << 20).is_ok() && memory(0).is_ok());
    }
}
