//! Lock order checking in debug builds: reports two locks that are taken in opposite orders, which may
//! deadlock, even in runs that do not deadlock.
//!
//! Each lock has an [`Id`]. Each thread of control (host, stackful parasite, OS thread) has a list of the
//! locks that it holds ([`held`]). Taking B while A is held adds the edge "A before B" to one [`graph`] for
//! the process. An edge that contradicts earlier ones is reported, once for each pair of locks.
//!
//! # When a lock calls what
//! | call | when |
//! |---|---|
//! | [`Id::before_lock`] | before a lock reads its state, if it would wait without a timeout |
//! | [`Id::locked`] | the thread has the lock, also by a `try_lock` or a wait with a timeout: those cannot deadlock, so they add no edge |
//! | [`Id::unlocked`] | before the lock is released |
//! | [`Id::before_code`] | instead of `before_lock`, for a lock without a guard that is held while a closure runs (`Once`) |
//! | the `_shared` forms | for a lock that several threads can hold at once; the drop of the guard's [`Shared`] releases it |
//!
//! An acquisition whose guard belongs to a future calls none of them: such a guard moves between threads, and
//! a future that waits for a lock blocks no thread. For the same reason nothing is recorded inside a
//! stackless parasite.
//!
//! # Invariants
//! 1. In a release build, and under loom, [`Id`] has no size and its methods do nothing.
//! 2. Numbers are never reused, so a lock is not confused with an earlier one at the same address.
//! 3. A dropped lock is removed from the graph, and its entries in lists become stale. So do the entries of a
//!    guard that was sent to another thread and dropped there (`held`).
//! 4. This module blocks only on a mutex of `std` that is held for a few instructions without a switch.
//!
//! # `LAMPREY_LOCK_ORDER`
//! `panic` turns a report into a panic of the thread that takes the locks in the wrong order; `off` disables
//! the checking.
//!
//! # A lock that the thread already holds
//! Taking it again is reported without a panic: the guard may have been sent to a thread that will release
//! it. For a lock without a guard (`Once`) it panics, unless the checking is off.

#[cfg(all(debug_assertions, not(loom)))]
mod graph;
#[cfg(all(debug_assertions, not(loom)))]
mod held;
#[cfg(all(debug_assertions, not(loom)))]
mod settings;
#[cfg(all(test, debug_assertions, not(loom)))]
mod tests;

use std::panic::Location;

/// The source location of a call.
pub(crate) type Site = &'static Location<'static>;

#[cfg(all(debug_assertions, not(loom)))]
pub(crate) use watched::{Id, Shared};

#[cfg(not(all(debug_assertions, not(loom))))]
pub(crate) use unwatched::{Id, Shared};

#[cfg(not(all(debug_assertions, not(loom))))]
mod unwatched {
    use super::Site;
    use crate::sched::{On, Wait};

    /// Empty: this build does not check the order of locks.
    #[derive(Debug)]
    pub(crate) struct Id;

    impl Id {
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) const fn new() -> Self {
            Self
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn on(&self, reason: Wait) -> On {
            reason.on(self)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn before_lock(&self, _: Site) {}
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn locked(&self, _: Site) {}
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn unlocked(&self) {}
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn before_code(&self, _: Site) {}
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn before_shared(&self, _: Site) {}
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn locked_shared(&self, _: Site) -> Shared {
            Shared
        }
    }

    /// Empty: this build does not check the order of locks.
    #[derive(Debug)]
    pub(crate) struct Shared;

    impl Shared {
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn unwatched() -> Self {
            Self
        }
    }
}

#[cfg(all(debug_assertions, not(loom)))]
mod watched {
    use super::{Site, graph, held, settings};
    use crate::sched::noted::MadeInDebug;
    use crate::sched::{On, Wait};
    use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    /// The identity of a lock for the checks.
    #[derive(Debug)]
    pub(crate) struct Id {
        lock: OnceLock<Arc<Lock>>,
        made: MadeInDebug,
    }

    /// How a lock is about to be taken.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Way {
        Alone,
        Shared,
        Code,
    }

