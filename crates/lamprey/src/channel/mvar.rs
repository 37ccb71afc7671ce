//! The MVar of Concurrent Haskell: a variable that is full or empty. [`MVar::take`] waits until it is full,
//! [`MVar::put`] until it is empty.
//!
//! # Examples
//! A pool of connections, built from three `MVar`s. One is a lock around the idle connections; one is a
//! signal; one holds a result.
//! ```
//! use lamprey::MVar;
//!
//! #[derive(Clone)]
//! struct Pool {
//!     /// Full while no thread changes the list.
//!     idle: MVar<Vec<u32>>,
//!     /// Full if a connection may be idle.
//!     returned: MVar<()>,
//! }
//!
//! impl Pool {
//!     fn get(&self) -> u32 {
//!         loop {
//!             let mut idle = self.idle.take().unwrap();
//!             let connection = idle.pop();
//!             self.idle.put(idle).unwrap();
//!             match connection {
//!                 Some(connection) => return connection,
//!                 None => self.returned.take().unwrap(),
//!             }
//!         }
//!     }
//!
//!     fn give_back(&self, connection: u32) {
//!         let mut idle = self.idle.take().unwrap();
//!         idle.push(connection);
//!         self.idle.put(idle).unwrap();
//!         let _ = self.returned.try_put(()); // full: the signal is there already
//!     }
//! }
//!
//! lamprey::run(|| {
//!     let pool = Pool { idle: MVar::new(vec![1, 2]), returned: MVar::empty() };
//!     let served = MVar::new(0);
//!     lamprey::scope(|s| {
//!         for _ in 0..2 {
//!             s.spawn(|| {
//!                 for _ in 0..10 {
//!                     let connection = pool.get();
//!                     lamprey::yield_now(); // a request
//!                     pool.give_back(connection);
//!                     served.put(served.take().unwrap() + 1).unwrap();
//!                 }
//!             });
//!         }
//!     });
//!     assert_eq!((served.take(), pool.idle.read().unwrap().len()), (Ok(20), 2));
//! });
//! ```

// # Invariants
// 1. While the variable is full, one taker is granted the value or no taker waits; while it is empty, one
//    putter is granted the place or no putter waits (`channel::gate`).
// 2. A reader moves the value out while it clones it, and puts it back before another thread can have it
//    (`Lent`): `clone` is code of the program, which must not run under the lock.

mod err;
mod op;

pub use err::{PutError, TakeError};
pub use op::ReadFuture;

use super::gate::{Gate, Interrupted, Op, WaitSpec, named_future, or_cancelled};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time;
use op::{LendOp, Loan, MVarState, PutOp, SwapOp, TakeOp};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TAKERS: usize = 0;
const PUTTERS: usize = 1;
const TAKE: WaitSpec = WaitSpec::new(TAKERS, Wait::Take);
const PUT: WaitSpec = WaitSpec::new(PUTTERS, Wait::Put);
/// Readers go before takers, because a reader leaves the value for those behind it.
const READ: WaitSpec = WaitSpec { in_front: true, ..TAKE };

/// A variable for one value: [`take`](Self::take) waits until it is full, [`put`](Self::put) until it is
/// empty. Clones are the same variable.
///
/// It serves as a channel of one value, as a lock around a value, or as a signal. Threads that wait are
/// served in order of arrival and woken one at a time; a value that is put goes to the first taker, and no
/// other thread can overtake it.
///
/// # Examples
/// As a lock around a number; for more see [the module](self).
/// ```
/// # lamprey::run(|| {
/// let count = lamprey::MVar::new(0);
/// let hosts: Vec<_> = (0..10)
///     .map(|_| {
///         let count = count.clone();
///         lamprey::spawn(move || count.put(count.take().unwrap() + 1).unwrap())
///     })
///     .collect();
/// hosts.into_iter().for_each(|host| host.join().unwrap());
/// assert_eq!(count.take(), Ok(10));
/// # });
/// ```
#[doc(alias = "SyncVar")]
pub struct MVar<T>(Arc<Gate<MVarState<T>>>);

