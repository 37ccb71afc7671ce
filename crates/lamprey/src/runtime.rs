//! The public face of the scheduler: a runtime, its builder, its handle, and [`run`].

use crate::cancel::shield;
use crate::driver::backend::Io;
use crate::driver::launch::{Launch, launch};
use crate::driver::pool;
use crate::io::stdio;
use crate::sched::policy::Policy;
use crate::sched::runtime::PolicyFactory;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::{Source, SourceFactory};
use crate::sched::stats::Stats;
use crate::sched::worker::Worker;
use crate::sim::SimBuilder;
use crate::thread::{Handle, JoinError, Panics, Survivor, stack_size};
use crate::world::Draws;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long the drop of a runtime waits for its threads to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `main` as the first host of a new runtime, and returns its result.
///
/// The runtime has one worker for each CPU. When `main` has returned, the remaining hosts are cancelled: each
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
/// With `main`'s own panic; and if no runtime can be started (kernel threads or memory are exhausted): build
/// a [`Runtime`] to get that as an error.
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
pub fn run<T: Send>(main: impl FnOnce() -> T + Send) -> T {
    match Runtime::new() {
        Ok(runtime) => runtime.run(main),
        Err(error) => panic!("lamprey::run cannot start a runtime: {error}"),
    }
}

/// Workers and the hosts that run on them. Several runtimes can exist in one process; they share only the
/// signal handler for stack overflows.
///
/// # The end
/// Dropping the runtime ends it. Hosts that have not started are dropped without being run. All others are
/// cancelled: the blocking call that they are in, or call next, unwinds, so that their destructors run; a
/// thread that joins them gets [`JoinError::Cancelled`]. A blocking call in a destructor during that unwind
/// fails instead of waiting. The drop waits for calls on the blocking pool. A host that computes without end,
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

/// Sets up a [`Runtime`].
#[must_use]
pub struct RuntimeBuilder {
    workers: usize,
    stack_size: Option<usize>,
    blocking_threads: usize,
    policy: Option<PolicyFactory>,
    sources: Vec<SourceFactory>,
    source_threads: Vec<SourceFactory>,
    io: Io,
    options: Options,
}

impl Runtime {
    /// Starts a runtime with one worker for each CPU.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    pub fn new() -> std::io::Result<Self> {
        Self::builder().build()
    }

    /// A builder with the default settings.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            stack_size: None,
            blocking_threads: pool::MOST_THREADS,
            policy: None,
            sources: Vec::new(),
            source_threads: Vec::new(),
            io: Io::Auto,
            options: Options::default(),
        }
    }

    /// A simulation: a program under a seed, on one kernel thread, with a clock of its own ([`sim`](crate::sim)).
    pub fn simulated(seed: u64) -> SimBuilder {
        SimBuilder::new(Draws { seed, kept: None })
    }

    /// Runs `main` as a host and returns its result. Other hosts keep running until the runtime is dropped.
    ///
    /// # Panics
    /// With `main`'s own panic, or that of another host where the runtime [propagates](Panics::Propagate)
    /// those. Panics before it starts `main` if the calling kernel thread is ending and its thread-locals
    /// have been destroyed, or if the caller is a host of this runtime that is unwinding.
    ///
    /// # Cancellation
    /// A caller that is cancelled during the wait unwinds at its next blocking call. `main` is not cancelled.
    ///
    /// # Blocking
    /// The calling OS thread, or host of any runtime, waits; uninterruptibly, because `main` may borrow.
    #[track_caller]
    pub fn run<T: Send>(&self, main: impl FnOnce() -> T + Send) -> T {
        match self.handle().run_borrowing(main) {
            Ok(value) => match self.shared.take_failure() {
                None => value,
                Some(panic) => {
                    crate::thread::quietly(|| drop(value));
                    panic.resume()
                }
            },
            Err(JoinError::Panicked(panic)) => panic.resume(),
            Err(error) => match self.shared.take_failure() {
                Some(panic) => panic.resume(),
                None => panic!("the main host ended without a result: {error}"),
            },
        }
    }

    /// Counts of what the threads of this runtime have done so far. Reads each worker's counters.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// What is behind the sockets and files of this runtime: epoll or io_uring.
    pub fn io(&self) -> Io {
        self.io
    }

    /// A handle that spawns hosts in this runtime from any thread.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }
}

