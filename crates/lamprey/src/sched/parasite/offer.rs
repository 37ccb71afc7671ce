//! Time slices, penalties, and work for idle workers: parasites that turn out to be long, or many, run in
//! parallel after all, at the price of one comparison of one word for each spawn.
//!
//! # The attention word
//! Each worker has one in its shared state. The runtime's [ticker](crate::sched::ticker) adds a tick to it
//! four times a time slice; an idle worker sets REQUEST in it. A worker compares it with the value that it
//! saw last (`Parasites::seen`) at each spawn of a parasite, and takes the slow path if it has changed.
//!
//! # Inflation
//! A poll during which [`SLICE`] ticks have passed has used more than a time slice. If it ends pending, the
//! parasite is inflated, that is, it becomes a host, when it is woken next (HEAVY). A stackful parasite is
//! checked when it blocks and when it spawns. If it was a first poll, inside a spawn, the thread that spawned
//! it gets a **penalty**: its next parasites start as hosts, which other workers can take.
//!
//! # Offering
//! An idle worker sets its own flag `wants_work`, and REQUEST in the words of the others. (Work sharing on
//! request: the owner gives work away, where in Go and tokio an idle worker steals it.) A worker that sees
//! the request gives that worker the oldest ready parasite that may move. From then on, for a while, it
//! **keeps one back**: while it has no ready parasite, the next one that is spawned is queued instead of run.
//! So there is an old, and therefore large, piece of work to give (a prototype made 22 offers this way, 1,800
//! without it). While no worker asks, none is kept back: every parasite starts at once.
//!
//! Queueing costs about ten times what a start at once costs, and is wasted on a parasite that its own worker
//! needs at once. So where the one kept back was taken back within [`SOON`](super::owned) without having been given, the
//! next [`Offers::skip`](super::owned::Offers) parasites start at once: one, then three, up to [`MOST_SKIPPED`].
//! One that stayed for longer, or was given, ends this.
//!
//! # Who may touch what
//! The word ([`Attention`](super::attention::Attention)): any thread. `seen` and
//! [`Offers`](super::owned::Offers): the worker. A request that is missed is made again when the worker that
//! asked looks for work again.
//!
//! # Checked by
//! `model::offer`, `tests/parasite/inflate.rs`, `bench` (`inflation`, `parasite_fib`).

use super::attention::{REQUEST, TICK};
use super::owned::{NEVER, Offers};
use super::task::{HEAVY, Task};
use crate::sched::thread::Thread;
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::time::clock;
#[cfg(not(loom))]
use crate::world::buggify;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// After this many ticks a whole time slice has passed for certain (a tick is a quarter of one, and the first
/// may have come at once).
const SLICE: u32 = 5;
/// How long a worker keeps offering after the last request, in ticks.
const OFFER_FOR: u32 = 16;
/// Most parasites that start at once between two that are kept back.
const MOST_SKIPPED: u32 = 255;
/// How long a worker that has asked for work spins for an answer before it sleeps.
pub(in crate::sched) const PATIENCE: Duration = Duration::from_micros(20);

impl Offers {
    /// No ready parasite is queued, and the time is `now`: true if the next one is to be kept back.
    #[cold]
    #[inline(never)]
    fn keeps_back(&self, now: u64) -> bool {
        let since = self.since.replace(0);
        if since != 0 && now.wrapping_sub(since) < self.soon {
            self.back_off.set((self.back_off.get() * 2 + 1).min(MOST_SKIPPED));
            self.skip.set(self.back_off.get());
            return false;
        }
        if since != 0 {
            self.back_off.set(0);
        }
        self.since.set(now.max(1));
        true
    }

    /// The one kept back has been given to another worker.
    fn was_given(&self) {
        self.since.set(0);
        self.skip.set(0);
        self.back_off.set(0);
    }
}

impl WorkerShared {
    /// The attention word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ticks(&self) -> u32 {
        self.attention.word()
    }
}

fn passed(from: u32, to: u32) -> u32 {
    (to.wrapping_sub(from) & !(TICK - 1)) / TICK
}

/// How a parasite starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Now,
    Queued,
    AsHost,
    /// At once, and its join gives way ([`super::starts`]).
    Overdue,
}

