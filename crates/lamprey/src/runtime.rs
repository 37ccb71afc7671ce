//! The public face of the scheduler: a runtime, its builder, its handle, and [`run`].

use crate::driver::launch::{Launch, launch};
use crate::driver::pool;
use crate::sched::policy::Policy;
use crate::sched::runtime::PolicyFactory;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::{Source, SourceFactory};
use crate::sched::stats::Stats;
use crate::sched::worker::Worker;
use crate::thread::{Handle, JoinError, Panics, Survivor, shield, stack_size};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a runtime that is dropped waits for its hosts to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `main` as the first host of a runtime of its own, and returns its result.
///
/// The runtime has one worker for each CPU. When `main` has returned, the hosts that are left are ended: each
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
/// With `main`'s own panic, if it panics; and if no runtime can be made (kernel threads or memory are
/// exhausted): build a [`Runtime`] to get that as an error.
///
/// # Cancellation
/// The wait is not interrupted: a caller that is cancelled meanwhile unwinds at its next blocking call.
/// `main` is not cancelled with it.
///
/// # Blocking
/// The calling OS thread, or host, waits.
#[track_caller]
pub fn run<T: Send>(main: impl FnOnce() -> T + Send) -> T {
    match Runtime::new() {
        Ok(runtime) => runtime.run(main),
        Err(error) => panic!("lamprey::run cannot start a runtime: {error}"),
    }
}

/// Workers and the hosts that run on them. Several can live in one process; they share nothing but the signal
/// handler for stack overflows.
///
/// # The end
/// Dropping the runtime ends it. Hosts that have not started are dropped unrun. All others are cancelled: the
/// blocking call that they are in, or come to next, unwinds, so that their destructors run; whoever joins
/// them gets [`JoinError::Cancelled`]. A blocking call in a destructor during that unwind fails instead of
/// waiting. A call on the blocking pool is waited for. A host that computes without end, or catches the
/// unwind and goes on, cannot be ended: after 10 seconds the drop says so on standard error, lists such
/// hosts, and leaves their kernel threads running ([`shutdown`](Self::shutdown) has a deadline of one's own).
/// A runtime that is dropped by one of its own hosts, or within [`block`](crate::block), is told to end and
/// not waited for.
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::builder().workers(2).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 2 + 2).join().unwrap()), 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Runtime {
    shared: Arc<Shared>,
    /// It has been told to end.
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
    options: Options,
}

impl Runtime {
    /// A runtime with one worker for each CPU.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    pub fn new() -> std::io::Result<Self> {
        Self::builder().build()
    }

    /// Sets up a runtime of choice.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            stack_size: None,
            blocking_threads: pool::MOST_THREADS,
            policy: None,
            sources: Vec::new(),
            options: Options::default(),
        }
    }

    /// Runs `main` as a host and returns its result. Other hosts run on after that, until the runtime is
    /// dropped.
    ///
    /// # Panics
    /// With `main`'s own panic, or that of another host where the runtime [propagates](Panics::Propagate)
    /// those. Before `main` is started: on a kernel thread that ends, whose thread-locals have been
    /// destroyed; on a host of this runtime that unwinds.
    ///
    /// # Cancellation
    /// A caller that is cancelled meanwhile unwinds at its next blocking call. `main` is not cancelled with
    /// it.
    ///
    /// # Blocking
    /// The calling OS thread, or host of whatever runtime, waits; uninterruptibly, because `main` may borrow.
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

    /// What the threads of this runtime have done so far. Costs a look at each worker's counters.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Spawns hosts in this runtime from anywhere.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }
}

