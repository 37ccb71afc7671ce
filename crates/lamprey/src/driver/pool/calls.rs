//! What programs call: a closure, run by a thread of a pool, while the caller waits.

use super::host::{NotMade, Patience};
use super::{Class, PoolFull, current};
use crate::sched::{self, coop};
use crate::thread::Closure;
use crate::time::{self, TimedOut};
use std::time::Duration;

/// Runs `f`, which may block its kernel thread, on the runtime's pool; the worker runs other hosts in the
/// meantime.
///
/// The closure may borrow: once it has begun, the caller waits for its end, and a cancellation does not
/// interrupt the wait. It need not be `'static`, only [`Send`]. Use it for calls that have no other form: devices,
/// libraries that block. Long computations are for [`compute`]; files have calls of their own ([`fs`](crate::fs)).
///
/// # Examples
/// ```
/// let text = lamprey::run(|| lamprey::block(|| std::fs::read_to_string("Cargo.toml")))?;
/// assert!(text.contains("lamprey"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Panics
/// With the closure's own payload, when it panics.
///
/// # Cancellation
/// The commit point is the moment when a pool thread takes the call. A host that is cancelled before that
/// unwinds from here at once, and the closure is dropped unrun. After it, the host waits for the call and
/// returns its value; it unwinds at its next blocking call.
///
/// # Blocking
/// On a host: the host waits, its worker does not. The pool has a maximum of threads
/// ([`blocking_threads`](crate::RuntimeBuilder::blocking_threads)); when all are busy, the call waits in line, first come, first
/// served. [`try_block`] and [`block_timeout`] do not wait, or not for ever. The calls of files, name lookups, and
/// computations have threads of their own, which calls that block for long do not take away.
/// On a plain OS thread, within another `block`, and on a host that is
/// unwinding, `f` runs at once on the calling kernel thread; also when no pool thread can be started.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "block_in_place")]
#[doc(alias = "unblock")]
pub fn block<T: Send>(f: impl Closure<T> + Send) -> T {
    block_in(Class::Blocking, f)
}

/// Runs `f`, which computes for long, on one of as many kernel threads as there are CPUs; the workers run other hosts in the
/// meantime.
///
/// Otherwise it is as [`block`]. The two have threads of their own, because they want different numbers of them: calls that
/// wait cost no CPU, so there may be many at a time; of computations more than there are CPUs only take the
/// time from each other, and from the workers.
///
/// # Examples
/// ```
/// let sum = lamprey::run(|| {
///     let numbers: Vec<u64> = (0..100_000).collect();
///     lamprey::compute(|| numbers.iter().map(|n| n * n % 7).sum::<u64>()) // borrows
/// });
/// assert_eq!(sum, (0..100_000_u64).map(|n| n * n % 7).sum::<u64>());
/// ```
///
/// # Panics
/// With the closure's own payload, when it panics.
///
/// # Cancellation
/// As for [`block`]: not once it has begun. A computation that is to end early looks at a flag now and then.
///
/// # Blocking
/// As for `block`, with [`compute_threads`](crate::RuntimeBuilder::compute_threads) for the number of threads.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "rayon")]
pub fn compute<T: Send>(f: impl Closure<T> + Send) -> T {
    block_in(Class::Compute, f)
}

/// [`block`], on the pool of a class.
pub(crate) fn block_in<T: Send>(class: Class, f: impl FnOnce() -> T + Send) -> T {
    match block_with(class, f, Patience::ForEver) {
        Ok(value) => value,
        Err(_) => crate::bug::bug!("a call that waits for ever was given up"),
    }
}

/// [`block`], unless too many calls wait for a thread of the pool: to refuse work when there is too much of it.
///
/// The closure is refused if all threads are busy, and as many calls wait for one as the builder's
/// [`blocking_queue`](crate::RuntimeBuilder::blocking_queue) says (1024). With 0 it is run only if a thread takes it at once.
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::builder().blocking_threads(1).blocking_queue(0).build()?;
/// runtime.run(|| {
///     match lamprey::try_block(|| 6 * 7) {
///         Ok(value) => assert_eq!(value, 42),
///         Err(full) => println!("try again later: {full}"),
///     }
/// });
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// [`PoolFull`], which has the closure.
///
/// # Panics
/// As for [`block`].
///
/// # Cancellation
/// As for `block`.
///
/// # Blocking
/// As for `block`, if it is not refused.
pub fn try_block<T: Send, F: Closure<T> + Send>(f: F) -> Result<T, PoolFull<F>> {
    match block_with(Class::Blocking, f, Patience::None) {
        Ok(value) => Ok(value),
        Err(NotMade::Full(full)) => Err(full),
        Err(NotMade::TimedOut) => crate::bug::bug!("a call without a time limit has timed out"),
    }
}

/// [`block`], if a thread of the pool takes the call within `timeout`. Once it has begun it is waited for, for as long as it
/// takes.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// let answer = lamprey::run(|| lamprey::block_timeout(Duration::from_secs(60), || 6 * 7));
/// assert_eq!(answer, Ok(42));
/// ```
///
/// # Errors
/// [`TimedOut`]: all threads were busy for that long. The closure has been dropped unrun.
///
/// # Panics
/// As for [`block`].
///
/// # Cancellation
/// As for `block`.
///
/// # Blocking
/// As for `block`. In async code: `with_timeout_async(timeout, block_async(f))`, which also gives up waiting for a call that
/// has begun.
pub fn block_timeout<T: Send>(timeout: Duration, f: impl Closure<T> + Send) -> Result<T, TimedOut> {
    let patience = time::deadline(timeout).map_or(Patience::ForEver, Patience::Until);
    block_with(Class::Blocking, f, patience).map_err(|_| TimedOut)
}

fn block_with<T: Send, F: FnOnce() -> T + Send>(
    class: Class,
    f: F,
    patience: Patience,
) -> Result<T, NotMade<F>> {
    if !sched::on_host() || sched::must_not_block() {
        return Ok(f());
    }
    coop::call(coop::SYSTEM);
    match current(class) {
        Some(pool) => pool.run_with(f, patience),
        None => Ok(f()),
    }
}
