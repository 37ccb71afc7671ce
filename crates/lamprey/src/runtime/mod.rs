//! The public face of the scheduler: a runtime, its builder, its handle, [`run`], and what starts a program.
//!
//! | file | content |
//! |---|---|
//! | `builder`, `environment`, `duration` | the settings of a runtime, and those that come from the environment |
//! | `start` | `#[lamprey::main]` |
//! | `testing`, `stuck` | `#[lamprey::test]`, and what it says of threads that do not end |

mod builder;
mod duration;
mod environment;
#[cfg(feature = "macros")]
mod macros;
pub(crate) mod start;
mod stuck;
pub(crate) mod testing;

pub use builder::RuntimeBuilder;
#[cfg(feature = "macros")]
pub use macros::{main, test};

use crate::cancel::shield;
use crate::driver::backend::Io;
use crate::driver::pool;
use crate::io::stdio;
use crate::sched::coop;
use crate::sched::inspect::row::rows;
use crate::sched::metrics::snapshot::Metrics;
use crate::sched::shared::Shared;
use crate::sched::stats::Stats;
use crate::sched::worker::Worker;
use crate::sim::SimBuilder;
use crate::thread::{Closure, Handle, JoinError, Survivor};
use crate::world::Draws;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long the drop of a runtime waits for its threads to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `main` as the first host of a new runtime, and returns its result.
///
/// The runtime has one worker for each CPU, or what the environment says
/// ([`from_env`](RuntimeBuilder::from_env)). When `main` has returned, the remaining hosts are cancelled: each
/// is unwound from the call that it blocks in, so that its destructors run (see [`Runtime`], *The end*).
///
/// # Examples
/// ```
/// let sum = lamprey::run(|| {
///     let hosts: Vec<_> = (1..=4).map(|n| lamprey::spawn(move || n * n)).collect();
///     hosts.into_iter().map(|host| host.join().unwrap()).sum::<i32>()
/// });
/// assert_eq!(sum, 30);
/// ```
///
/// # Panics
/// With `main`'s own panic; and if no runtime can be started (kernel threads or memory are exhausted, or a variable of the
/// environment cannot be read): [`run_with`] has that as an error.
///
/// # Cancellation
/// The wait is not interrupted: a caller that is cancelled during it unwinds at its next blocking call.
/// `main` is not cancelled.
///
/// # Blocking
/// The calling OS thread, or host, waits.
#[doc(alias = "block_on")]
#[doc(alias = "main")]
#[track_caller]
pub fn run<T: Send>(main: impl Closure<T> + Send) -> T {
    match Runtime::builder().from_env().build() {
        Ok(runtime) => runtime.run_to_its_end(main),
        Err(error) => panic!("lamprey::run cannot start a runtime: {error}"),
    }
}

/// As [`run`], in a runtime with these settings. The environment counts where the builder says so
/// ([`from_env`](RuntimeBuilder::from_env)).
///
/// # Examples
/// ```
/// use lamprey::Runtime;
/// let workers = lamprey::run_with(Runtime::builder().workers(3), || lamprey::Handle::current().unwrap().workers())?;
/// assert_eq!(workers, 3);
/// let error = lamprey::run_with(Runtime::builder().workers(0), || ()).unwrap_err();
/// assert_eq!(error.to_string(), "a runtime has 1 to 1024 workers, not 0");
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// As [`RuntimeBuilder::build`]; `main` has not been called then.
///
/// # Panics
/// With `main`'s own panic.
///
/// # Cancellation
/// As [`run`].
///
/// # Blocking
/// The calling OS thread, or host, waits.
#[track_caller]
pub fn run_with<T: Send>(builder: RuntimeBuilder, main: impl Closure<T> + Send) -> io::Result<T> {
    Ok(builder.build()?.run_to_its_end(main))
}