    /// The part of a lock that lists and graph refer to.
    #[derive(Debug)]
    pub(super) struct Lock {
        /// As other reports have it.
        pub(super) number: usize,
        /// The number of exclusive releases: an entry of a list that has another number is stale. That
        /// happens if a guard was dropped on another thread, or was forgotten and its lock dropped.
        pub(super) turn: AtomicUsize,
        /// Where it was when a thread last took it, or asked for it: the address that its waiters wait for.
        pub(super) place: AtomicUsize,
        /// Set once it was reported that a thread took this lock while it held it.
        pub(super) taken_twice: AtomicBool,
    }

    impl Lock {
        pub(super) fn turn(&self) -> usize {
            // Relaxed: if a thread reads an old number, the release does not happen-before its read, so the
            // lock may be regarded as still held.
            self.turn.load(Ordering::Relaxed)
        }

        pub(super) fn place(&self) -> usize {
            // Relaxed: for reports; no data travels with it.
            self.place.load(Ordering::Relaxed)
        }

        fn end_turn(&self) {
            // Relaxed: the readers in `turn` need no ordering.
            self.turn.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Id {
        #[track_caller]
        pub(crate) const fn new() -> Self {
            Self { lock: OnceLock::new(), made: MadeInDebug::new() }
        }

        /// What a thread waits for that waits for the lock.
        pub(crate) fn on(&self, reason: Wait) -> On {
            self.made.on(reason)
        }

        /// The calling thread is about to take the lock exclusively, and waits for it without a timeout.
        pub(crate) fn before_lock(&self, site: Site) {
            self.before(site, Way::Alone);
        }

        /// [`before_lock`](Self::before_lock) for a lock that only the thread that holds it can release.
        ///
        /// # Panics
        /// If the calling thread holds it.
        pub(crate) fn before_code(&self, site: Site) {
            self.before(site, Way::Code);
        }

        /// The calling thread has the lock exclusively.
        pub(crate) fn locked(&self, site: Site) {
            self.push(site, None);
        }

        /// The calling thread, which holds the lock exclusively, releases it.
        pub(crate) fn unlocked(&self) {
            if let Some(lock) = self.lock.get() {
                held::remove(lock.number);
                lock.end_turn();
            }
        }

        /// [`before_lock`](Self::before_lock) of a shared acquisition.
        pub(crate) fn before_shared(&self, site: Site) {
            self.before(site, Way::Shared);
        }

        /// [`locked`](Self::locked) of a shared acquisition: held until the result is dropped, on any thread.
        pub(crate) fn locked_shared(&self, site: Site) -> Shared {
            let shared = Shared::new();
            self.push(site, shared.0.clone());
            shared
        }

        fn lock(&self) -> &Arc<Lock> {
            let lock = self.lock.get_or_init(|| {
                Arc::new(Lock {
                    number: self.made.number() as usize,
                    turn: AtomicUsize::new(0),
                    place: AtomicUsize::new(0),
                    taken_twice: AtomicBool::new(false),
                })
            });
            // Relaxed: for reports; no data travels with it.
            lock.place.store(self.on(Wait::Lock).what.addr(), Ordering::Relaxed);
            lock
        }

        #[cfg(test)]
        pub(super) fn number(&self) -> usize {
            self.lock().number
        }

        fn before(&self, site: Site, way: Way) {
            // A host that unwinds does not wait: it gets an error if the lock is held.
            if settings::is_off() || crate::sched::must_not_block() {
                return;
            }
            let others = held::others(self.lock(), site, way);
            if !others.is_empty() {
                graph::check(&others, self.lock().number, site);
            }
        }

        fn push(&self, site: Site, shared: Option<Arc<AtomicBool>>) {
            if !settings::is_off() {
                held::push(self.lock(), site, shared);
            }
        }
    }

    /// The part of a guard that records a shared acquisition.
    #[derive(Debug)]
    pub(crate) struct Shared(Option<Arc<AtomicBool>>);

    impl Shared {
        /// For a guard that is in no thread's list.
        pub(crate) fn unwatched() -> Self {
            Self(None)
        }

        fn new() -> Self {
            Self(Some(Arc::new(AtomicBool::new(false))))
        }
    }

    impl Drop for Shared {
        fn drop(&mut self) {
            if let Some(is_over) = &self.0 {
                // Relaxed: the readers in `held` need no ordering; an old value means "still held".
                is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    impl Drop for Id {
        fn drop(&mut self) {
            if let Some(lock) = self.lock.get() {
                lock.end_turn();
                graph::forget(lock.number);
            }
        }
    }
}
