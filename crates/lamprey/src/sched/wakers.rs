//! Waking futures, for whoever owes them a wake.
//!
//! # How a future waits
//! As a thread does ([`block`](super::block)), with a [`Waker`] in the place of a `Waiter`: a node in a list
//! or wheel, under the lock of that. The node is a field of the pinned future; dropping the future takes it
//! out. So waiting allocates nothing, and what is dropped leaves nothing behind, on whatever kernel thread.
//!
//! # Rules
//! * Whoever takes a node out takes its waker with it, under the lock. A wake is a hint: the future looks
//!   again, and registers again if it has to.
//! * Wakers are cloned, woken and dropped with no lock held: all three may run code of the program, which may
//!   come back here.
//! * A future uses what belongs to the worker that polls it: the timers, the reactor, the pool. It may be
//!   polled on another kernel thread next time: it stays registered where it is, and gets another waker. When
//!   that worker ends, all its futures are woken and register elsewhere. Outside of every worker a kernel
//!   thread of Lamprey serves (`driver::outside`).
//!
//! The blocking call `x` has the awaitable form `x_async`, with the same arguments and results, and every
//! function of the crate that returns a future has a name in `_async`.

#[cfg(not(loom))]
use super::guard::no_switch;
#[cfg(not(loom))]
use crate::bug::quietly;
use std::task::Waker;

/// Wakes. A waker that panics breaks its contract; its panic ends here, because the caller owes more wakes.
pub(crate) fn wake(waker: Waker) {
    #[cfg(not(loom))]
    quietly(|| no_switch("a waker", || waker.wake()));
    // A panic there is the checker's.
    #[cfg(loom)]
    waker.wake();
}
