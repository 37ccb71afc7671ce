//! Calls of futures: the awaitable form of [`block`](super::block).
//!
//! # States (`Stage`, under its lock)
//! ```text
//! Waits --pool--> Runs --pool--> Done --future--> Over
//!   \---future---> Over <--future---/      (the future is dropped)
//! ```
//! Invariant: the thread that moves the stage out of Waits or Done owns the value that was in it (the
//! closure, the result), and drops it without holding the lock. A pool thread that finds Over after it has
//! set Runs owns the result.

use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::{PoolCall, PoolShared, current, on_pool_thread};
use crate::bug::quietly;
#[cfg(not(loom))]
use crate::driver::outside::outside;
use crate::sched::wakers;
use crate::sync_shim::{Mutex, MutexGuard, left_out};

/// The awaitable form of [`block`](crate::block): runs `f`, which may block its kernel thread, on a pool.
///
/// The pool is that of the runtime in which the future is first polled, or, outside of every runtime, one
/// that Lamprey keeps for such futures. `f` cannot borrow, because the future may be dropped while `f` runs.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let length = lamprey::parasite(async {
///         let text = lamprey::block_async(|| std::fs::read_to_string("Cargo.toml")).await?;
///         std::io::Result::Ok(text.len())
///     });
///     // This host continues at once.
///     assert!(length.join().unwrap()? > 0);
///     std::io::Result::Ok(())
/// })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Panics
/// With the closure's own payload, when it panics, at the `await`.
///
/// # Cancellation
/// Nothing happens before the first poll. If the future is dropped before a pool thread has taken the call,
/// the call is not made. If it is dropped later, the call runs to its end, and its result is dropped.
///
/// # Blocking
/// The first poll submits the call. The pool has a maximum of threads; calls beyond it queue. Within another
/// `block`, and when no pool thread can be started, the first poll runs `f` itself, on the calling kernel
/// thread.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "block_in_place")]
#[doc(alias = "unblock")]
pub async fn block_async<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let answer = match hand_over(f) {
        Ok(answer) => answer,
        Err(f) => return f(),
    };
    match poll_fn(|context| answer.0.poll(context)).await {
        Ok(value) => value,
        Err(payload) => resume_unwind(payload),
    }
}

/// Has a pool run `f`, for nobody in particular: the caller does not wait. Returns `f` if no pool can run it. A panic of `f`
/// ends there.
#[cfg(not(loom))]
pub(crate) fn start<F: FnOnce() + Send + 'static>(f: F) -> Result<(), F> {
    let Some(pool) = pool() else { return Err(f) };
    let call = Arc::new(Detached(Mutex::new(Some(f))));
    if pool.submit(PoolCall::OfFuture(call.clone())) {
        return Ok(());
    }
    match call.take() {
        Some(f) => Err(f),
        None => crate::bug::bug!("a call that was refused has been run"),
    }
}

/// A call that nobody waits for.
#[cfg(not(loom))]
struct Detached<F>(Mutex<Option<F>>);

#[cfg(not(loom))]
impl<F> Detached<F> {
    fn take(&self) -> Option<F> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(not(loom))]
impl<F: FnOnce() + Send> Run for Detached<F> {
    fn run(&self) {
        if let Some(f) = self.take() {
            quietly(f);
        }
    }
}

/// A future's call, for the pool.
pub(super) trait Run: Send + Sync {
    /// Runs the call, on a pool thread. Does not unwind.
    fn run(&self);
}

struct Job<F, T> {
    state: Mutex<JobState<F, T>>,
}

struct JobState<F, T> {
    stage: Stage<F, T>,
    waker: Option<Waker>,
}

enum Stage<F, T> {
    Waits(F),
    Runs,
    Done(thread::Result<T>),
    Over,
}

/// The future's handle to its call.
struct Answer<F, T>(Arc<Job<F, T>>);

/// Submits `f` to a pool; returns it if no pool can run it.
fn hand_over<F, T>(f: F) -> Result<Answer<F, T>, F>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let Some(pool) = pool() else { return Err(f) };
    let job = Arc::new(Job { state: Mutex::new(JobState { stage: Stage::Waits(f), waker: None }) });
    if pool.submit(PoolCall::OfFuture(job.clone())) {
        return Ok(Answer(job));
    }
    match job.move_on(Stage::Over) {
        Stage::Waits(f) => Err(f),
        _ => crate::bug::bug!("a call that was refused has been run"),
    }
}

fn pool() -> Option<Arc<PoolShared>> {
    if on_pool_thread() {
        return None;
    }
    #[cfg(loom)]
    return current();
    #[cfg(not(loom))]
    current().or_else(|| match crate::world::is_simulated() {
        // Outside of its workers are only calls that block.
        true => None,
        false => Some(outside().ok()?.pool.clone()),
    })
}

impl<F, T> Job<F, T> {
    fn lock(&self) -> MutexGuard<'_, JobState<F, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_on(&self, stage: Stage<F, T>) -> Stage<F, T> {
        mem::replace(&mut self.lock().stage, stage)
    }

    fn poll(&self, context: &Context<'_>) -> Poll<thread::Result<T>> {
        let waker = context.waker().clone();
        let _before = {
            let mut state = self.lock();
            if matches!(state.stage, Stage::Done(_))
                && let Stage::Done(result) = mem::replace(&mut state.stage, Stage::Over)
            {
                return Poll::Ready(result);
            }
            if left_out!(PoolAnswer) {
                drop(state);
                state = self.lock();
            }
            state.waker.replace(waker)
        };
        Poll::Pending
    }
}

impl<F: FnOnce() -> T + Send, T: Send> Run for Job<F, T> {
    fn run(&self) {
        let f = {
            let mut state = self.lock();
            match mem::replace(&mut state.stage, Stage::Over) {
                Stage::Waits(f) => {
                    state.stage = Stage::Runs;
                    f
                }
                _ => return,
            }
        };
        let result = catch_unwind(AssertUnwindSafe(f));
        let (unwanted, waker) = {
            let mut state = self.lock();
            let unwanted = match state.stage {
                Stage::Runs => {
                    state.stage = Stage::Done(result);
                    None
                }
                _ => Some(result),
            };
            (unwanted, state.waker.take())
        };
        waker.into_iter().for_each(wakers::wake);
        // A destructor of the program; its panic must not end the pool thread.
        quietly(|| drop(unwanted));
    }
}

impl<F, T> Drop for Answer<F, T> {
    fn drop(&mut self) {
        let (_left, _waker) = {
            let mut state = self.0.lock();
            (mem::replace(&mut state.stage, Stage::Over), state.waker.take())
        };
    }
}
