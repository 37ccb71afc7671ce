//! What serves the futures that are polled outside of every worker: in a task of another executor, or on a
//! plain OS thread.
//!
//! It is a runtime of one worker that runs no hosts of the program, started when it is first needed and never
//! stopped. A runtime has all that is asked for (timers, a reactor, a pool of threads for calls that block),
//! and it sleeps when there is nothing to do.
//!
//! # Rejected
//! * To use whatever runtime the program has: which one, and until when?
//! * One kernel thread with an epoll and a heap of deadlines: a second implementation of both.
//! * To stop it when it is unused: nobody can say that no future will come, and a sleeping kernel thread
//!   costs little.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::launch::{Launch, launch};
use super::pool;
use super::reactor::Reactor;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::Notifier;
use crate::sched::timers;
use crate::sched::worker::Worker;
use crate::thread::{Handle, shield, stack_size};
use crate::time::alarms::Alarms;

/// See the module's text.
pub(crate) struct Outside {
    pub(crate) alarms: Arc<Alarms>,
    /// Ends the sleep of the worker, so that it looks at the alarms again.
    pub(crate) notifier: Notifier,
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) pool: Arc<pool::Shared>,
    _runtime: Arc<Shared>,
}

/// The one of this process; started now if it has not been.
///
/// # Errors
/// The system's, when it has no kernel thread, memory or descriptor left. The next call tries again.
///
/// # Blocking
/// The first call waits for the start, about a millisecond, and those that come meanwhile wait for it.
/// Workers have all of this themselves; only a host that unwinds, whose worker rings nothing while it polls,
/// is served here, too.
pub(crate) fn outside() -> io::Result<&'static Outside> {
    static OUTSIDE: OnceLock<Outside> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(outside) = OUTSIDE.get() {
        return Ok(outside);
    }
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if OUTSIDE.get().is_none() {
        // On a kernel thread of its own: a host that unwinds could not wait for the first host of the new
        // runtime.
        let started = std::thread::Builder::new().name("lamprey-start".to_owned()).spawn(start)?.join();
        let _ = OUTSIDE.set(started.map_err(|_| io::Error::other("the start of a runtime panicked"))??);
    }
    OUTSIDE.get().ok_or_else(|| crate::bug::bug!("a cell that has been set is empty"))
}

fn start() -> io::Result<Outside> {
    let runtime = launch(Launch {
        workers: 1,
        stack_size: stack_size::from_environment()?,
        blocking_threads: pool::MOST_THREADS,
        policy: None,
        sources: Vec::new(),
        options: Options::default(),
    })?;
    let look_around = || {
        let notifier = Worker::current()?.seat.notifier.get()?.clone();
        Some((notifier, timers::alarms()?, Reactor::current()?, pool::current()?))
    };
    // Not to be cancelled: a poll would unwind, of a future that is in the middle of something. It takes no
    // longer than the start.
    let found = shield(|| Handle::new(runtime.clone()).spawn(look_around).join());
    let found = found.map_err(|error| {
        runtime.stop(Duration::ZERO);
        io::Error::other(format!("cannot serve futures here: {error}"))
    })?;
    let (notifier, alarms, reactor, pool) =
        found.unwrap_or_else(|| crate::bug::bug!("a worker lacks what workers have"));
    Ok(Outside { alarms, notifier, reactor, pool, _runtime: runtime })
}
