//! When a future gives way that never has to wait: the counterpart of [`coop`](super::coop) for async code.
//!
//! Invariant: of the operations of futures on one kernel thread, or in one simulation, each that reaches [`TURN`] is pending once, and has woken its task.

use super::worker::Worker;
use crate::world;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

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

/// Takes a turn before the first poll of `future`: for combinators around futures of the program, which may take none. (An `async`
/// block would store the future twice.)
pub(crate) fn in_turn<F: Future>(future: F) -> InTurn<F> {
    InTurn { future, is_begun: false }
}

/// The future that [`in_turn`] returns.
pub(crate) struct InTurn<F> {
    future: F,
    is_begun: bool,
}

impl<F: Future> Future for InTurn<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is only used pinned, here, and dropped in place; the type has no `Drop`, and is `Unpin` only if
        // the future is.
        let (future, is_begun) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.is_begun)
        };
        // Outside of workers the caller has its thread for itself; a turn would only arm the timer.
        if !std::mem::replace(is_begun, true) && super::on_worker() {
            ready!(poll_turn(1, context));
        }
        future.poll(context)
    }
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
    if let Some(worker) = Worker::current() {
        worker.charge(weight);
    }
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
