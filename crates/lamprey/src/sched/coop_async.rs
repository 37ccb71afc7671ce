//! When a future gives way that never has to wait: the counterpart of [`coop`](super::coop) for async code.
//!
//! Invariant: of the operations of futures on one kernel thread, or in one simulation, each that reaches [`TURN`] is pending once, and has woken its task.

use super::worker::Worker;
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

thread_local! {
    /// An operation on this kernel thread has given way.
    static GAVE_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Polls an operation of a choice. Where a thread chooses, which gives way by itself ([`coop`](super::coop)), an operation that only
/// gives way to others is polled again: it counts as ready if it is. (A parasite is to give way here.)
pub(crate) fn poll_for_choice<T>(mut poll: impl FnMut() -> Poll<T>) -> Poll<T> {
    GAVE_WAY.set(false);
    let polled = poll();
    let is_again = polled.is_pending()
        && GAVE_WAY.replace(false)
        && Worker::current().is_none_or(|worker| worker.running_ref().polled().is_none());
    if is_again { poll() } else { polled }
}

/// Counts: true for every operation that reaches [`TURN`].
#[inline]
fn turn_is_over(weight: u32) -> bool {
    let is_over = counts_to_end(weight);
    if is_over {
        GAVE_WAY.set(true);
    }
    is_over
}

#[inline]
fn counts_to_end(weight: u32) -> bool {
    thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }
    // A simulation begins with its own count: what came before it on the kernel thread must make no difference.
    if let Some(is_over) = world::with(|world| count_up(&world.async_calls, weight)) {
        return is_over;
    }
    CALLS.with(|calls| count_up(calls, weight))
}

#[inline]
fn count_up(calls: &Cell<u32>, weight: u32) -> bool {
    let sum = calls.get() + weight;
    let is_over = sum >= TURN;
    calls.set(if is_over { 0 } else { sum });
    is_over
}
