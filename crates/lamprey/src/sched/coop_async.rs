//! When a future gives way that never has to wait: the counterpart of [`coop`](super::coop) for async code.
//!
//! Invariant: of the operations of futures on one kernel thread, or in one simulation, each that reaches [`TURN`] is pending once, and has woken its task.

#[cfg(not(loom))]
use crate::world;
use std::cell::Cell;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// The number of operations by futures in a row, on one kernel thread, after which the next one yields first: sockets that are always
/// ready, or a limiter that has tokens, must not keep a worker to themselves.
pub(crate) const TURN: u32 = 64;

/// Counts an operation on this kernel thread; every operation that reaches [`TURN`] yields once.
pub(crate) async fn take_a_turn_async(weight: u32) {
    let mut waits = turn_is_over(weight);
    poll_fn(|context| {
        if std::mem::take(&mut waits) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// [`take_a_turn_async`] for poll forms: pending once when the turn is over.
#[inline]
pub(crate) fn poll_turn(weight: u32, context: &Context<'_>) -> Poll<()> {
    if turn_is_over(weight) {
        context.waker().wake_by_ref();
        return Poll::Pending;
    }
    Poll::Ready(())
}

/// Counts: true for every operation that reaches [`TURN`].
#[inline]
fn turn_is_over(weight: u32) -> bool {
    thread_local! {
        static LEFT: Cell<u32> = const { Cell::new(TURN) };
    }
    // A simulation begins with its own count: what came before it on the kernel thread must make no difference.
    #[cfg(not(loom))]
    if let Some(is_over) = world::with(|world| count_down(&world.async_turn, weight)) {
        return is_over;
    }
    LEFT.with(|left| count_down(left, weight))
}

#[inline]
fn count_down(left: &Cell<u32>, weight: u32) -> bool {
    let before = left.get();
    left.set(if before > weight { before - weight } else { TURN });
    before <= weight
}