impl<T> MVar<T> {
    /// A full variable.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self(Arc::new(Gate::new(MVarState::Full(value))))
    }

    /// An empty variable.
    #[track_caller]
    pub fn empty() -> Self {
        Self(Arc::new(Gate::new(MVarState::Empty)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until(&self, deadline: Option<Instant>) -> Result<T, TakeError> {
        let taken = self.0.wait(TAKE, deadline, |section| TakeOp.attempt(section));
        or_cancelled(taken.unwrap_or(Err(TakeError)))
    }

    /// Takes the value out. Waits while the variable is empty.
    ///
    /// # Errors
    /// [`TakeError`] if it is empty and the caller is a host that is unwinding from a panic, which must not
    /// wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has taken nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&self) -> Result<T, TakeError> {
        self.take_until(None)
    }

    /// [`take`](Self::take) for async code.
    ///
    /// # Errors
    /// None: a future waits for as long as it takes. The type is that of `take`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, it has taken nothing; a value that was reserved for it
    /// goes to the next taker.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take_async(&self) -> TakeFuture<'_, T> {
        TakeFuture(self.0.future(TAKE, TakeOp))
    }

    /// [`take`](Self::take) as an event.
    pub fn take_evt(&self) -> FutureEvt<TakeFuture<'_, T>> {
        future_evt(self.take_async())
    }

    /// Takes the value out, if there is one that is neither reserved for a taker that waits already nor being
    /// read at this moment.
    pub fn try_take(&self) -> Option<T> {
        let taken = self.0.with(|section| TakeOp.attempt(section));
        coop::tried(taken.and_then(Result::ok), Option::is_none)
    }

    /// As [`take`](Self::take), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`TakeError`] if it stayed empty.
    ///
    /// # Cancellation
    /// As for `take`.
    pub fn take_timeout(&self, timeout: Duration) -> Result<T, TakeError> {
        self.take_until(time::deadline(timeout))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_until(&self, value: T, deadline: Option<Instant>) -> Result<(), PutError<T>> {
        let mut put = PutOp(Some(value));
        let result = self.0.wait(PUT, deadline, |section| put.attempt(section));
        or_cancelled(match (result, put.0) {
            (Err(_), Some(value)) => Err(PutError(value)),
            _ => Ok(()),
        })
    }

    /// Puts `value` in. Waits while the variable is full.
    ///
    /// # Errors
    /// [`PutError`] with the value if it is full and the caller is a host that is unwinding from a panic,
    /// which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the value has then not been put, and is dropped.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&self, value: T) -> Result<(), PutError<T>> {
        self.put_until(value, None)
    }

    /// [`put`](Self::put) for async code.
    ///
    /// # Errors
    /// None: a future waits for as long as it takes. The type is that of `put`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, the value has not been put, and is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put_async(&self, value: T) -> PutFuture<'_, T> {
        PutFuture(self.0.future(PUT, PutOp(Some(value))))
    }

    /// [`put`](Self::put) as an event. If another is chosen, `value` is dropped with it.
    pub fn put_evt(&self, value: T) -> FutureEvt<PutFuture<'_, T>> {
        future_evt(self.put_async(value))
    }

    /// Puts `value` in, if the variable is empty and no other putter waits for that.
    ///
    /// # Errors
    /// `value` itself.
    pub fn try_put(&self, value: T) -> Result<(), T> {
        let mut put = PutOp(Some(value));
        self.0.with(|section| put.attempt(section));
        coop::tried(put.0.map_or(Ok(()), Err), Result::is_err)
    }

    /// As [`put`](Self::put), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`PutError`] with the value if it stayed full.
    ///
    /// # Cancellation
    /// As for `put`.
    pub fn put_timeout(&self, value: T, timeout: Duration) -> Result<(), PutError<T>> {
        self.put_until(value, time::deadline(timeout))
    }

    /// Exchanges the value for `value` in one step: no other put or take comes in between. Waits while the
    /// variable is empty.
    ///
    /// # Errors
    /// [`PutError`] with `value` if it is empty and the caller is a host that is unwinding from a panic.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn swap(&self, value: T) -> Result<T, PutError<T>> {
        let mut swap = SwapOp(Some(value));
        let result = self.0.wait(TAKE, None, |section| swap.attempt(section));
        or_cancelled(match (result, swap.0) {
            (Ok(swapped), _) => swapped,
            (Err(_), Some(value)) => Err(PutError(value)),
            (Err(_), None) => crate::bug::bug!("a swap that failed has put its value"),
        })
    }

    /// [`swap`](Self::swap) for async code.
    ///
    /// # Errors
    /// None: a future waits for as long as it takes. The type is that of `swap`.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, nothing has changed, and `value` is dropped with it.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn swap_async(&self, value: T) -> SwapFuture<'_, T> {
        SwapFuture(self.0.future(TAKE, SwapOp(Some(value))))
    }

    /// [`swap`](Self::swap) as an event. If another is chosen, `value` is dropped with it.
    pub fn swap_evt(&self, value: T) -> FutureEvt<SwapFuture<'_, T>> {
        future_evt(self.swap_async(value))
    }

    /// True if the variable is empty now. While its value is being read it counts as full.
    pub fn is_empty(&self) -> bool {
        coop::look();
        self.0.with(|section| matches!(section.state, MVarState::Empty))
    }
}

impl<T: Clone> MVar<T> {
    /// A clone of the value. Waits while the variable is empty, in front of all takers. The value is not
    /// taken out, but a thread that comes while it is being cloned waits for that. (A `clone` that itself
    /// uses the variable waits for ever.)
    ///
    /// # Errors
    /// [`TakeError`] if the variable is empty and the caller is a host that is unwinding from a panic.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    #[doc(alias = "peek")]
    pub fn read(&self) -> Result<T, TakeError> {
        let lent = self.0.wait(READ, None, |section| LendOp.attempt(section));
        or_cancelled(lent.map_err(|_: Interrupted| TakeError)).map(|value| Loan::read(&self.0, value))
    }

    /// [`read`](Self::read) for async code.
    ///
    /// # Errors
    /// None: a future waits for as long as it takes. The type is that of `read`.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn read_async(&self) -> ReadFuture<'_, T> {
        ReadFuture { gate: &self.0, lent: self.0.future(READ, LendOp) }
    }

    /// [`read`](Self::read) as an event.
    pub fn read_evt(&self) -> FutureEvt<ReadFuture<'_, T>> {
        future_evt(self.read_async())
    }

    /// A clone of the value, if there is one and no other thread is reading it at this moment.
    pub fn try_read(&self) -> Option<T> {
        coop::look();
        let value = self.0.with(|section| LendOp.attempt(section))?;
        Some(Loan::read(&self.0, value))
    }
}

named_future! {
    /// The future of [`MVar::take_async`].
    TakeFuture<'a, T>(MVarState<T>, TakeOp) -> Result<T, TakeError>
}

named_future! {
    /// The future of [`MVar::put_async`].
    PutFuture<'a, T>(MVarState<T>, PutOp<T>) -> Result<(), PutError<T>>
}

named_future! {
    /// The future of [`MVar::swap_async`].
    SwapFuture<'a, T>(MVarState<T>, SwapOp<T>) -> Result<T, PutError<T>>
}

impl<T> Clone for MVar<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// An empty one.
impl<T> Default for MVar<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> fmt::Debug for MVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MVar").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}
