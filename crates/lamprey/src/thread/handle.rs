//! A handle to a runtime, for starting hosts in it. (`crate::parasite` adds how it starts parasites.)

use super::builder::Builder;
use super::closure::Closure;
use super::join::JoinHandle;
use super::join_error::JoinError;
use super::stack_size;
use crate::sched::coop;
use crate::sched::metrics::snapshot::Metrics;
use crate::sched::must_not_block;
use crate::sched::shared::Shared;
use crate::sched::stats::Stats;
use crate::sched::worker::Worker;
use std::fmt;
use std::sync::Arc;

/// Starts hosts and parasites in a runtime from anywhere: from its own hosts, those of another runtime, OS threads, threads
/// of other runtimes such as tokio, wakers. It does not keep the runtime running.
///
/// # Examples
/// ```
/// let runtime = lamprey::Runtime::new()?;
/// let handle = runtime.handle();
/// std::thread::spawn(move || {
///     let host = handle.spawn(|| 1); // blocking code
///     let parasite = handle.parasite(async { 2 }); // a future
///     assert_eq!(host.join().unwrap() + parasite.join().unwrap(), 3);
/// })
/// .join()
/// .unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "Spawner")]
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Starts a host in the runtime. If the runtime has ended, the host never runs and joining it returns
    /// [`JoinError::Cancelled`].
    ///
    /// # Examples
    /// ```
    /// let runtime = lamprey::Runtime::new()?;
    /// let host = runtime.handle().spawn(|| lamprey::current().worker());
    /// assert!(host.join().unwrap().is_some());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: Closure<T> + Send + 'static,
        T: Send + 'static,
    {
        Builder::new()
            .spawn_in(self, f)
            .unwrap_or_else(|_| crate::bug::bug!("the plain builder refused to spawn"))
    }

    /// The handle of the calling host's runtime; `None` outside of a host.
    pub fn current() -> Option<Self> {
        let worker = Worker::current()?;
        Some(Self { shared: worker.shared.clone() })
    }

    /// The runtime's counters, as [`Runtime::stats`](crate::Runtime::stats).
    pub fn stats(&self) -> Stats {
        coop::look();
        self.shared.stats()
    }

    /// What the runtime has counted and measured so far: see [`inspect::metrics`](crate::inspect::metrics).
    pub fn metrics(&self) -> Metrics {
        coop::look();
        self.shared.metrics()
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.shared.remotes().len()
    }

    /// Spawns a host, named `main`, and joins it. The closure may borrow.
    #[track_caller]
    pub(crate) fn run_borrowing<T: Send>(&self, main: impl FnOnce() -> T + Send) -> Result<T, JoinError> {
        self.must_be_able_to_wait();
        let builder = Builder::new().name("main");
        let builder = builder.stack_size(stack_size::of_main(self.shared.stack_size) as usize);
        // SAFETY: `join_committed` returns only when the host has ended, so what `main` borrows outlives it;
        // an unwind out of this function before that aborts (`StaysHere`).
        let host = unsafe { builder.launch(&self.shared, std::panic::Location::caller(), main) }
            .unwrap_or_else(|_| crate::bug::bug!("the plain builder refused to spawn"));
        let until = StaysHere;
        let result = host.join_committed();
        std::mem::forget(until);
        result
    }

    /// As [`run_borrowing`](Self::run_borrowing), `main` too, for a runtime that the caller drives: `drive` is called with the
    /// question whether the host has ended, which it has when `drive` returns.
    pub(crate) fn run_driven<T: Send>(
        &self,
        site: &'static std::panic::Location<'static>,
        main: impl FnOnce() -> T + Send,
        drive: impl FnOnce(&dyn Fn() -> bool),
    ) -> Result<T, JoinError> {
        let builder = Builder::new().name("main");
        let builder = builder.stack_size(stack_size::of_main(self.shared.stack_size) as usize);
        // SAFETY: this returns only when the host has ended, so what `main` borrows outlives it; an unwind, or a return of
        // `drive` before that, aborts (`StaysHere`).
        let host = unsafe { builder.launch(&self.shared, site, main) }
            .unwrap_or_else(|_| crate::bug::bug!("the plain builder refused to spawn"));
        let until = StaysHere;
        drive(&|| host.is_done());
        match host.is_done() {
            true => std::mem::forget(until),
            false => drop(until),
        }
        host.join_committed()
    }

    /// Panics if the caller could not wait for a host that is started now.
    #[track_caller]
    fn must_be_able_to_wait(&self) {
        assert!(
            self.shared.is_here(),
            "this runtime is in the parent of this process, which was made by `fork`: make one here"
        );
        let is_own = Worker::current().is_some_and(|worker| Arc::ptr_eq(&worker.shared, &self.shared));
        assert!(
            !(is_own && must_not_block()),
            "a host that unwinds cannot run another one on its own runtime: it could wait for itself"
        );
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

/// Aborts the process if it is dropped by an unwind: a host that borrows from the caller still runs.
struct StaysHere;

impl Drop for StaysHere {
    fn drop(&mut self) {
        crate::bug::bug!("Runtime::run was left before its host had ended");
    }
}

/// Two handles are equal if they are of the same runtime. In a simulation each machine has one of its own.
///
/// # Examples
/// ```
/// use lamprey::{Handle, Runtime};
/// let (runtime, other) = (Runtime::new()?, Runtime::new()?);
/// assert!(runtime.run(Handle::current) == Some(runtime.handle()));
/// assert!(other.handle() != runtime.handle());
/// # Ok::<(), std::io::Error>(())
/// ```
impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("workers", &self.shared.remotes().len()).finish_non_exhaustive()
    }
}
