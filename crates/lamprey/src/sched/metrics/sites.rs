//! [`Sites`]: what a worker has measured of the threads of each place where threads are spawned.
//!
//! # Invariants
//! 1. One kernel thread adds, the worker's. A place, once entered, stays, and its key is stored before it is published (Release), so who
//!    has seen it (Acquire) may read it.
//! 2. A key is a note's word 3, whose kind says what it points to; it lasts as long as the process.
//!
//! What does not find room is not measured by place: the table has [`SITES`] places, which is more than programs have.

use super::histogram::{Buckets, Histogram};
use crate::sched::record::note::Origin;
use crate::sync_shim::{AtomicUsize, Ordering};
use std::fmt;
use std::panic::Location;
use std::ptr;

/// Where threads come from ([`SiteMetrics`](crate::inspect::SiteMetrics)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Spawned {
    /// Hosts and stackful parasites: the call that spawns them.
    At(&'static Location<'static>),
    /// Stackless parasites, all of one type: the name of the future's type.
    Future(&'static str),
}

impl fmt::Display for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(site) => site.fmt(f),
            Self::Future(name) => f.write_str(name),
        }
    }
}

/// Places for which there is room.
const SITES: usize = 256;
/// Places that are tried for one key.
const TRIES: usize = 16;

/// The first word of a place: nothing, a spawn site, or the name of a future.
const FREE: usize = 0;
const LOCATION: usize = 1;
const FUTURE: usize = 2;

/// The measured times of the threads that were spawned at one place.
#[derive(Debug)]
pub(in crate::sched) struct Site {
    kind: AtomicUsize,
    key: AtomicUsize,
    pub(in crate::sched) spawn_to_run: Buckets,
    pub(in crate::sched) wake_to_run: Buckets,
    pub(in crate::sched) run: Buckets,
}

/// The places of one worker. Their memory is the system's until they are used.
#[derive(Debug)]
pub(in crate::sched) struct Sites(Box<[Site]>);

/// The words for an origin; `None` of those that are not told apart.
fn words(origin: Origin) -> Option<(usize, usize)> {
    match origin {
        Origin::SpawnedAt(site) => Some((LOCATION, ptr::from_ref(site).expose_provenance())),
        Origin::Future(name) => Some((FUTURE, (name as *const ()).expose_provenance())),
        Origin::Unknown | Origin::Own | Origin::Number(_) => None,
    }
}

impl Sites {
    pub(in crate::sched) fn new() -> Self {
        // SAFETY: all bits zero is a free place: atomics only.
        Self(unsafe { Box::new_zeroed_slice(SITES).assume_init() })
    }

    /// The place of threads of this origin. Called by the worker's kernel thread only.
    pub(in crate::sched) fn of(&self, origin: Origin) -> Option<&Site> {
        let (kind, key) = words(origin)?;
        let first = (key >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 32;
        (first..first + TRIES).map(|at| &self.0[at % SITES]).find(|site| site.is_of(kind, key))
    }

    /// Calls `see` with each place: where it is, and from spawn to run, from wake to run, and running.
    pub(super) fn each(&self, mut see: impl FnMut(Spawned, [Histogram; 3])) {
        for site in &self.0 {
            // Acquire pairs with the Release store in `is_of`: the key is there.
            let kind = site.kind.load(Ordering::Acquire);
            // Relaxed: ordered by the load above.
            let key = ptr::with_exposed_provenance::<()>(site.key.load(Ordering::Relaxed));
            let spawned = match kind {
                FREE => continue,
                // SAFETY: `words` has exposed a location that lasts as long as the process (invariant 2).
                LOCATION => Spawned::At(unsafe { &*key.cast() }),
                _ => {
                    // SAFETY: `words` has exposed a function of this type (invariant 2).
                    let name = unsafe { std::mem::transmute::<*const (), fn() -> &'static str>(key) };
                    Spawned::Future(name())
                }
            };
            see(spawned, [&site.spawn_to_run, &site.wake_to_run, &site.run].map(Buckets::copy));
        }
    }
}

impl Site {
    /// True if this place is of the key; a free one is from now on.
    fn is_of(&self, kind: usize, key: usize) -> bool {
        // Relaxed (both): this thread wrote them.
        match self.kind.load(Ordering::Relaxed) {
            FREE => {
                // Relaxed: published by the store below.
                self.key.store(key, Ordering::Relaxed);
                // Release pairs with the Acquire load in `each`.
                self.kind.store(kind, Ordering::Release);
                true
            }
            // Relaxed: this thread wrote it.
            found => found == kind && self.key.load(Ordering::Relaxed) == key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_name() -> &'static str {
        "a future"
    }

    fn another_place() -> &'static Location<'static> {
        Location::caller()
    }

    #[test]
    fn each_origin_has_its_own_place() {
        let sites = Sites::new();
        let (here, there) = (Location::caller(), another_place());
        for (value, origin) in
            (1..).zip([Origin::SpawnedAt(here), Origin::Future(a_name), Origin::SpawnedAt(there)])
        {
            sites.of(origin).unwrap().run.add(value);
            sites.of(origin).unwrap().run.add(value);
        }
        assert!(sites.of(Origin::Own).is_none() && sites.of(Origin::Unknown).is_none());
        let mut seen = Vec::new();
        sites.each(|spawned, [_, _, run]| seen.push((spawned, run.sum())));
        seen.sort_by_key(|seen| seen.1);
        assert_eq!(seen, [(Spawned::At(here), 2), (Spawned::Future("a future"), 4), (Spawned::At(there), 6)]);
    }

    #[test]
    fn a_full_table_takes_no_more() {
        let sites = Sites::new();
        let many: &[_] = Box::leak(vec![*Location::caller(); 4 * SITES].into());
        let has_room = many.iter().filter(|site| sites.of(Origin::SpawnedAt(site)).is_some()).count();
        assert!((SITES / 2..=SITES).contains(&has_room), "{has_room}");
    }
}
