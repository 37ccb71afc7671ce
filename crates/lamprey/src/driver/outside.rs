//! The services for futures that are polled outside of every worker: in a task of another executor, or on a
//! plain OS thread.
//!
//! They are those of a runtime with one worker that runs no hosts of the program, started when it is first
//! needed and never stopped. A runtime has all that is needed (timers, an event loop, pools of threads), and
//! it sleeps when there is nothing to do.
//!
//! # Rejected
//! * Using a runtime of the program: there may be several, and each may end while the future waits.
//! * One kernel thread with an epoll and a heap of deadlines: a second implementation of both.
//! * One for a process and the children that it makes by `fork`: the worker is a kernel thread, which the children do not have.
//! * Stopping it when it is unused: a future may come at any time, and a sleeping kernel thread costs little.

use crate::sync_shim::watched::Mutex;
use std::io;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use super::backend::Io;
use super::launch::{Launch, launch};
use super::pool;
use super::reactor::Reactor;
use crate::cancel::shield;
use crate::kernel::fork::PerProcess;
use crate::sched::affinity::unpinned;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::Notifier;
use crate::sched::timers;
use crate::sched::worker::Worker;
use crate::thread::{Handle, stack_size};
use crate::time::alarms::Alarms;

/// The timers, the event loop and the pools for futures outside of every worker.
pub(crate) struct Outside {
    pub(crate) alarms: Arc<Alarms>,
    /// Ends the sleep of the worker, so that it looks at the alarms again.
    pub(crate) notifier: Notifier,
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) pools: pool::Shares,
    _runtime: Arc<Shared>,
}

#[derive(Default)]
struct Place {
    outside: OnceLock<Outside>,
    starting: Mutex<()>,
}

/// The instance of this process; starts it if it has not been started.
///
/// # Errors
/// The system's, when it has no kernel thread, memory or descriptor left. The next call tries again.
///
/// # Blocking
/// The first call waits for the start, about a millisecond, and concurrent calls wait for it. Workers provide
/// all of this themselves; only a host that unwinds, whose worker fires no timer while it polls, uses this
/// too.
pub(crate) fn outside() -> io::Result<&'static Outside> {
    static PLACE: PerProcess<Place> = PerProcess::new();
    let place = PLACE.get();
    if let Some(outside) = place.outside.get() {
        return Ok(outside);
    }
    let _one_at_a_time = place.starting.lock().unwrap_or_else(PoisonError::into_inner);
    if place.outside.get().is_none() {
        // On a new kernel thread: a host that unwinds could not wait for the first host of the new runtime.
        let started =
            std::thread::Builder::new().name("lamprey-start".to_owned()).spawn(unpinned(start))?.join();
        let _ = place.outside.set(started.map_err(|_| io::Error::other("the start of a runtime panicked"))??);
    }
    place.outside.get().ok_or_else(|| crate::bug::bug!("a cell that has been set is empty"))
}

fn start() -> io::Result<Outside> {
    let runtime = launch(Launch {
        workers: 1,
        stack_size: stack_size::from_environment()?,
        pools: pool::Limits::default(),
        policy: None,
        sources: Vec::new(),
        source_threads: Vec::new(),
        io: Io::Auto.resolve()?,
        options: Options::default(),
        cores: Vec::new(),
    })?;
    let look_around = || {
        let notifier = Worker::current()?.remote.notifier.get()?.clone();
        Some((notifier, timers::alarms()?, Reactor::current()?, pool::shares()?))
    };
    // Shielded, because a cancellation would unwind out of the poll of a future that is in the middle of an
    // operation. The wait is as short as the start.
    let found = shield(|| Handle::new(runtime.clone()).spawn(look_around).join());
    let found = found.map_err(|error| {
        runtime.stop(Duration::ZERO);
        io::Error::other(format!("cannot serve futures here: {error}"))
    })?;
    let (notifier, alarms, reactor, pools) =
        found.unwrap_or_else(|| crate::bug::bug!("a worker lacks what workers have"));
    Ok(Outside { alarms, notifier, reactor, pools, _runtime: runtime })
}