/// Workers and the hosts that run on them. Several runtimes can exist in one process; they share only the
/// signal handler for stack overflows.
///
/// # The end
/// Dropping the runtime ends it. Hosts that have not started are dropped without being run. All others are
/// cancelled: the blocking call that they are in, or call next, unwinds, so that their destructors run; a
/// thread that joins them gets [`JoinError::Cancelled`]. A blocking call in a destructor during that unwind
/// fails instead of waiting. The drop waits for calls on the pools ([`block`](crate::block), files, [`compute`](crate::compute)). A host that computes without end,
/// or catches the unwind and goes on, cannot be ended: after 10 seconds the drop prints such hosts to
/// standard error, and leaves their kernel threads running ([`shutdown`](Self::shutdown) takes another
/// deadline). If one of the runtime's own hosts drops it, or code within [`block`](crate::block), the drop
/// starts the shutdown and does not wait for it.
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::builder().workers(2).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 2 + 2).join().unwrap()), 4);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "Executor")]
#[doc(alias = "ThreadPool")]
pub struct Runtime {
    shared: Arc<Shared>,
    io: Io,
    /// The shutdown has begun.
    is_over: bool,
}

impl Runtime {
    /// Starts a runtime with one worker for each CPU.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// A builder with the default settings.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }

    /// A simulation: a program under a seed, on one kernel thread, with a clock of its own ([`sim`](crate::sim)).
    pub fn simulated(seed: u64) -> SimBuilder {
        SimBuilder::new(Draws { seed, kept: None })
    }

    /// Runs `main` as a host, which is named `main`, and returns its result. Other hosts keep running until the runtime is dropped.
    ///
    /// # Panics
    /// With `main`'s own panic, or that of another host where the runtime [propagates](crate::Panics::Propagate)
    /// those. Panics before it starts `main` if the caller is a host of this runtime that is unwinding.
    ///
    /// # Cancellation
    /// A caller that is cancelled during the wait unwinds at its next blocking call. `main` is not cancelled.
    ///
    /// # Blocking
    /// The calling OS thread, or host of any runtime, waits; uninterruptibly, because `main` may borrow.
    #[track_caller]
    pub fn run<T: Send>(&self, main: impl Closure<T> + Send) -> T {
        settle(&self.shared, self.handle().run_borrowing(main))
    }

    /// [`run`](Self::run), and the end of the runtime: a panic that another host propagates then counts, too.
    #[track_caller]
    fn run_to_its_end<T: Send>(self, main: impl Closure<T> + Send) -> T {
        let ended = self.handle().run_borrowing(main);
        self.settle_at_end(ended)
    }

    /// Ends the runtime, and then [settles](settle): a panic that comes during the end counts, too.
    #[track_caller]
    fn settle_at_end<T>(self, ended: Result<T, JoinError>) -> T {
        let shared = self.shared.clone();
        drop(self);
        settle(&shared, ended)
    }

    /// Counts of what the threads of this runtime have done so far. Reads each worker's counters.
    pub fn stats(&self) -> Stats {
        coop::look();
        self.shared.stats()
    }

    /// What the runtime has counted and measured so far: see [`inspect::metrics`](crate::inspect::metrics).
    pub fn metrics(&self) -> Metrics {
        coop::look();
        self.shared.metrics()
    }

    /// The event loop of this runtime's workers: epoll or io_uring. With [`Io::Auto`] a worker has epoll in either case if the kernel had no memory for its ring
    /// (`ulimit -l`).
    pub fn io(&self) -> Io {
        self.io
    }

    /// A handle that spawns hosts in this runtime from any thread.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }
}

