//! What kernel threads wait for that are no workers, for dumps: each says so before it parks, which costs a fraction of what parking does.

use super::found::Found;
use super::object::Objects;
use crate::kernel::fork::PerProcess;
use crate::sched::reason::On;
use crate::sched::thread::Kind;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// A kernel thread that waits.
struct OsWait {
    /// The kernel's number of it.
    tid: i32,
    name: Option<Arc<str>>,
    on: On,
    objects: Objects,
    since: Instant,
    is_limited: bool,
}

// SAFETY: the address is only compared.
unsafe impl Send for OsWait {}

/// Those that wait now.
static ALL: PerProcess<Mutex<Vec<Option<OsWait>>>> = PerProcess::new();

fn all() -> MutexGuard<'static, Vec<Option<OsWait>>> {
    ALL.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling kernel thread is listed until this is dropped.
pub(in crate::sched) struct Listed {
    place: usize,
    generation: usize,
}

impl Listed {
    /// # Safety
    /// The caller borrows what `on` names.
    pub(in crate::sched) unsafe fn new(on: On, is_limited: bool) -> Self {
        let name = std::thread::current().name().map(Into::into);
        // SAFETY: the calling thread is about to wait, and does nothing else during the call.
        let objects = unsafe { Objects::of(on.reason, on.what) };
        // SAFETY: takes no arguments and touches no memory.
        let tid = unsafe { libc::gettid() };
        let wait = Some(OsWait { tid, name, on, objects, since: Instant::now(), is_limited });
        let mut all = all();
        let place = all.iter().position(Option::is_none).unwrap_or(all.len());
        if place == all.len() {
            all.push(wait)
        } else {
            all[place] = wait
        }
        Self { place, generation: crate::kernel::fork::generation() }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        // In a child made by `fork` meanwhile there is another list.
        if self.generation == crate::kernel::fork::generation() {
            let gone = all().get_mut(self.place).and_then(Option::take);
            drop(gone);
        }
    }
}

/// The kernel threads that wait in a call of this crate, and are no workers.
pub(crate) fn found() -> Vec<Found> {
    let all = all();
    let one = |wait: &OsWait| Found {
        name: wait.name.clone(),
        wait: Some(wait.on.reason),
        on: wait.on.what.addr(),
        objects: wait.objects.clone(),
        waiting: Some(wait.since.elapsed()),
        is_limited: wait.is_limited,
        ..Found::new(wait.tid.unsigned_abs().into(), Kind::Os, 0)
    };
    all.iter().flatten().map(one).collect()
}
