//! Direct switch to a woken host of the same worker (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight
//! Context Switching*, 2013, 5.1): Go's `ready` with `next`,
//! followed by a yield.

use super::thread::{Kind, Thread};
use super::worker::Worker;
use std::ptr::NonNull;

/// Wakes `thread` and yields to it; the caller goes to the run queue. Returns false, and does nothing, unless
/// caller and `thread` are hosts of one worker, and the caller neither unwinds nor runs code that must not
/// switch. (The switch goes through the policy, which puts the latest woken thread first, unless other
/// threads are due.)
///
/// # Safety
/// As for [`Waiter::wake`](super::Waiter::wake); if false is returned, the caller must still wake it.
#[inline]
pub(crate) unsafe fn switch_over(thread: NonNull<Thread>) -> bool {
    let Some(worker) = Worker::current().filter(|_| !std::thread::panicking()) else { return false };
    let me = worker.running_ref();
    let may_switch = me.kind == Kind::Host && !me.is_barred();
    // SAFETY: the caller holds the right to wake `thread` (contract).
    let is_woken = may_switch && unsafe { worker.wake_neighbour(thread) }.is_some();
    if is_woken {
        worker.yield_now();
    }
    is_woken
}
