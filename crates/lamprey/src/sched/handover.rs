//! Waking a host by going over to it at once (swapstack-taco-2013, 5.1).

use super::thread::{Kind, Thread};
use super::worker::Worker;
use std::ptr::NonNull;

/// Wakes `thread` and lets it run now; the caller waits for its turn in the run queue. False, and nothing
/// done, unless both are hosts of one worker, and the caller neither unwinds nor runs code that must not
/// switch. (Through the policy, which puts who was woken last before all others, unless others are due.)
///
/// # Safety
/// As for [`Waiter::wake`](super::Waiter::wake); if false is returned, the caller still owes the wake.
#[inline]
pub(crate) unsafe fn switch_over(thread: NonNull<Thread>) -> bool {
    let Some(worker) = Worker::current().filter(|_| !std::thread::panicking()) else { return false };
    let me = worker.running_ref();
    let may_switch = me.kind == Kind::Host && !me.is_barred();
    // SAFETY: as promised by the caller.
    let is_woken = may_switch && unsafe { worker.wake_neighbour(thread) };
    if is_woken {
        worker.yield_now();
    }
    is_woken
}
