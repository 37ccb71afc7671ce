//! The alternate stack of a kernel thread, for signals that arrive when the normal one is full.
//!
//! Invariant: the kernel has our stack exactly as long as it is mapped: `sigaltstack` after `mmap`, and
//! `SS_DISABLE` before `munmap`.
//!
//! `std` gives each of its threads one too, but of the kernel's minimum size. If the processor's register
//! file is large (AVX-512, AMX), that leaves no room for a handler that formats text.

use crate::stack::page_size;
use std::io;
use std::ptr::{self, NonNull};

/// Enough for the kernel's signal frame (11 KiB with AMX) and for text formatting without optimisation.
const USABLE: usize = 64 << 10;

struct AltStack {
    mapping: NonNull<libc::c_void>,
    bytes: usize,
}

impl AltStack {
    fn new() -> io::Result<Self> {
        let bytes = USABLE + page_size();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a new mapping at an address of the kernel's choice; without access, so the page that is not
        // opened afterwards is the guard.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        let Some(mapping) = NonNull::new(mapping).filter(|_| mapping != libc::MAP_FAILED) else {
            return Err(io::Error::last_os_error());
        };
        let this = Self { mapping, bytes };
        // SAFETY: within the new mapping.
        let start = unsafe { mapping.as_ptr().byte_add(page_size()) };
        // SAFETY: our own mapping, not in use yet.
        if unsafe { libc::mprotect(start, USABLE, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let stack = libc::stack_t { ss_sp: start, ss_flags: 0, ss_size: USABLE };
        // SAFETY: the memory stays mapped until `drop`, which disables the alternate stack first.
        if unsafe { libc::sigaltstack(&stack, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(this)
    }
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        let mut current = none;
        // SAFETY: reads and sets this thread's alternate stack. It is disabled only if it is still ours. The
        // one before ours is not restored: it may be unmapped by now.
        unsafe {
            libc::sigaltstack(ptr::null(), &mut current);
            let ours = self.mapping.as_ptr().byte_add(page_size());
            if current.ss_sp == ours {
                libc::sigaltstack(&none, ptr::null_mut());
            }
            libc::munmap(self.mapping.as_ptr(), self.bytes);
        }
    }
}

thread_local! {
    static ALT_STACK: std::cell::OnceCell<AltStack> = const { std::cell::OnceCell::new() };
}

/// Gives this kernel thread an alternate stack, for the report of an overflow. Later calls on the same thread
/// do nothing; the stack is freed when the thread ends.
///
/// # Errors
/// No memory for the 68 KiB mapping.
pub fn arm_thread() -> io::Result<()> {
    // If the thread is ending and its locals have been destroyed, there is nothing to do.
    ALT_STACK
        .try_with(|cell| {
            if cell.get().is_none() {
                // Cannot be occupied: nothing called so far comes back here.
                let _ = cell.set(AltStack::new()?);
            }
            Ok(())
        })
        .unwrap_or(Ok(()))
}