impl Runtime {
    /// Ends the runtime: cancels all threads, waits at most `within` until they have ended, and returns those
    /// that have not.
    ///
    /// Dropping the runtime does the same (see [`Runtime`], *The end*), with a fixed deadline and without a
    /// result. An empty vector means that all threads of the runtime have ended, and every destructor of what
    /// they owned has run. Its kernel threads are about to exit: they only run the destructors of their own
    /// `thread_local!`s and free the memory of the stacks (half a second for a million stacks). A survivor is
    /// left alone: it continues if it can, on a kernel thread that is no longer waited for. What it waits for
    /// may still come.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// let runtime = lamprey::Runtime::builder().workers(2).build()?;
    /// let (tx, rx) = lamprey::channel::<u32>();
    /// runtime.run(move || {
    ///     lamprey::spawn(|| lamprey::sleep(Duration::MAX)); // is cancelled
    ///     let stubborn = lamprey::Builder::new().name("stubborn");
    ///     stubborn.spawn(move || lamprey::shield(|| rx.recv())).unwrap();
    ///     lamprey::sleep(Duration::from_millis(5)); // both have started
    /// });
    /// for survivor in runtime.shutdown(Duration::from_millis(50)) {
    ///     assert_eq!(survivor.thread().name(), Some("stubborn"));
    ///     assert_eq!(survivor.wait(), Some(lamprey::Wait::Recv));
    ///     println!("{survivor}"); // with its stack
    /// }
    /// # drop(tx);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Cancellation
    /// The wait is not interrupted: a caller that is cancelled during it unwinds at its next blocking call.
    ///
    /// # Blocking
    /// The calling OS thread, or host of another runtime, waits, uninterruptibly. Called by one of the
    /// runtime's own hosts, or within [`block`](crate::block), it cannot wait for itself: it only starts the
    /// shutdown, and returns an empty vector.
    #[doc(alias = "shutdown_timeout")]
    #[doc(alias = "shutdown_background")]
    pub fn shutdown(mut self, within: Duration) -> Vec<Survivor> {
        match self.end(within) {
            // If no worker is left, the threads that the survey found have ended since.
            Some((survivors, workers)) if workers > 0 => survivors,
            _ => Vec::new(),
        }
    }

    /// `None` if all threads have ended, or if the caller cannot wait for them.
    fn end(&mut self, within: Duration) -> Option<(Vec<Survivor>, usize)> {
        // In a child made by `fork` nothing is there that could end.
        if std::mem::replace(&mut self.is_over, true) || !self.shared.is_here() {
            return None;
        }
        let own = Worker::current().is_some_and(|worker| Arc::ptr_eq(&worker.shared, &self.shared));
        if own || pool::on_pool_thread() {
            // The runtime waits for the calling host, or, within `block`, perhaps for the host that waits for
            // this call.
            self.shared.stop(Duration::ZERO);
            return None;
        }
        // On a host of another runtime, `block` keeps that runtime's worker free.
        let survivors = shield(|| {
            pool::block(|| {
                if self.shared.stop(within) == 0 {
                    return None;
                }
                let (found, workers) = self.shared.survey();
                Some((rows(found).into_iter().map(Survivor::new).collect(), workers))
            })
        });
        stdio::flush_at_end();
        survivors
    }
}

/// The result of a main host that has ended, or its panic, or the one that has ended the runtime.
#[track_caller]
fn settle<T>(shared: &Shared, ended: Result<T, JoinError>) -> T {
    match ended {
        Ok(value) => match shared.take_failure() {
            None => value,
            Some(panic) => {
                crate::sched::drops::drop_quietly(value);
                panic.resume()
            }
        },
        Err(JoinError::Panicked(panic)) => panic.resume(),
        Err(error) => match shared.take_failure() {
            Some(panic) => panic.resume(),
            None => panic!("the main host ended without a result: {error}"),
        },
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let Some((survivors, workers)) = self.end(PATIENCE).filter(|(_, workers)| *workers > 0) else {
            return;
        };
        let (all, seconds) = (self.shared.remotes().len(), PATIENCE.as_secs());
        crate::bug::say!(
            "{workers} of {all} workers did not end within {seconds} s of the end of their runtime: a host \
             computes without blocking, shields itself, or caught its cancellation"
        );
        survivors.iter().for_each(|survivor| crate::bug::say!("{survivor}"));
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.shared.remotes().len()).finish_non_exhaustive()
    }
}