impl Worker {
    /// Says how the next parasite of the running thread starts. `travels`: another worker may run it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start(&self, travels: bool) -> Start {
        let me = self.running_ref();
        if self.remote.ticks() != self.parasites.seen.get() || me.penalty.get() != 0 || !me.has_room() {
            return self.consider_stackless(travels);
        }
        self.deposit_or_not(travels)
    }

    #[cold]
    #[inline(never)]
    fn consider_stackless(&self, travels: bool) -> Start {
        let how = self.consider(travels);
        // The join of a queued parasite checks by itself whether it should give way.
        let is_overdue = how != Start::AsHost && self.is_overdue();
        if how == Start::Now && is_overdue { Start::Overdue } else { how }
    }

    /// While another worker asks for work, one parasite is kept queued, to be given away.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deposit_or_not(&self, travels: bool) -> Start {
        let offers = &self.parasites.offers;
        if !travels || !offers.on.get() || self.parasites.ready.pending.get() != 0 {
            return Start::Now;
        }
        if offers.skip.get() != 0 {
            offers.skip.set(offers.skip.get() - 1);
            return Start::Now;
        }
        if offers.keeps_back(clock::ticks()) { Start::Queued } else { Start::Now }
    }

    /// As [`how_to_start`](Self::how_to_start), for a stackful parasite, which is never queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start_stackful(&self) -> Start {
        if self.remote.ticks() == self.parasites.seen.get() && self.running_ref().penalty.get() == 0 {
            return Start::Now;
        }
        self.consider_stackful()
    }

    #[cold]
    #[inline(never)]
    fn consider_stackful(&self) -> Start {
        match self.consider(false) {
            Start::AsHost => Start::AsHost,
            _ if self.is_overdue() => Start::Overdue,
            _ => Start::Now,
        }
    }

    /// As [`how_to_start_stackful`](Self::how_to_start_stackful), for a parasite that cannot become a host.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start_here(&self) -> Start {
        if self.remote.ticks() == self.parasites.seen.get() { Start::Now } else { self.consider_here() }
    }

    #[cold]
    #[inline(never)]
    fn consider_here(&self) -> Start {
        if self.stopping.get() {
            return Start::Now;
        }
        self.attend_to_word();
        if self.is_overdue() { Start::Overdue } else { Start::Now }
    }

    fn consider(&self, travels: bool) -> Start {
        if self.stopping.get() {
            return Start::Queued; // which refuses it
        }
        self.attend_to_word();
        let me = self.running_ref();
        if self.is_long(me) {
            // It does not give way here: the program may hold a lock of `std`, or be in a waker.
            self.inflate_thread(me);
        }
        if me.penalty.get() != 0 {
            me.penalty.set(me.penalty.get() - 1);
            return Start::AsHost;
        }
        if me.has_room() { self.deposit_or_not(travels) } else { Start::Queued }
    }

    /// The attention word has changed.
    fn attend_to_word(&self) {
        let word = self.remote.ticks();
        let before = self.parasites.seen.replace(word & !REQUEST);
        // What the worker on watch has taken counts as pending until `settle` (`super::ready_queue`, invariant 1).
        if self.parasites.ready.pending.get() != 0 {
            self.parasites.ready.settle();
        }
        if before == NEVER {
            self.shared.ticker.hurry();
        } else if passed(before, word) != 0 {
            // The worker has worked for longer than a tick: idle workers may help.
            if self.shared.options.offering {
                self.shared.ask_for_help();
            }
            if passed(self.parasites.offers.asked.get(), word) > OFFER_FOR {
                self.parasites.offers.on.set(false);
            }
        }
        if word & REQUEST != 0 {
            self.remote.attention.hear();
            self.parasites.offers.on.set(true);
            self.parasites.offers.asked.set(word);
            self.give();
        }
    }

    /// Gives the oldest ready parasites that may move to the workers that have asked, one to each.
    #[cold]
    fn give(&self) {
        let remotes = self.shared.remotes();
        for remote in remotes.iter().filter(|remote| !Arc::ptr_eq(remote, &self.remote)) {
            if self.parasites.ready.has_no_latest() {
                return;
            }
            if remote.attention.take_request()
                && let Some(task) = self.parasites.ready.pop_oldest_task(|task| task.life.is_shared())
            {
                self.remote.counters.offered.add(1);
                self.parasites.offers.was_given();
                // SAFETY: a shared task may run on any worker of the runtime; the right to run goes with it.
                if let Err(entry) = unsafe { remote.deliver(Waiter::task(task)) } {
                    super::finish::refused_by_inbox(entry);
                }
            }
        }
    }

    /// An idle worker asks the others for parasites; true if at least one was asked.
    pub(in crate::sched) fn ask_for_offers(&self) -> bool {
        if !self.shared.options.offering || self.stopping.get() {
            return false;
        }
        self.remote.attention.ask_for_work();
        let mut any = false;
        for remote in self.shared.remotes().iter().filter(|remote| !Arc::ptr_eq(remote, &self.remote)) {
            // Only workers that have ever had a stackless parasite.
            if remote.counters.stackless.get() != 0 {
                remote.attention.request();
                any = true;
            }
        }
        any
    }

    /// The worker has found work, and asks no more.
    pub(in crate::sched) fn is_fed(&self) {
        self.remote.attention.take_request();
    }

    /// A poll returned pending, and the attention word changed during it: marks the task HEAVY if the poll
    /// took longer than a time slice.
    #[cold]
    pub(in crate::sched) fn check_time_slice(&self, task: NonNull<Task>, start: u32) {
        if self.shared.options.inflation && passed(start, self.remote.ticks()) >= SLICE {
            // SAFETY: the caller holds the right to run, which keeps the task alive and allows changing its
            // flags.
            let flags = unsafe { &task.as_ref().life.flags };
            flags.set(flags.get() | HEAVY);
        }
    }

    /// True if `thread` is a stackful parasite that has run on top of its spawner for longer than a time
    /// slice.
    pub(in crate::sched) fn is_long(&self, thread: &Thread) -> bool {
        self.shared.options.inflation
            && !thread.below.get().is_null()
            && !thread.inflated.get()
            && (passed(thread.attached_at.get(), self.remote.ticks()) >= SLICE
                || buggify!("a parasite that has run for its time slice"))
    }

    /// A first poll is over, and the attention word changed during it: if the poll took longer than a time
    /// slice, its spawner gets a penalty.
    #[cold]
    pub(crate) fn blame_spawner(&self, start: u32) {
        if self.shared.options.inflation && passed(start, self.remote.ticks()) >= SLICE {
            self.running_ref().penalty.set(self.shared.options.penalty);
        }
    }
}
