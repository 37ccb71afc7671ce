//! Waking a host by going over to it at once (swapstack-taco-2013, 5.1).

use super::block::Woke;
use super::policy::{Ready, Why};
use super::thread::{Kind, State, Thread};
use super::worker::Worker;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Wakes `thread` and switches to it; the caller goes to the run queue. False, and nothing done, unless both are hosts of one worker, the
/// caller may be switched away from, and nobody else is due.
///
/// # Safety
/// As for [`Waiter::wake`](super::Waiter::wake); if false is returned, the caller still owes the wake.
#[inline]
pub(crate) unsafe fn switch_over(thread: NonNull<Thread>) -> bool {
    let Some(worker) = Worker::current().filter(|_| !std::thread::panicking()) else { return false };
    // SAFETY: in its blocking call until this wake (contract). Its kind is constant, and of a host `home` was written when it
    // started; the state is ours to read if it is here.
    let target = unsafe { thread.as_ref() };
    let is_here = target.kind == Kind::Host && ptr::eq(Arc::as_ptr(&worker.seat), target.reach.home());
    let me = worker.running_ref();
    // The budget is spent as by a pick, so that two hosts that hand a lock to and fro do not keep the root from its turn.
    let budget = worker.budget.get();
    if !is_here || target.state.get() != State::Blocked || me.kind != Kind::Host || budget <= 1 {
        return false;
    }
    worker.budget.set(budget - 1);
    target.woke.set(Woke::Woken);
    target.state.set(State::Runnable);
    worker.policy.ready(Ready(NonNull::from(me)), Why::Yielded);
    worker.switch_to(me, thread);
    true
}
