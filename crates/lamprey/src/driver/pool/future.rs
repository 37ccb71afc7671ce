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
#[cfg(not(loom))]
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::{Class, PoolCall, PoolShared, Submitted, WhenFull, current, on_pool_thread};
#[cfg(not(loom))]
use super::{PoolFull, class};
use crate::bug::quietly;
#[cfg(not(loom))]
use crate::driver::outside::outside;
use crate::sched::wakers;
use crate::sched::{self, Wait, coop};
use crate::sync_shim::{Mutex, MutexGuard, left_out};
use crate::thread::Closure;

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
/// The first poll submits the call. The pool has a maximum of threads; calls beyond it wait in line, and one whose future is
/// dropped leaves it. Within another
/// `block`, and when no pool thread can be started, the first poll runs `f` itself, on the calling kernel
/// thread.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "block_in_place")]
#[doc(alias = "unblock")]
pub async fn block_async<F, T>(f: F) -> T
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    block_async_in(Class::Blocking, f).await
}

/// The awaitable form of [`compute`](crate::compute): runs `f`, which computes for long, on one of as many kernel threads as
/// there are CPUs.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let sum = lamprey::parasite(async { lamprey::compute_async(|| (0..100_000_u64).sum::<u64>()).await });
///     // This host continues at once.
///     assert_eq!(sum.join().unwrap(), 4_999_950_000);
/// });
/// ```
///
/// # Panics
/// As for [`block_async`].
///
/// # Cancellation
/// As for `block_async`.
///
/// # Blocking
/// As for `block_async`.
#[doc(alias = "spawn_blocking")]
#[cfg(not(loom))]
pub async fn compute_async<F, T>(f: F) -> T
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    block_async_in(Class::Compute, f).await
}

/// [`block_async`], on the pool of a class.
pub(crate) async fn block_async_in<F, T>(class: Class, f: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match hand_over(class, f, WhenFull::Wait) {
        Ok(answer) => answer.value().await,
        Err(Refused { f, .. }) => f(),
    }
}

/// The awaitable form of [`try_block`](crate::try_block): runs `f` on the pool, unless too many calls wait for a thread of it.
///
/// # Examples
/// ```
/// let made = lamprey::run(|| lamprey::wait(lamprey::try_block_async(|| 6 * 7)));
/// assert_eq!(made.unwrap(), 42);
/// ```
///
/// # Errors
/// [`PoolFull`], which has the closure; at the first poll.
///
/// # Panics
/// As for [`block_async`].
///
/// # Cancellation
/// As for `block_async`.
///
/// # Blocking
/// As for `block_async`.
#[cfg(not(loom))]
pub async fn try_block_async<F, T>(f: F) -> Result<T, PoolFull<F>>
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    match hand_over(Class::Blocking, f, WhenFull::Refuse) {
        Ok(answer) => Ok(answer.value().await),
        Err(Refused { f, pool: Some(pool) }) => Err(PoolFull::new(f, &pool)),
        Err(Refused { f, .. }) => Ok(f()),
    }
}

/// Has a pool run `f`, for nobody in particular: the caller does not wait. `is_wanted` says whether anybody is interested in it still.
/// A panic of `f` ends there.
///
/// # Errors
/// What keeps a pool from running it; `f` has been dropped.
#[cfg(not(loom))]
pub(crate) fn start(
    class: Class,
    f: impl FnOnce() + Send + 'static,
    is_wanted: impl Fn() -> bool + Send + Sync + 'static,
) -> io::Result<()> {
    let pool = pool(class).map_or_else(|| Ok(class::of(&outside()?.pools, class)), Ok::<_, io::Error>)?;
    let call = Arc::new(Detached(Mutex::new(Some(f)), is_wanted));
    match pool.submit(PoolCall::OfFuture(call), WhenFull::Wait) {
        Submitted::NoThread => {
            Err(io::Error::new(io::ErrorKind::WouldBlock, "no kernel thread can be started for it"))
        }
        _ => Ok(()),
    }
}

/// A call that nobody waits for.
#[cfg(not(loom))]
struct Detached<F, W>(Mutex<Option<F>>, W);

#[cfg(not(loom))]
impl<F: FnOnce() + Send, W: Fn() -> bool + Send + Sync> Run for Detached<F, W> {
    fn run(&self) {
        // Not in the `if let`, which would hold the lock.
        let f = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(f) = f {
            quietly(f);
        }
    }

    fn is_wanted(&self) -> bool {
        self.1()
    }
}

/// A future's call, for the pool.
pub(super) trait Run: Send + Sync {
    /// Runs the call, on a pool thread. Does not unwind.
    fn run(&self);

    /// False if nobody is interested in the rest of it. Called under the lock of the pool, and runs no code of the program.
    fn is_wanted(&self) -> bool {
        true
    }
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
struct Answer<F, T> {
    job: Arc<Job<F, T>>,
    pool: Arc<PoolShared>,
}

/// A call that was not submitted.
struct Refused<F> {
    f: F,
    /// The pool that is full; `None` if there is none that could run it.
    #[cfg_attr(loom, allow(dead_code))]
    pool: Option<Arc<PoolShared>>,
}

/// Submits `f` to a pool; returns it if no pool can run it, or the one that could is full.
fn hand_over<F, T>(class: Class, f: F, when_full: WhenFull) -> Result<Answer<F, T>, Refused<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let Some(pool) = pool(class) else { return Err(Refused { f, pool: None }) };
    let job = Arc::new(Job { state: Mutex::new(JobState { stage: Stage::Waits(f), waker: None }) });
    let submitted = pool.submit(PoolCall::OfFuture(job.clone()), when_full);
    if submitted.is_queued() {
        return Ok(Answer { job, pool });
    }
    match job.move_on(Stage::Over) {
        Stage::Waits(f) => Err(Refused { f, pool: (submitted == Submitted::Full).then_some(pool) }),
        _ => crate::bug::bug!("a call that was refused has been run"),
    }
}

fn pool(class: Class) -> Option<Arc<PoolShared>> {
    if on_pool_thread() {
        return None;
    }
    #[cfg(loom)]
    return current(class);
    #[cfg(not(loom))]
    current(class).or_else(|| match crate::world::is_simulated() {
        // Outside of its workers are only calls that block.
        true => None,
        false => Some(class::of(&outside().ok()?.pools, class)),
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
        coop::look_by_poll(context);
        let waker = context.waker().clone();
        sched::note(context, Wait::Blocking);
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

impl<F, T> Answer<F, T> {
    /// What the call returns, or panics with.
    async fn value(self) -> T {
        match poll_fn(|context| self.job.poll(context)).await {
            Ok(value) => value,
            Err(payload) => resume_unwind(payload),
        }
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
        let (left, _waker) = {
            let mut state = self.job.lock();
            (mem::replace(&mut state.stage, Stage::Over), state.waker.take())
        };
        // So that a pool whose threads are all held up keeps nothing of calls that were given up.
        if matches!(left, Stage::Waits(_)) {
            let own = Arc::as_ptr(&self.job).cast::<()>();
            self.pool
                .withdraw(|call| matches!(call, PoolCall::OfFuture(job) if Arc::as_ptr(job).cast() == own));
        }
    }
}
