//! Which process this is: a child made by `fork` has the memory of its parent, but of its kernel threads only the one that called
//! `fork`. Numbers of processes do not tell them apart: both may have number 1, in different namespaces.

use crate::sync_shim::{AtomicUsize, Ordering};
use std::sync::Once;

static FORKS: AtomicUsize = AtomicUsize::new(0);

/// How many forks lie between this process and the one in which this was called first.
pub(crate) fn generation() -> usize {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        if !cfg!(miri) {
            // SAFETY: the handler only counts. If there is no memory for it, a child counts as its parent.
            unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        }
    });
    // Relaxed: changed while the process has one thread only.
    FORKS.load(Ordering::Relaxed)
}

extern "C" fn forked() {
    // Relaxed: the child's only thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
}
