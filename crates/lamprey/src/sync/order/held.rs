//! The locks that the calling thread of control holds.
//!
//! Invariant: a list is touched only by the thread whose it is, and no borrow of it lasts across anything
//! that could use it again. An entry is stale once its lock was let go elsewhere: of one that was held alone,
//! if `turn` is not the lock's any more; of one that was shared, if that is over. Stale ones go when the list
//! is used next.

use super::watched::{Lock, Way};
use super::{Site, settings};
use crate::sched::worker::Worker;
use crate::sync_shim::{AtomicBool, Ordering};
use crate::thread::local::host_local;
use std::cell::RefCell;
use std::sync::Arc;

/// A lock that is held.
pub(super) struct Held {
    lock: Arc<Lock>,
    turn: usize,
    /// Held with others, until this is true.
    shared: Option<Arc<AtomicBool>>,
    /// Where it was taken.
    site: Site,
}

impl Held {
    fn is_stale(&self) -> bool {
        self.turn != self.lock.turn()
            // Relaxed: as in `Lock::turn`.
            || self.shared.as_ref().is_some_and(|is_over| is_over.load(Ordering::Relaxed))
    }
}

type List = RefCell<Vec<Held>>;

host_local! {
    static OF_HOST: List = List::default();
}

std::thread_local! {
    /// Of kernel threads that run no host. (Not the host-local value: that cannot be had while the thread's values are being
    /// dropped, where locks may be taken, too.)
    static OF_OS_THREAD: List = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with the calling thread's list; `None` if it has none.
fn with<R>(f: impl FnOnce(&List) -> R) -> Option<R> {
    match Worker::current().map(Worker::running_ref).filter(|thread| thread.is_lamprey()) {
        Some(host) if host.polled().is_some() => None,
        Some(_) => Some(OF_HOST.with(f)),
        None => OF_OS_THREAD.try_with(f).ok(),
    }
}

pub(super) fn push(lock: &Arc<Lock>, site: Site, shared: Option<Arc<AtomicBool>>) {
    let held = Held { lock: lock.clone(), turn: lock.turn(), shared, site };
    with(|list| {
        let mut list = list.borrow_mut();
        list.retain(|held| !held.is_stale());
        list.push(held);
    });
}

/// Takes out the entry of that lock, held alone, if there is one.
pub(super) fn remove(number: usize) {
    with(|list| {
        let mut list = list.borrow_mut();
        let at = list.iter().rposition(|held| held.lock.number == number && held.shared.is_none());
        at.map(|at| list.remove(at))
    });
}

/// The numbers of the locks that are held already while `lock` is about to be taken at `site`, and where they
/// were taken. Reports if `lock` is among them.
///
/// # Panics
/// If the environment asks for that instead of a report; or if it is certain that the thread would wait for
/// itself.
pub(super) fn others(lock: &Lock, site: Site, way: Way) -> Vec<(usize, Site)> {
    let mut again = None;
    let others = with(|list| {
        let mut list = list.borrow_mut();
        list.retain(|held| !held.is_stale());
        let (same, others): (Vec<_>, Vec<_>) = list.iter().partition(|held| held.lock.number == lock.number);
        again = same.first().map(|held| (held.site, held.shared.is_some() && way == Way::Shared));
        others.into_iter().map(|held| (held.lock.number, held.site)).collect()
    });
    if let Some((before, shared)) = again {
        let text = format!(
            "lock order: a thread takes lock #{} at {site} that it has held since {before}: ",
            lock.number
        );
        if way == Way::Code {
            panic!("{text}it would wait for itself for ever");
        }
        // Relaxed: only that it is said once matters.
        if settings::is_panic() || !lock.taken_twice.swap(true, Ordering::Relaxed) {
            settings::report(&(text + if shared { SHARED_TWICE } else { TWICE }));
        }
    }
    others.unwrap_or_default()
}

const TWICE: &str = "it waits for itself for ever, unless it has sent the guard to another thread. Drop the guard before that, or pass it on";
const SHARED_TWICE: &str =
    "should another ask for it exclusively in between, both wait for ever. Take it once";
