//! The calls of hosts: on the stack of the host, which waits until they have been made.
//!
//! Invariant: between the submission and the wake the host is blocked, and its record belongs to the queue, and then to the
//! pool thread that has taken the call.

use super::{PoolCall, PoolFull, PoolShared, Submitted, WhenFull};
use crate::sched::wait::{self, Early, Waited};
#[cfg(not(loom))]
use crate::sched::worker::Worker;
use crate::sched::{self, Wait, Waiter};
use crate::sync_shim::{Cell, UnsafeCell, has_passed};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

/// A call on the stack of the host that waits for it.
struct Record<F, T> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<T, Box<dyn Any + Send>>>>,
    /// Set before the call is queued.
    waiter: Cell<Option<Waiter>>,
    /// When a thread has begun and ended it, in ticks.
    made: Cell<Option<(u64, u64)>>,
}

/// # Safety
/// `record` is a `Record<F, T>` whose host is blocked until woken; called once for it.
unsafe fn perform<F: FnOnce() -> T, T>(record: NonNull<()>) {
    // SAFETY: of this type and alive (contract). Only shared references are made; the cells are this thread's
    // until the wake.
    let record = unsafe { record.cast::<Record<F, T>>().as_ref() };
    // SAFETY: the owner is blocked until the wake, so no other thread accesses the cell.
    let closure = record.closure.with_mut(|closure| unsafe { (*closure).take() });
    let begun = ticks();
    let result = closure.map(|closure| catch_unwind(AssertUnwindSafe(closure)));
    record.made.set(Some((begun, ticks())));
    // SAFETY: the owner is blocked until the wake, so no other thread accesses the cell.
    record.result.with_mut(|place| unsafe { *place = result });
    let Some(waiter) = record.waiter.get() else { crate::bug::bug!("a blocking call without a caller") };
    // SAFETY: this call was taken out of the queue once, so this is the only wake of its host. The record is
    // not touched again.
    unsafe { waiter.wake() };
}

/// The time, in ticks. (The checker has none.)
fn ticks() -> u64 {
    #[cfg(loom)]
    return 0;
    #[cfg(not(loom))]
    crate::time::clock::ticks()
}

/// Has the recorder note a call of the running thread that was made.
#[cfg_attr(loom, allow(unused_variables))]
fn note_made(queued: u64, made: Option<(u64, u64)>) {
    #[cfg(not(loom))]
    if let Some((begun, ended)) = made
        && let Some(worker) = Worker::current().filter(|worker| worker.records())
    {
        worker.note_called(queued, begun, ended);
    }
}

/// How long a host waits for a thread of a pool to take its call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    ForEver,
    Until(Instant),
    /// Not at all, if the pool is full.
    None,
}

/// Why a call was not made.
pub(super) enum NotMade<F> {
    Full(PoolFull<F>),
    TimedOut,
}

impl PoolShared {
    #[cfg(any(test, loom))]
    pub(crate) fn run<F: FnOnce() -> T + Send, T: Send>(self: Arc<Self>, closure: F) -> T {
        match self.run_with(closure, Patience::ForEver) {
            Ok(value) => value,
            Err(_) => crate::bug::bug!("a blocking call was refused that would have waited"),
        }
    }

    /// Has a thread run `closure`. Runs it itself where there is no thread.
    pub(super) fn run_with<F: FnOnce() -> T + Send, T: Send>(
        self: Arc<Self>,
        closure: F,
        patience: Patience,
    ) -> Result<T, NotMade<F>> {
        let record = Record {
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            waiter: Cell::new(None),
            made: Cell::new(None),
        };
        let queued = ticks();
        let owner = NonNull::from(&record).cast();
        let (deadline, when_full) = match patience {
            Patience::ForEver => (None, WhenFull::Wait),
            Patience::Until(deadline) => (Some(deadline), WhenFull::Wait),
            Patience::None => (None, WhenFull::Refuse),
        };
        let submitted = Cell::new(Submitted::NoThread);
        let enter = |me| {
            record.waiter.set(Some(me));
            submitted.set(self.submit(PoolCall::OfHost { record: owner, run: perform::<F, T> }, when_full));
            submitted.get().is_queued()
        };
        match wait::wait(Wait::Blocking, deadline, enter, |_| self.leave(owner, submitted.get(), deadline)) {
            Waited::Left(Early::Cancelled) => sched::unwind_cancelled(),
            Waited::Left(Early::TimedOut) => {
                self.lock().rejected += 1;
                return Err(NotMade::TimedOut);
            }
            Waited::Done | Waited::Refused => {
                if let Some(closure) = record.closure.into_inner() {
                    return match submitted.get() {
                        Submitted::Full => Err(NotMade::Full(PoolFull::new(closure, &self))),
                        _ => Ok(closure()),
                    };
                }
            }
            // A host that was cancelled after a thread had taken the call sees the cancellation at its next
            // blocking call.
            Waited::Woken | Waited::Late(_) => {}
        }
        note_made(queued, record.made.get());
        match record.result.into_inner() {
            Some(Ok(value)) => Ok(value),
            Some(Err(payload)) => resume_unwind(payload),
            None => crate::bug::bug!("a blocking call was woken without having run"),
        }
    }

    /// A host withdraws its call. False if a pool thread has taken it: the host then waits for it, because the call may
    /// borrow. A thread that has been called for it is on its way, whatever the time is.
    fn leave(&self, owner: NonNull<()>, submitted: Submitted, deadline: Option<Instant>) -> bool {
        if submitted == Submitted::HandedOver && deadline.is_some_and(has_passed) {
            return false;
        }
        self.withdraw(|call| matches!(call, PoolCall::OfHost { record, .. } if *record == owner))
    }
}
