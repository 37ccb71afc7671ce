//! The locks that the calling thread of control holds.
//!
//! Invariant: only the list's own thread touches it, and no borrow of it is held across code that could use
//! the list again. An entry is stale once its lock was released elsewhere: an exclusive entry if its `turn`
//! is not the lock's any more, a shared one if its flag is set. Stale entries are passed over, and removed before the
//! list grows.

use super::watched::{Lock, Way};
use super::{Site, settings};
use crate::sched::inspect::holdings::{self, Holding};
use crate::sched::thread::Thread;
use crate::sched::worker::Worker;
use crate::sync_shim::{AtomicBool, Ordering};
use crate::thread::local::host_local;
use std::cell::RefCell;
use std::sync::Arc;

/// A lock that the thread holds.
pub(super) struct Held {
    lock: Arc<Lock>,
    turn: usize,
    /// For a shared acquisition; true once it was released.
    shared: Option<Arc<AtomicBool>>,
    /// Where the lock was taken.
    site: Site,
}

impl Held {
    fn is_stale(&self) -> bool {
        self.turn != self.lock.turn()
            // Relaxed: no ordering needed; an old value means "still held".
            || self.shared.as_ref().is_some_and(|is_over| is_over.load(Ordering::Relaxed))
    }
}

/// Of how many held locks, the latest, edges lead to a lock that is taken. To the others ways lead through those in between: each of these
/// was taken while the one before it was held. (But not one that was taken by trying.)
const MOST: usize = 32;

type List = RefCell<Vec<Held>>;

host_local! {
    /// Also that of a kernel thread, and of a call on a pool: in a simulation they share one kernel thread, so a `thread_local!`
    /// would take the locks of one call for those of another.
    static OF_THREAD: List = List::default();
}

/// Calls `f` with the calling thread's list; `None` if it has none.
fn with<R>(f: impl FnOnce(&List) -> R) -> Option<R> {
    let is_polled = Worker::current().is_some_and(|worker| worker.running_ref().polled().is_some());
    (!is_polled).then(|| OF_THREAD.with(f))
}

/// The locks that a thread holds, for reports.
///
/// # Safety
/// The thread is a suspended one of the calling kernel thread's worker, and stays so during the call.
unsafe fn of(thread: &Thread) -> Vec<Holding> {
    let all = |list: &List| {
        // No borrow is held across a switch (invariant).
        let held = list.borrow();
        let held = held.iter().filter(|held| !held.is_stale());
        held.map(|held| Holding { lock: held.lock.place(), site: held.site }).collect()
    };
    // SAFETY: as promised by the caller.
    unsafe { OF_THREAD.of_suspended(thread, all) }.unwrap_or_default()
}

pub(super) fn push(lock: &Arc<Lock>, site: Site, shared: Option<Arc<AtomicBool>>) {
    holdings::set_list(of);
    let held = Held { lock: lock.clone(), turn: lock.turn(), shared, site };
    with(|list| {
        let mut list = list.borrow_mut();
        if list.len() == list.capacity() {
            list.retain(|held| !held.is_stale());
        }
        list.push(held);
    });
}

/// Removes the exclusive entry of that lock, if there is one.
pub(super) fn remove(number: usize) {
    with(|list| {
        let mut list = list.borrow_mut();
        let at = list.iter().rposition(|held| held.lock.number == number && held.shared.is_none());
        at.map(|at| list.remove(at))
    });
}

/// The numbers of the locks that are held while `lock` is about to be taken at `site`, and where they were
/// taken. Reports if `lock` itself is held.
///
/// # Panics
/// If the environment asks for a panic instead of a report, or if the thread would certainly deadlock with
/// itself.
pub(super) fn others(lock: &Lock, site: Site, way: Way) -> Vec<(usize, Site)> {
    let mut again = None;
    let others = with(|list| {
        let list = list.borrow();
        let same = list.iter().find(|held| held.lock.number == lock.number && !held.is_stale());
        again = same.map(|held| (held.site, held.shared.is_some() && way == Way::Shared));
        let others = list.iter().rev().filter(|held| held.lock.number != lock.number && !held.is_stale());
        others.take(MOST).map(|held| (held.lock.number, held.site)).collect()
    });
    if let Some((before, shared)) = again {
        let text = format!(
            "lock order: a thread takes lock #{} at {site} that it has held since {before}: ",
            lock.number
        );
        if way == Way::Code {
            panic!("{text}it would wait for itself for ever");
        }
        // Relaxed: only the uniqueness of the report matters.
        if settings::is_panic() || !lock.taken_twice.swap(true, Ordering::Relaxed) {
            settings::report(&(text + if shared { SHARED_TWICE } else { TWICE }));
        }
    }
    others.unwrap_or_default()
}

const TWICE: &str = "it waits for itself for ever, unless it has sent the guard to another thread. Drop the guard before that, or pass it on";
const SHARED_TWICE: &str =
    "should another ask for it exclusively in between, both wait for ever. Take it once";
