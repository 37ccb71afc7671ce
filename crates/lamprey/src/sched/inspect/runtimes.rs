//! The runtimes of the process that are not simulated: what looks at all threads goes through this list.

use crate::kernel::fork;
use crate::sched::shared::Shared;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError, Weak};

/// Each with the process that it is in: a child made by `fork` has the list of its parent, but none of the kernel threads.
static ALL: Mutex<Vec<(usize, Weak<Shared>)>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<(usize, Weak<Shared>)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime whose workers have started. Those that have gone leave the list here.
pub(in crate::sched) fn add(shared: &Arc<Shared>) {
    let mut list = list();
    list.retain(|(_, one)| one.strong_count() != 0);
    list.push((fork::generation(), Arc::downgrade(shared)));
}

/// The runtimes that have workers, the oldest first.
pub(crate) fn all() -> Vec<Arc<Shared>> {
    let here = fork::generation();
    // An `Arc` may be the last one when it is dropped, so none is dropped under the lock.
    let some: Vec<_> = list()
        .iter()
        .filter(|(generation, _)| *generation == here)
        .filter_map(|(_, one)| one.upgrade())
        .collect();
    some.into_iter().filter(|shared| shared.alive() != 0).collect()
}
