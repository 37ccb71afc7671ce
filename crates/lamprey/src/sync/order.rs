//! The order in which locks are taken, watched in debug builds: two threads that take two locks in opposite
//! orders will wait for each other for ever some day, and the day before that this says so.
//!
//! Each lock has an [`Id`]. Each thread of control (host, stackful parasite, OS thread) has a list of the
//! locks that it holds ([`held`]). Taking B while A is held says "A before B" in one [`graph`] for the
//! process; what contradicts the orders seen before is reported, once for each pair of locks.
//!
//! # What a lock calls, and when
//! | call | when |
//! |---|---|
//! | [`Id::before_lock`] | before it looks at its state, where it would wait without a limit |
//! | [`Id::locked`] | it has the lock, also by a `try_lock` or a limited wait: those cannot deadlock, so they say nothing of an order |
//! | [`Id::unlocked`] | it is about to let go |
//! | [`Id::before_code`] | instead of `before_lock`, of what is held while code runs, by no guard |
//! | the `_shared` forms | a lock that several can hold at once; it is let go with the [`Shared`] that the guard keeps |
//!
//! An acquisition whose guard belongs to a future calls none of them: such a guard goes from thread to
//! thread, and a future that waits for a lock holds up no thread. For the same reason nothing is noted inside
//! of a stackless parasite.
//!
//! # Invariants
//! 1. In a release build, and under the checker, [`Id`] has no size and its methods do nothing.
//! 2. Numbers are never used again, so a lock is not taken for another that was where it is now.
//! 3. A dropped lock leaves the graph, and what is left of it in lists is stale. So is what is left of a
//!    guard that was sent to another thread and ended there (`held`).
//! 4. Nothing in here waits for anything but a mutex of `std` that is held for a few instructions without a
//!    switch.
//!
//! # `LAMPREY_LOCK_ORDER`
//! `panic` makes a report a panic of the thread that takes the locks in the wrong order; `off` turns all of
//! this off.
//!
//! # A lock that the thread holds already
//! That it takes it again is reported, and no panic: the guard may have been sent to a thread that will let
//! it go. Where nothing could have been sent (`Once`) it is a panic, in any case but `off`.

#[cfg(all(debug_assertions, not(loom)))]
mod graph;
#[cfg(all(debug_assertions, not(loom)))]
mod held;
#[cfg(all(debug_assertions, not(loom)))]
mod settings;
#[cfg(all(test, debug_assertions, not(loom)))]
mod tests;

use std::panic::Location;

/// Where something was called.
pub(crate) type Site = &'static Location<'static>;

#[cfg(all(debug_assertions, not(loom)))]
pub(crate) use watched::{Id, Shared};

#[cfg(not(all(debug_assertions, not(loom))))]
pub(crate) use unwatched::{Id, Shared};

#[cfg(not(all(debug_assertions, not(loom))))]
mod unwatched {
    use super::Site;

    /// Nothing: this build does not watch the order of locks.
    #[derive(Debug)]
    pub(crate) struct Id;

    impl Id {
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) const fn new() -> Self {
            Self
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

    /// Nothing either.
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
    use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    /// A lock, as far as the order of locks goes.
    #[derive(Debug)]
    pub(crate) struct Id(OnceLock<Arc<Lock>>);

    /// How a lock is about to be taken.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Way {
        Alone,
        Shared,
        Code,
    }

    /// What lists and graph know of a lock.
    #[derive(Debug)]
    pub(super) struct Lock {
        pub(super) number: usize,
        /// How often it has been let go by one who had it for itself: an entry in a list with another number
        /// is stale. That happens where a guard was sent away, or forgotten and its lock dropped.
        pub(super) turn: AtomicUsize,
        /// It has been reported that a thread took this while it held it.
        pub(super) taken_twice: AtomicBool,
    }

    static NEXT: AtomicUsize = AtomicUsize::new(1);

    impl Lock {
        pub(super) fn turn(&self) -> usize {
            // Relaxed: to take a stale entry for a fresh one, the thread must not have heard of the end of
            // the guard that it sent away. Then the lock may as well be held still.
            self.turn.load(Ordering::Relaxed)
        }

        fn end_turn(&self) {
            // Relaxed: as in `turn`.
            self.turn.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Id {
        pub(crate) const fn new() -> Self {
            Self(OnceLock::new())
        }

        /// The calling thread is going to take the lock for itself, and to wait for it as long as it takes.
        pub(crate) fn before_lock(&self, site: Site) {
            self.before(site, Way::Alone);
        }

        /// As [`before_lock`](Self::before_lock), of a lock that nobody can let go for the thread that holds
        /// it.
        ///
        /// # Panics
        /// If that is the calling thread.
        pub(crate) fn before_code(&self, site: Site) {
            self.before(site, Way::Code);
        }

        /// The calling thread has the lock for itself.
        pub(crate) fn locked(&self, site: Site) {
            self.push(site, None);
        }

        /// The calling thread, which has had the lock for itself, lets it go.
        pub(crate) fn unlocked(&self) {
            if let Some(lock) = self.0.get() {
                held::remove(lock.number);
                lock.end_turn();
            }
        }

        /// As [`before_lock`](Self::before_lock), to share it.
        pub(crate) fn before_shared(&self, site: Site) {
            self.before(site, Way::Shared);
        }

        /// As [`locked`](Self::locked), with others: held as long as what this gives, wherever that goes.
        pub(crate) fn locked_shared(&self, site: Site) -> Shared {
            let shared = Shared::new();
            self.push(site, shared.0.clone());
            shared
        }

        fn lock(&self) -> &Arc<Lock> {
            self.0.get_or_init(|| {
                Arc::new(Lock {
                    // Relaxed: only that no two are the same matters.
                    number: NEXT.fetch_add(1, Ordering::Relaxed),
                    turn: AtomicUsize::new(0),
                    taken_twice: AtomicBool::new(false),
                })
            })
        }

        #[cfg(test)]
        pub(super) fn number(&self) -> usize {
            self.lock().number
        }

        fn before(&self, site: Site, way: Way) {
            // A host that unwinds does not wait: it is told that the lock is held.
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

    /// That a lock is held with others; a part of the guard.
    #[derive(Debug)]
    pub(crate) struct Shared(Option<Arc<AtomicBool>>);

    impl Shared {
        /// Of a guard that nobody's list has.
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
                // Relaxed: as in `Lock::turn`.
                is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    impl Drop for Id {
        fn drop(&mut self) {
            if let Some(lock) = self.0.get() {
                lock.end_turn();
                graph::forget(lock.number);
            }
        }
    }
}
