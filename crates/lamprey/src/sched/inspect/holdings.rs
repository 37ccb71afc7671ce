//! The locks that a thread holds. The room of the locks knows them, in programs with debug assertions.

use crate::sched::thread::Thread;
use std::panic::Location;

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding {
    /// The lock, by the address that its waiters wait for.
    pub(crate) lock: usize,
    /// Where the thread has taken it.
    pub(crate) site: &'static Location<'static>,
}

/// # Safety
/// Called with a thread that is suspended, and stays so during the call.
#[cfg(debug_assertions)]
type List = unsafe fn(&Thread) -> Vec<Holding>;

/// Set when the first lock is taken.
#[cfg(debug_assertions)]
static LIST: std::sync::OnceLock<List> = std::sync::OnceLock::new();

/// From now on `list` says which locks a thread holds.
#[cfg(debug_assertions)]
pub(crate) fn set_list(list: List) {
    let _ = LIST.set(list); // the same one
}

/// True once a lock has been taken.
#[cfg(debug_assertions)]
pub(super) fn are_known() -> bool {
    LIST.get().is_some()
}

/// The locks that `thread` holds; none if that is not known.
///
/// # Safety
/// The thread is a suspended one of the calling kernel thread's worker, and stays so during the call.
pub(super) unsafe fn of(thread: &Thread) -> Vec<Holding> {
    #[cfg(debug_assertions)]
    // SAFETY: as promised by the caller.
    return LIST.get().map_or_else(Vec::new, |list| unsafe { list(thread) });
    #[cfg(not(debug_assertions))]
    {
        let _ = thread;
        Vec::new()
    }
}
