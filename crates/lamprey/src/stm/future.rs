//! Transactions as futures and events.

use super::StmResult;
use super::run::{Attempt, Failures, attempt};
use super::transaction::Transaction;
use super::waiting::PendingWait;
use crate::events::{FutureEvt, future_evt};
use crate::sched;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// [`atomically`](super::atomically) for async code. The code runs in the polls, each of which commits or
/// leaves everything as it was.
///
/// # Examples
/// ```
/// use lamprey::stm::{TVar, atomically, atomically_async, check};
///
/// lamprey::run(|| {
///     let jobs = TVar::new(0u32);
///     let theirs = jobs.clone();
///     let worker = lamprey::parasite(async move {
///         atomically_async(|tx| {
///             check(theirs.get(tx)? > 0)?;
///             theirs.modify(tx, |n| n - 1)
///         })
///         .await
///     });
///     atomically(|tx| jobs.set(tx, 1));
///     worker.join().unwrap();
///     assert_eq!(jobs.get_now(), 0);
/// });
/// ```
///
/// # Panics
/// As for [`atomically`](super::atomically), in the poll.
///
/// # Cancellation
/// If the future is dropped before it is ready, the transaction has not happened and will not.
///
/// # Blocking
/// Never; the future is pending after `retry`. It may be polled by any executor, on any thread.
pub fn atomically_async<T, F>(code: F) -> AtomicallyFuture<F>
where
    F: FnMut(&mut Transaction) -> StmResult<T>,
{
    AtomicallyFuture { code: Some(code), wait: None, failures: Failures::default() }
}

/// [`atomically`](super::atomically) as an event: in a [`choose`](crate::event::choose) it wins by its commit,
/// which happens only while no other branch can win. One that loses has written nothing.
///
/// # Examples
/// ```
/// use lamprey::event::{Event, choose};
/// use lamprey::stm::{TVar, atomically_evt, check};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel::<u32>();
///     let credit = TVar::new(0u32);
///     let theirs = credit.clone();
///     lamprey::spawn(move || lamprey::stm::atomically(|tx| theirs.set(tx, 5)));
///     let paid = choose((
///         rx.recv_evt().wrap(|_| "a message"),
///         atomically_evt(|tx| {
///             check(credit.get(tx)? >= 5)?;
///             credit.modify(tx, |n| n - 5)
///         })
///         .wrap(|()| "from the credit"),
///     ));
///     assert_eq!((paid.sync(), credit.get_now()), ("from the credit", 0));
/// # drop(tx);
/// });
/// ```
///
/// # Panics
/// As for [`atomically`](super::atomically), in the thread that synchronises.
///
/// # Cancellation
/// See [`Event`](crate::event::Event).
pub fn atomically_evt<T, F>(code: F) -> FutureEvt<AtomicallyFuture<F>>
where
    F: FnMut(&mut Transaction) -> StmResult<T>,
{
    future_evt(atomically_async(code))
}

/// The future of [`atomically_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct AtomicallyFuture<F> {
    /// `None` once it has returned its result.
    code: Option<F>,
    wait: Option<Pin<Box<PendingWait>>>,
    failures: Failures,
}

// The code is never pinned, and what waits has a box of its own.
impl<F> Unpin for AtomicallyFuture<F> {}

impl<T, F> Future for AtomicallyFuture<F>
where
    F: FnMut(&mut Transaction) -> StmResult<T>,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        loop {
            if let Some(wait) = &mut this.wait {
                // SAFETY: the field is pinned with the whole: nothing moves it out.
                let signalled = unsafe { wait.as_mut().map_unchecked_mut(|wait| &mut wait.signalled) };
                ready!(signalled.poll(cx));
                this.wait = None;
            }
            if sched::gives_way(cx) {
                return Poll::Pending;
            }
            let Some(code) = &mut this.code else { polled_again() };
            match attempt(code, &mut this.failures, true) {
                Attempt::Done(value) => {
                    this.code = None;
                    return Poll::Ready(value);
                }
                Attempt::Conflict => this.failures.back_off(),
                Attempt::Retry(registered) => this.wait = Some(Box::pin(registered.into_future())),
            }
        }
    }
}

#[cold]
fn polled_again() -> ! {
    panic!("the future of a transaction was polled after it had returned")
}

impl<F> fmt::Debug for AtomicallyFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicallyFuture").field("is_waiting", &self.wait.is_some()).finish_non_exhaustive()
    }
}