impl RuntimeBuilder {
    /// The number of workers (kernel threads that run hosts). Default: one for each CPU.
    #[doc(alias = "worker_threads")]
    #[doc(alias = "GOMAXPROCS")]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Bytes of stack for hosts and stackful parasites that do not ask for a size: see
    /// [`Builder::stack_size`](crate::Builder::stack_size). The main host of [`run`](Runtime::run) has at
    /// least 1 MiB.
    ///
    /// Default: the environment variable `LAMPREY_STACK` (bytes, or KiB or MiB as in `256K` or `1M`; at least
    /// 16 KiB). Without it 64 KiB, or 256 KiB where this crate is compiled with debug assertions, as in the
    /// profile `dev`: unoptimised code needs several times as much stack.
    #[doc(alias = "thread_stack_size")]
    #[doc(alias = "SetMaxStack")]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// The largest number of kernel threads in the pool for [`block`](crate::block). Default: 64. They are
    /// started when needed and end when idle. With io_uring the kernel may have as many for each worker (and 64 if this is
    /// less), for calls of files that cannot but block: [`OpenOptions::open`](crate::fs::OpenOptions::open) says which.
    #[doc(alias = "max_blocking_threads")]
    #[doc(alias = "SetMaxThreads")]
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = threads;
        self
    }

    /// The time slice of a parasite: one that computes for longer is a candidate for
    /// [`inflation`](Self::inflation). Default: 10 ms. At least 0.2 ms.
    #[doc(alias = "preemption")]
    #[doc(alias = "event_interval")]
    pub fn time_slice(mut self, slice: Duration) -> Self {
        self.options.slice = slice;
        self
    }

    /// The time after which a worker that has not returned to its scheduler counts as stuck. Default: 3 s. If
    /// other threads of that worker are ready to run, the thread that holds it up is printed to standard
    /// error with its spawn site, once for each site: it computes without a call of this crate, or waits in a
    /// system call. `Duration::MAX` turns this off.
    ///
    /// The kernel thread of such a worker then gets the signal SIGURG, which interrupts system calls that do
    /// not restart: see [`Survivor::stack`].
    #[doc(alias = "sysmon")]
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.options.stuck_after = time;
        self
    }

    /// Whether a parasite that has used more than its time slice becomes a host, and its spawner pays a
    /// [`penalty`](Self::penalty). Default: true. (parasitic-threads-2011, 5.3)
    ///
    /// The time of a stackless parasite is checked when it blocks, that of a stackful one also when it
    /// spawns. [`parasite::inflate`] turns the calling parasite into a host explicitly.
    ///
    /// [`parasite::inflate`]: crate::parasite::inflate
    pub fn inflation(mut self, on: bool) -> Self {
        self.options.inflation = on;
        self
    }

    /// How many of its next parasites a thread starts as hosts after one of them has used up its time slice:
    /// it will probably spawn more of the same kind, and hosts can run on other workers. Default: 10, as in
    /// the paper.
    pub fn penalty(mut self, parasites: u8) -> Self {
        self.options.penalty = parasites;
        self
    }

    /// Whether a worker whose program spawns many parasites offers some of them to idle workers. Default:
    /// true. While another worker asks for work and no parasite is ready here, the next one that is spawned is
    /// queued for that worker instead of being started at once. If its spawner needs it within a microsecond, more
    /// and more of the following ones start at once: at most one in 256 is queued where all of them are that
    /// short.
    pub fn offering(mut self, on: bool) -> Self {
        self.options.offering = on;
        self
    }

    /// What happens to the panic of a thread that is not joined. Default: [`Panics::Report`].
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().panics(lamprey::Panics::Propagate).build()?;
    /// let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
    ///     runtime.run(|| {
    ///         lamprey::spawn(|| panic!("the cellar burns")); // not joined
    ///         lamprey::sleep(std::time::Duration::MAX); // ended by that panic
    ///     })
    /// }));
    /// assert_eq!(*ended.unwrap_err().downcast::<&str>().unwrap(), "the cellar burns");
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "unhandled_panic")]
    pub fn panics(mut self, panics: Panics) -> Self {
        self.options.panics = panics;
        self
    }

    /// The policy, which chooses the host that runs next: `make` is called once for each worker. Default:
    /// [`Hybrid`](crate::Hybrid).
    #[doc(alias = "scheduler")]
    pub fn policy<P: Policy>(mut self, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        self.policy = Some(Arc::new(move || Box::new(make())));
        self
    }

    /// Adds an event loop within the workers: `make` is called once for each worker, on its kernel thread, in any order
    /// of the workers. A host finds that of its worker in a `thread_local!` that `make` has set.
    #[doc(alias = "driver")]
    #[doc(alias = "event_loop")]
    pub fn source(
        mut self,
        make: impl Fn() -> std::io::Result<Box<dyn Source>> + Send + Sync + 'static,
    ) -> Self {
        self.sources.push(Arc::new(make));
        self
    }

    /// Adds an event loop beside the workers: `make` is called once, on a kernel thread of the event loop's own, which
    /// then calls the source's [`wait`](Source::wait) again and again. The source must have a
    /// [`notifier`](Source::notifier); its [`poll`](Source::poll) and [`helper`](Source::helper) are not called.
    ///
    /// Within the workers ([`source`](Self::source)), an event costs no wake from one kernel thread to another, but
    /// waits while its worker computes, and each worker looks at every source; beside them it is the other way
    /// round. (events-and-threads-haskell, Figure 14, has its loops on threads of their own.) The thread ends after
    /// the last worker has.
    pub fn source_thread(
        mut self,
        make: impl Fn() -> std::io::Result<Box<dyn Source>> + Send + Sync + 'static,
    ) -> Self {
        self.source_threads.push(Arc::new(make));
        self
    }

    /// What is behind sockets and files. Default: [`Io::Auto`], for which the environment variable `LAMPREY_IO` decides;
    /// with another one the variable is not looked at.
    #[doc(alias = "backend")]
    #[doc(alias = "driver")]
    pub fn io(mut self, io: Io) -> Self {
        self.io = io;
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is out of range (0 or more than 1024 workers, a stack of over 1 GiB,
    /// 0 blocking threads), for a `LAMPREY_STACK` that is not a size, for a `LAMPREY_IO` that is no [`Io`], and for a source on a thread of its own that
    /// has no notifier; those of [`Io::check`], if the builder or `LAMPREY_IO` demands io_uring; the system's error if it refuses kernel threads, memory or descriptors.
    pub fn build(self) -> std::io::Result<Runtime> {
        let invalid = |text: String| Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, text));
        if !(1..=1024).contains(&self.workers) {
            return invalid(format!("a runtime has 1 to 1024 workers, not {}", self.workers));
        }
        if self.blocking_threads == 0 {
            return invalid("a runtime needs at least 1 blocking thread, not 0".to_owned());
        }
        let stack_size = match self.stack_size {
            Some(bytes) => stack_size::check(bytes)?,
            None => stack_size::from_environment()?,
        };
        let io = self.io.resolve()?;
        let shared = launch(Launch {
            workers: self.workers,
            stack_size,
            blocking_threads: self.blocking_threads,
            policy: self.policy,
            sources: self.sources,
            source_threads: self.source_threads,
            io,
            options: self.options,
        })?;
        Ok(Runtime { shared, io, is_over: false })
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
        if std::mem::replace(&mut self.is_over, true) {
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
                Some((found.into_iter().map(Survivor::new).collect(), workers))
            })
        });
        stdio::flush_at_end();
        survivors
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

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").field("workers", &self.workers).finish_non_exhaustive()
    }
}
