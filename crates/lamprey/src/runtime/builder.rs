//! [`RuntimeBuilder`]: the settings of a runtime, and its start.

use super::{Runtime, environment};
use crate::driver::backend::Io;
use crate::driver::launch::{Launch, launch};
use crate::driver::pool;
use crate::sched::affinity::Affinity;
use crate::sched::coop;
use crate::sched::policy::Policy;
use crate::sched::runtime::PolicyFactory;
use crate::sched::shared::Options;
use crate::sched::source::{Source, SourceFactory};
use crate::thread::{Panics, stack_size};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Most notes that a recorder keeps: half a gibibyte for each worker.
const MOST_NOTES: usize = 1 << 24;

/// Sets up a [`Runtime`].
#[must_use]
pub struct RuntimeBuilder {
    pub(super) workers: usize,
    pub(super) stack_size: Option<usize>,
    pub(super) pools: pool::Limits,
    policy: Option<PolicyFactory>,
    sources: Vec<SourceFactory>,
    source_threads: Vec<SourceFactory>,
    pub(super) io: Io,
    pub(super) options: Options,
    pub(super) affinity: Affinity,
    /// What `from_env` has found wrong.
    invalid: Option<io::Error>,
}

impl RuntimeBuilder {
    pub(super) fn new() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            stack_size: None,
            pools: pool::Limits::default(),
            policy: None,
            sources: Vec::new(),
            source_threads: Vec::new(),
            io: Io::Auto,
            options: Options::default(),
            affinity: Affinity::Anywhere,
            invalid: None,
        }
    }

    /// Takes settings from the environment: whoever starts the program decides. A variable that is set replaces what the
    /// builder was told before this call; one that is not set, or empty, changes nothing, and so does what the builder is
    /// told afterwards to a variable. `#[lamprey::main]`, `#[lamprey::test]` and [`run`](crate::run) do this by themselves.
    ///
    /// | variable | a value | sets |
    /// |---|---|---|
    /// | `LAMPREY_WORKERS` | `4` | [`workers`](Self::workers) |
    /// | `LAMPREY_STACK_SIZE` | `65536`, `64K`, `1M` | [`stack_size`](Self::stack_size) |
    /// | `LAMPREY_BLOCKING_THREADS` | `64` | [`blocking_threads`](Self::blocking_threads) |
    /// | `LAMPREY_BLOCKING_QUEUE` | `1024` | [`blocking_queue`](Self::blocking_queue) |
    /// | `LAMPREY_FILE_THREADS` | `64` | [`file_threads`](Self::file_threads) |
    /// | `LAMPREY_LOOKUP_THREADS` | `16` | [`lookup_threads`](Self::lookup_threads) |
    /// | `LAMPREY_COMPUTE_THREADS` | `4` | [`compute_threads`](Self::compute_threads) |
    /// | `LAMPREY_PIN_WORKERS` | `on`, `off`, or a list such as `0,4-7` | [`pin_workers`](Self::pin_workers), [`pin_workers_to`](Self::pin_workers_to) |
    /// | `LAMPREY_IO` | `epoll`, `uring`, `auto` | [`io`](Self::io) |
    /// | `LAMPREY_PANICS` | `report`, `propagate`, `abort` | [`panics`](Self::panics) |
    /// | `LAMPREY_STUCK_AFTER` | `20ms`, `3s`, `off` | [`stuck_after`](Self::stuck_after) |
    /// | `LAMPREY_DEADLOCKS` | `on`, `off` | [`deadlocks`](Self::deadlocks) |
    /// | `LAMPREY_RECORDER` | `100000`, `off` | [`recorder`](Self::recorder) |
    /// | `LAMPREY_RECORD_DIR` | `/var/log/server` | [`record_dir`](Self::record_dir) |
    /// | `LAMPREY_TIME_SLICE` | `10ms` | [`time_slice`](Self::time_slice) |
    /// | `LAMPREY_INFLATION` | `on`, `off` | [`inflation`](Self::inflation) |
    /// | `LAMPREY_PENALTY` | `10` | [`penalty`](Self::penalty) |
    /// | `LAMPREY_OFFERING` | `on`, `off` | [`offering`](Self::offering) |
    ///
    /// A time is a whole number of `us`, `ms`, `s`, `m` or `h`, or of seconds without a unit. Other variables are not
    /// looked at, whatever their names: [`sim::explore`](crate::sim::explore) has some of its own, and so has
    /// `#[lamprey::test]`.
    ///
    /// # Examples
    /// ```
    /// use lamprey::Runtime;
    /// // Four, unless LAMPREY_WORKERS says otherwise; at most two calls block at a time, whatever it says.
    /// let runtime = Runtime::builder().workers(4).from_env().blocking_threads(2).build()?;
    /// assert_eq!(runtime.run(|| 6 * 7), 42);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// None here: [`build`](Self::build) fails with `InvalidInput` for a value that cannot be read, and names the variable,
    /// the value and what is expected.
    #[doc(alias = "env")]
    #[doc(alias = "GOMAXPROCS")]
    pub fn from_env(mut self) -> Self {
        if let Err(error) = environment::apply(&mut self, |name| std::env::var_os(name)) {
            self.invalid.get_or_insert(error);
        }
        self
    }

    /// Whether each worker stays on one core: the first on the first of those that the process may use, and so on, and then
    /// again from the first. Default: false, the kernel puts them where it likes.
    ///
    /// That helps where the program has the machine for itself, and caches and figures should not depend on what the kernel
    /// does; with other programs beside it, a pinned worker waits for its core while others are idle.
    ///
    /// Only workers are pinned. The threads of [`block`](crate::block), those of other
    /// [sources](Self::source_thread) and of the runtime itself are not, nor are the children of
    /// [`process::Command`](crate::process::Command), and a runtime that is built by a host may use all cores again. But **a
    /// kernel thread or child process that a host starts by means of `std`** (`std::thread::spawn`,
    /// `std::process::Command`) inherits the one core of its worker, as the kernel does it: start it within
    /// [`block`](crate::block).
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().workers(2).pin_workers(true).build()?;
    /// // Of which the host knows nothing:
    /// assert_eq!(runtime.run(|| lamprey::spawn(|| 1 + 1).join().unwrap()), 2);
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "affinity")]
    #[doc(alias = "taskset")]
    pub fn pin_workers(mut self, on: bool) -> Self {
        self.affinity = if on { Affinity::OneEach } else { Affinity::Anywhere };
        self
    }

    /// As [`pin_workers`](Self::pin_workers), to these cores, by the kernel's numbers (`/proc/cpuinfo`): the first worker to
    /// the first one, and again from the first if there are more workers.
    ///
    /// # Examples
    /// ```
    /// let error = lamprey::Runtime::builder().pin_workers_to([5000]).build().unwrap_err();
    /// assert!(error.to_string().contains("core 5000"), "{error}");
    /// ```
    ///
    /// # Errors
    /// None here: [`build`](Self::build) fails with `InvalidInput` for an empty list, and for a core that is not there or
    /// that the process may not use (`taskset`, containers).
    #[doc(alias = "sched_setaffinity")]
    pub fn pin_workers_to(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.affinity = Affinity::Cores(cores.into_iter().collect());
        self
    }

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
    /// Default: the environment variable `LAMPREY_STACK_SIZE` (bytes, or KiB or MiB as in `256K` or `1M`; at least
    /// 16 KiB). Without it 64 KiB, or 256 KiB where this crate is compiled with debug assertions, as in the
    /// profile `dev`: unoptimised code needs several times as much stack.
    #[doc(alias = "thread_stack_size")]
    #[doc(alias = "SetMaxStack")]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// The largest number of kernel threads in the pool for [`block`](crate::block). Default: 64. They are
    /// started when needed and end when idle.
    #[doc(alias = "max_blocking_threads")]
    #[doc(alias = "SetMaxThreads")]
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.pools.blocking = threads;
        self
    }

    /// How many calls may wait for a thread of the pool before [`try_block`](crate::try_block) refuses. Default: 1024.
    ///
    /// Calls that may wait are not refused: they wait in line beyond this, each in the memory of the thread or future that
    /// makes it.
    pub fn blocking_queue(mut self, calls: usize) -> Self {
        self.pools.queue = calls;
        self
    }

    /// The largest number of kernel threads in the pool for calls of files. Default: as many as
    /// [`blocking_threads`](Self::blocking_threads). With io_uring the kernel may have as many for each worker (and 64 if this
    /// is less), for calls of files that cannot but block: [`OpenOptions::open`](crate::fs::OpenOptions::open) says which.
    ///
    /// A call that takes longer than a tenth of a second while others wait for a thread does not count: its file server may be gone. There
    /// are at most 1024 such calls; those beyond count. When the runtime ends, calls whose futures were dropped are
    /// waited for, but for no longer than five seconds.
    pub fn file_threads(mut self, threads: usize) -> Self {
        self.pools.files = Some(threads);
        self
    }

    /// The largest number of kernel threads in the pool for lookups of names. Default: 16, or as many as
    /// [`blocking_threads`](Self::blocking_threads) if those are fewer.
    ///
    /// A look-up that everybody has left does not count while others wait for a thread: its name server may be silent. There are at most
    /// 1024 such; those beyond count. When the runtime ends, they are waited for, but for no longer than five seconds.
    pub fn lookup_threads(mut self, threads: usize) -> Self {
        self.pools.lookups = Some(threads);
        self
    }

    /// The largest number of kernel threads in the pool for [`compute`](crate::compute). Default: one for each CPU.
    #[doc(alias = "num_threads")]
    pub fn compute_threads(mut self, threads: usize) -> Self {
        self.pools.compute = Some(threads);
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

    /// How long a thread may hold its worker while something waits for it. Default: 100 ms. What takes longer is printed to
    /// standard error: the thread with its name, its spawn site and its stack, what waits behind it, and what to do. It computes without
    /// a call of this crate, or waits in the system; of a blocking call of `std` (a lock, a channel, `sleep`, files, sockets, names,
    /// processes) or of C the report says where it is made, and what this crate has in its place.
    ///
    /// Each place is reported once, and once more if the thread stays there for ten seconds. What counts is the time in which the
    /// worker's kernel thread computes or sleeps in the system, not that in which it waits for a processor: a machine that is
    /// loaded makes no reports. A thread that holds up nobody is not reported. But one that waits for a lock of `std` is after eight times the
    /// limit if its worker has other threads that wait, because one of these may have the lock.
    ///
    /// `Duration::MAX` turns this off. (As does `LAMPREY_STUCK_AFTER=off`.) The shortest limit is 10 ms.
    ///
    /// The kernel thread of such a worker gets the signal SIGURG, which interrupts system calls that do
    /// not restart: see [`Survivor::stack`](crate::Survivor::stack). One that computes gets the first after a quarter of
    /// the limit, if the worker has other threads; one that sleeps after the limit.
    #[doc(alias = "sysmon")]
    pub fn stuck_after(mut self, time: Duration) -> Self {
        self.options.stuck_after = time;
        self
    }

    /// Whether a deadlock is reported. Default: true.
    ///
    /// When all threads of all runtimes wait, and nothing is under way in the process that could wake one, then none ever runs
    /// again. Some seconds after that the runtime prints to standard error who waits for what and where, cancels its
    /// threads (so that destructors run), and [`run`](crate::run) panics. Under way is whatever can still come from
    /// outside: a timer; a socket, pipe or child that a thread waits for or has waited for; a listener for signals that has been
    /// waited for; a call on a pool; and any kernel thread that does not wait in a call of this crate. A program with a kernel thread of
    /// its own, or of a library (tokio's, rayon's), is never reported; nor is one with a [`source`](Self::source) of its own, or in
    /// which a thread sleeps, for however long. Neither are threads that wait for each other for ever while others go on.
    ///
    /// A program that waits for what nobody can send (`std::future::pending`, [`never`](crate::event::never), a token that nobody
    /// cancels) is one that stands still, too. If it is to wait until it is killed, let it
    /// [`sleep(Duration::MAX)`](crate::sleep).
    ///
    /// Say `false` if a wake can come from where nobody can see it: from a process that shares memory, for instance, or
    /// from a signal handler of C.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().deadlocks(false).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "all goroutines are asleep")]
    pub fn deadlocks(mut self, reported: bool) -> Self {
        self.options.deadlocks = reported;
        self
    }

    /// How many notes of what it does each worker keeps for [`inspect::recording`](crate::inspect::recording). Default:
    /// 16,384, which take 512 KiB of memory once they have all been written; 0 records nothing.
    ///
    /// A program whose trouble is noticed late wants more of them: a worker writes up to half a million a second. Who wants to
    /// know what the recorder costs sets 0 and compares: it is made to cost 1 % at most.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().recorder(1 << 20).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "flight recorder")]
    pub fn recorder(mut self, notes: usize) -> Self {
        self.options.recorder = notes;
        self
    }

    /// The folder where recordings are kept as text files. Default: none, and nothing is written.
    ///
    /// All that is recorded is written to a file there at a deadlock, at a worker that is held up, at a panic that nobody joins (one a
    /// second at most), and by [`Recording::save`](crate::inspect::Recording::save). A process keeps 16 files at most, the latest. Files
    /// of earlier processes stay, also if they had the same number. The folder is made if it is not there.
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::builder().record_dir("/var/log/server").build()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn record_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.options.record_dir = Some(folder.as_ref().into());
        self
    }

    /// Whether a parasite that has used more than its time slice becomes a host, and its spawner pays a
    /// [`penalty`](Self::penalty). Default: true. (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony
    /// Using Parasitic Threads*, 2011, 5.3)
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
    pub fn source(mut self, make: impl Fn() -> io::Result<Box<dyn Source>> + Send + Sync + 'static) -> Self {
        self.sources.push(Arc::new(make));
        self
    }

    /// Adds an event loop beside the workers: `make` is called once, on a kernel thread of the event loop's own, which
    /// then calls the source's [`wait`](Source::wait) again and again. The source must have a
    /// [`notifier`](Source::notifier); its [`poll`](Source::poll) and [`helper`](Source::helper) are not called.
    ///
    /// Within the workers ([`source`](Self::source)), an event costs no wake from one kernel thread to another, but
    /// waits while its worker computes, and each worker looks at every source; beside them it is the other way
    /// round. (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, Figure 14, has its
    /// loops on threads of their own.) The thread ends after
    /// the last worker has.
    pub fn source_thread(
        mut self,
        make: impl Fn() -> io::Result<Box<dyn Source>> + Send + Sync + 'static,
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
    /// 0 threads of a pool, more than 2^24 notes of the recorder), for a variable that [`from_env`](Self::from_env) cannot read, for a `LAMPREY_STACK_SIZE` that is not a size and a
    /// `LAMPREY_IO` that is no [`Io`] (which count without `from_env` too, where the builder sets neither), for a core that no worker can be
    /// [pinned](Self::pin_workers_to) to, and for a source on a thread of its own that has no notifier; those of [`Io::check`], if the builder or `LAMPREY_IO` demands io_uring; the system's error if it refuses kernel threads, memory or descriptors.
    pub fn build(self) -> io::Result<Runtime> {
        let invalid = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        if let Some(error) = self.invalid {
            return Err(error);
        }
        if !(1..=1024).contains(&self.workers) {
            return invalid(format!("a runtime has 1 to 1024 workers, not {}", self.workers));
        }
        if self.options.recorder > MOST_NOTES {
            return invalid(format!(
                "a recorder keeps at most {MOST_NOTES} notes, not {}",
                self.options.recorder
            ));
        }
        if let Some(class) = self.pools.zero() {
            return invalid(format!("a runtime needs at least 1 {} thread, not 0", class.name()));
        }
        let stack_size = match self.stack_size {
            Some(bytes) => stack_size::check(bytes)?,
            None => stack_size::from_environment()?,
        };
        let io = self.io.resolve()?;
        let launched = launch(Launch {
            workers: self.workers,
            stack_size,
            pools: self.pools,
            policy: self.policy,
            sources: self.sources,
            source_threads: self.source_threads,
            io,
            options: self.options,
            cores: self.affinity.resolve()?,
        });
        let shared = coop::tried(launched, Result::is_err)?;
        Ok(Runtime { shared, io: io.io, is_over: false })
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder").field("workers", &self.workers).finish_non_exhaustive()
    }
}
