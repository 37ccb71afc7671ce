//! How futures of the crate wait and are woken.
//!
//! # How a future waits
//! As a thread does ([`block`](super::block)), with a [`Waker`] in place of a `Waiter`: a node in a list or
//! timer wheel, under its lock. The node is a field of the pinned future; dropping the future takes it out.
//! So waiting allocates nothing, and a dropped future leaves nothing behind, on any kernel thread.
//!
//! # Rules
//! * The thread that takes a node out takes its waker with it, under the lock. A wake is a hint: the future
//!   looks again, and registers again if it must.
//! * Wakers are cloned, woken and dropped with no lock held: all three may run code of the program, which may
//!   call back into this crate.
//! * A future uses the timers, the reactor and the pool of the worker that polls it. If it is polled on
//!   another kernel thread next time, it stays registered where it is and stores the new waker. When that
//!   worker ends, all its futures are woken and register elsewhere. Outside of every worker, a kernel thread
//!   of Lamprey serves futures (`driver::outside`).
//!
//! The awaitable form of a blocking call `x` is `x_async`, with the same arguments and results, and the name
//! of every function of the crate that returns a future ends in `_async`.

#[cfg(not(loom))]
use super::guard::no_switch;
#[cfg(not(loom))]
use crate::bug::quietly;
use std::task::Waker;

/// Calls `waker`. A panic in it breaks its contract and ends here, because the caller has more futures to
/// wake.
pub(crate) fn wake(waker: Waker) {
    #[cfg(not(loom))]
    quietly(|| no_switch("a waker", || waker.wake()));
    // In the model checker a panic is a failure that the checker must see.
    #[cfg(loom)]
    waker.wake();
}
