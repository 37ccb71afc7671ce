//! The runtimes of the process that are not simulated: what looks at all threads goes through this list.

use crate::kernel::fork::PerProcess;
use crate::sched::shared::Shared;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError, Weak};

static ALL: PerProcess<Mutex<Vec<Weak<Shared>>>> = PerProcess::new();

fn list() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    ALL.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a runtime whose workers have started. Those that have gone leave the list here.
pub(in crate::sched) fn add(shared: &Arc<Shared>) {
    let mut list = list();
    list.retain(|one| one.strong_count() != 0);
    list.push(Arc::downgrade(shared));
}

/// The runtimes that have workers, the oldest first. A child made by `fork` has none of its parent's kernel threads, and so none of
/// its runtimes.
pub(crate) fn all() -> Vec<Arc<Shared>> {
    // An `Arc` may be the last one when it is dropped, so none is dropped under the lock.
    let some: Vec<_> = list().iter().filter_map(Weak::upgrade).collect();
    some.into_iter().filter(|shared| shared.alive() != 0).collect()
}
