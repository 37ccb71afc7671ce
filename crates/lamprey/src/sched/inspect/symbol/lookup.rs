//! Looking up symbols. The library has one lock, which it holds for 100 ms and more while it reads debug information: a child made by
//! `fork` meanwhile would wait for it for ever. It finds no names instead.

use crate::kernel::fork::in_children;
use crate::sync_shim::Ordering;
use crate::sync_shim::plain::{AtomicBool, AtomicU32};
use std::sync::Once;

/// How many threads of this process are looking up symbols.
static LOOKING: AtomicU32 = AtomicU32::new(0);
/// The library's lock stays locked: a thread of the parent had it.
static LOST: AtomicBool = AtomicBool::new(false);

/// Calls `f` for the function that has the code before this return address, and for those that are inlined there, innermost first.
pub(in crate::sched) fn look_up(address: usize, f: impl FnMut(&backtrace::Symbol)) {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| in_children(forked));
    // Relaxed: set while the process has one thread only.
    if LOST.load(Ordering::Relaxed) {
        return;
    }
    // Relaxed: a count; that of the moment of a fork is in the memory of the child.
    LOOKING.fetch_add(1, Ordering::Relaxed);
    let _looking = Looking;
    backtrace::resolve(std::ptr::without_provenance_mut(address), f);
}

struct Looking;

impl Drop for Looking {
    fn drop(&mut self) {
        // Relaxed: a count, as above.
        LOOKING.fetch_sub(1, Ordering::Relaxed);
    }
}

extern "C" fn forked() {
    // Relaxed (both): the child's only thread.
    if LOOKING.swap(0, Ordering::Relaxed) != 0 {
        LOST.store(true, Ordering::Relaxed);
    }
}