impl RuntimeBuilder {
    /// How many workers (kernel threads that run hosts). Default: one for each CPU.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Bytes of stack for hosts and stackful parasites that do not ask for a size: see
    /// [`Builder::stack_size`](crate::Builder::stack_size). The main host of [`run`](Runtime::run) has at
    /// least 1 MiB.
    ///
    /// Default: what the environment variable `LAMPREY_STACK` says (bytes, or KiB or MiB as in `256K` or
    /// `1M`; less than 16 KiB counts as that); without it 64 KiB, and 256 KiB where this crate is compiled
    /// with debug assertions, as the profile `dev` does: code that is not optimised needs several times
    /// as much stack.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Most kernel threads that the pool for [`block`](crate::block) may have. Default: 64. They are started
    /// when needed and end when idle.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = threads;
        self
    }

    /// How long a parasite may compute before it counts as long: see [`inflation`](Self::inflation). Default:
    /// 10 ms. At least 0.2 ms.
    pub fn time_slice(mut self, slice: Duration) -> Self {
        self.options.slice = slice;
        self
    }

    /// When a worker that has not come to its scheduler counts as stuck. Default: 3 s. Then, if others of its
    /// threads could run, the thread that holds it up is named on standard error, with its spawn site, once
    /// for each site: it computes without a call of this crate, or waits in the system. `Duration::MAX`:
    /// nobody is named.
    ///
    /// The kernel thread of such a worker gets the signal SIGURG then, which interrupts system calls that do
    /// not restart: see [`Survivor::stack`].
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.options.stuck_after = time;
        self
    }

    /// Whether a parasite that has used more than its time slice becomes a host, and its spawner pays a
    /// [`penalty`](Self::penalty). Default: true. (parasitic-threads-2011, 5.3)
    ///
    /// A stackless parasite is looked at when it blocks, a stackful one also when it spawns.
    /// [`parasite::inflate`] asks for it explicitly.
    ///
    /// [`parasite::inflate`]: crate::parasite::inflate
    pub fn inflation(mut self, on: bool) -> Self {
        self.options.inflation = on;
        self
    }

    /// How many of its next parasites a thread starts as hosts after one of them has used up its time slice:
    /// it will probably spawn more of the kind, and hosts can run on other workers. Default: 10, as in the
    /// paper.
    pub fn penalty(mut self, parasites: u8) -> Self {
        self.options.penalty = parasites;
        self
    }

    /// Whether a worker whose program spawns many parasites gives some to workers that have nothing to do.
    /// Default: true. While another worker is asking, now and then a new parasite is queued, for that worker
    /// to take, instead of started at once.
    pub fn offering(mut self, on: bool) -> Self {
        self.options.offering = on;
        self
    }

    /// What is done about a panic that nobody joins. Default: [`Panics::Report`].
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().panics(lamprey::Panics::Propagate).build()?;
    /// let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
    ///     runtime.run(|| {
    ///         lamprey::spawn(|| panic!("the cellar burns")); // nobody joins it
    ///         lamprey::sleep(std::time::Duration::MAX); // and still nobody waits in vain
    ///     })
    /// }));
    /// assert_eq!(*ended.unwrap_err().downcast::<&str>().unwrap(), "the cellar burns");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn panics(mut self, panics: Panics) -> Self {
        self.options.panics = panics;
        self
    }

    /// Chooses what runs next: `make` is called once for each worker. Default: [`Hybrid`](crate::Hybrid).
    pub fn policy<P: Policy>(mut self, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        self.policy = Some(Arc::new(move || Box::new(make())));
        self
    }

    /// Adds an event loop: `make` is called once for each worker, on its kernel thread.
    pub fn source(
        mut self,
        make: impl Fn() -> std::io::Result<Box<dyn Source>> + Send + Sync + 'static,
    ) -> Self {
        self.sources.push(Arc::new(make));
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is out of range (0 or more than 1024 workers, a stack of over 1 GiB,
    /// 0 blocking threads), and for a `LAMPREY_STACK` that is no size; what the system says if it refuses
    /// kernel threads, memory or descriptors.
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
        let shared = launch(Launch {
            workers: self.workers,
            stack_size,
            blocking_threads: self.blocking_threads,
            policy: self.policy,
            sources: self.sources,
            options: self.options,
        })?;
        Ok(Runtime { shared, is_over: false })
    }
}

impl Runtime {
    /// Ends the runtime: cancels all threads, waits until they have ended, `within` at most, and returns
    /// those that have not.
    ///
    /// It is what dropping the runtime does (see [`Runtime`], *The end*), with a deadline of one's own and an
    /// answer. An empty vector means that all threads of the runtime are over, and every destructor of what
    /// they owned has run. Its kernel threads are on their way out: what they still do is to run the
    /// destructors of their own `thread_local!`s, and to give the memory of the stacks back (half a second
    /// for a million stacks). A survivor is left alone: it goes on if it can, on a kernel thread that
    /// nobody waits for any more; what it waits for may still come, or never, and harms nobody.
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
    /// The wait is not interrupted: a caller that is cancelled meanwhile unwinds at its next blocking call.
    ///
    /// # Blocking
    /// The calling OS thread, or host of another runtime, waits, uninterruptibly. Called by one of the
    /// runtime's own hosts, or within [`block`](crate::block), it cannot wait for itself: it only tells the
    /// runtime to end, and returns nobody.
    pub fn shutdown(mut self, within: Duration) -> Vec<Survivor> {
        match self.end(within) {
            // With no worker left, those that were found have ended meanwhile.
            Some((survivors, workers)) if workers > 0 => survivors,
            _ => Vec::new(),
        }
    }

    /// `None` if all is over, or cannot be waited for.
    fn end(&mut self, within: Duration) -> Option<(Vec<Survivor>, usize)> {
        if std::mem::replace(&mut self.is_over, true) {
            return None;
        }
        let own = Worker::current().is_some_and(|worker| Arc::ptr_eq(&worker.shared, &self.shared));
        if own || pool::on_pool_thread() {
            // The runtime waits for the calling host; within `block`, for the host that waits for this call,
            // perhaps.
            self.shared.stop(Duration::ZERO);
            return None;
        }
        // On a host of another runtime: that one's worker goes on.
        shield(|| {
            pool::block(|| {
                if self.shared.stop(within) == 0 {
                    return None;
                }
                let (found, workers) = self.shared.survey();
                Some((found.into_iter().map(Survivor::new).collect(), workers))
            })
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let Some((survivors, workers)) = self.end(PATIENCE).filter(|(_, workers)| *workers > 0) else {
            return;
        };
        let (all, seconds) = (self.shared.seats().len(), PATIENCE.as_secs());
        crate::bug::say!(
            "{workers} of {all} workers did not end within {seconds} s of the end of their runtime: a host \
             computes without blocking, shields itself, or caught its cancellation"
        );
        survivors.iter().for_each(|survivor| crate::bug::say!("{survivor}"));
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.shared.seats().len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").field("workers", &self.workers).finish_non_exhaustive()
    }
}
