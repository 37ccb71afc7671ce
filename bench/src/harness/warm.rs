//! Memory that the machine really has, before it is measured how long it takes to fill.
//!
//! In a virtual machine, memory that has long been free may have been taken back by whoever runs the machine;
//! its next first touch costs some 10 us a page instead of one or two. Free memory lies in blocks of 2 MiB
//! and in single pages, and whether a program uses the one or the other depends on its allocator: both are
//! touched, and given back at once.

use anyhow::{Context, Result};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Makes sure of about `bytes`.
pub fn memory(bytes: u64) -> Result<()> {
    let bytes = usize::try_from(bytes)?.max(1);
    in_blocks(bytes)?;
    drop(black_box(vec![1_u8; bytes]));
    Ok(())
}

fn in_blocks(bytes: usize) -> Result<()> {
    let length = NonZeroUsize::new(bytes).context("nothing to touch")?;
    // SAFETY: a mapping of our own, where the kernel likes it; written within its length; not used after it
    // is unmapped.
    unsafe {
        let start = mmap_anonymous(
            None,
            length,
            ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
            MapFlags::MAP_PRIVATE,
        )?;
        // A kernel without huge pages says no: then there are no blocks to be made sure of.
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
