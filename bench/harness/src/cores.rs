//! Which cores a server and its clients use.

use anyhow::{Context, Result};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::thread;

/// Whether a server of this many workers and its clients have a core each, so that the scheduler's decisions are
/// not measured. A server with more workers shares all cores with its clients.
pub fn apart(workers: usize) -> bool {
    workers == 1 && thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// Before a server of this many workers starts in this process: keeps it on its core.
pub fn serve(workers: usize) -> Result<()> {
    if apart(workers) { stay_on(0) } else { Ok(()) }
}

/// Starts the clients of such a server with `start`, on their core.
pub fn beside<T>(workers: usize, start: impl FnOnce() -> Result<T>) -> Result<T> {
    if !apart(workers) {
        return start();
    }
    stay_on(1)?;
    let started = start();
    stay_on(0)?;
    started
}

/// Pins this thread, and the threads and processes that it starts later, to one core.
pub fn stay_on(core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    // 0 is the calling thread.
    sched_setaffinity(Pid::from_raw(0), &cores).with_context(|| format!("cannot stay on core {core}"))
}
