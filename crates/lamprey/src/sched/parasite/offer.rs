//! Time slices, penalties, and work for idle workers: what makes parasites that turn out to be long, or many,
//! run in parallel after all (parasitic-threads-2011, 5.3), at the price of one look at one word for each
//! spawn.
//!
//! # The attention word
//! Each seat has one. The runtime's [ticker](crate::sched::ticker) adds a tick to it four times a time slice;
//! an idle worker sets REQUEST in it. A worker compares it with what it has seen (`Worker::seen`) at each
//! spawn of a parasite, and goes the slow way if it has changed.
//!
//! # Inflation
//! A poll that has seen [`SLICE`] ticks pass has used more than a time slice. If it ends pending, the
//! parasite is inflated when it is woken next (HEAVY). A stackful one is looked at when it blocks and when it
//! spawns. If it was a first poll, inside a spawn, the thread that spawned it gets a **penalty**: its
//! next parasites start as hosts, which other workers can take.
//!
//! # Offering
//! An idle worker says that it is hungry and sets REQUEST at the others. A worker that sees the request gives
//! it the oldest ready parasite that may travel, and from then on, for a while, keeps one **deposited**: when
//! it has no ready parasite, the next one that is spawned is queued instead of run. So there is something
//! old, and therefore large, to give (a prototype made 22 offers where it had made 1,800). Nobody hungry,
//! nothing deposited: then every parasite starts at once.
//!
//! # Who may touch what
//! The word ([`Attention`](super::attention::Attention)): anyone. `seen` and
//! [`Offers`](super::owned::Offers): the worker. A request that is missed is made again at the next doze.
//!
//! # Checked by
//! `model::offer`, `tests/parasite/inflate.rs`, `bench` (`inflation`, `parasite_fib`).

use super::attention::{REQUEST, TICK};
use super::owned::NEVER;
use super::task::{HEAVY, Task};
use crate::sched::seat::Seat;
use crate::sched::thread::Thread;
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Ticks that must have passed for one time slice to be over for certain (a tick is a quarter of one, and the
/// first may have been due at once).
const SLICE: u32 = 5;
/// How long a worker keeps offering after the last request, in ticks.
const OFFER_FOR: u32 = 16;
/// How long a hungry worker waits awake for an answer.
pub(in crate::sched) const PATIENCE: Duration = Duration::from_micros(20);

impl Seat {
    /// The attention word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ticks(&self) -> u32 {
        self.attention.word()
    }
}

fn passed(from: u32, to: u32) -> u32 {
    (to.wrapping_sub(from) & !(TICK - 1)) / TICK
}

/// How a parasite is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Now,
    Queued,
    AsHost,
    /// Now, and its join gives way ([`super::starts`]).
    Overdue,
}

impl Worker {
    /// How the next parasite of the running thread starts. `travels`: another worker may run it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start(&self, travels: bool) -> Start {
        let me = self.running_ref();
        if self.seat.ticks() != self.parasites.seen.get() || me.penalty.get() != 0 || !me.has_room() {
            return self.consider_stackless(travels);
        }
        self.deposit_or_not(travels)
    }

    #[cold]
    #[inline(never)]
    fn consider_stackless(&self, travels: bool) -> Start {
        let how = self.consider(travels);
        // The join of one that is queued looks for itself.
        let is_overdue = how != Start::AsHost && self.is_overdue();
        if how == Start::Now && is_overdue { Start::Overdue } else { how }
    }

    /// While somebody asks for work, one parasite is kept queued, to be given away.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deposit_or_not(&self, travels: bool) -> Start {
        if travels && self.parasites.offers.on.get() && self.parasites.woken.pending.get() == 0 {
            Start::Queued
        } else {
            Start::Now
        }
    }

    /// As [`how_to_start`](Self::how_to_start), for a stackful parasite, which is never queued.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start_stackful(&self) -> Start {
        if self.seat.ticks() == self.parasites.seen.get() && self.running_ref().penalty.get() == 0 {
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

    /// As [`how_to_start_stackful`](Self::how_to_start_stackful), for one that cannot be a host.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn how_to_start_here(&self) -> Start {
        if self.seat.ticks() == self.parasites.seen.get() { Start::Now } else { self.consider_here() }
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
            return Start::Queued; // and there refused
        }
        self.attend_to_word();
        let me = self.running_ref();
        if self.is_long(me) {
            // Not more than that: to give way here would switch where the program's caller may hold a lock of
            // `std`, or is a waker.
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
        let word = self.seat.ticks();
        let before = self.parasites.seen.replace(word & !REQUEST);
        // What the worker on watch has taken counts as deposited until then (`super::woken`, invariant 1).
        if self.parasites.woken.pending.get() != 0 {
            self.parasites.woken.settle();
        }
        if before == NEVER {
            self.shared.ticker.hurry();
        } else if passed(before, word) != 0 {
            // A spell of work longer than a tick: somebody may help.
            if self.shared.options.offering {
                self.shared.ask_for_help();
            }
            if passed(self.parasites.offers.asked.get(), word) > OFFER_FOR {
                self.parasites.offers.on.set(false);
            }
        }
        if word & REQUEST != 0 {
            self.seat.attention.hear();
            self.parasites.offers.on.set(true);
            self.parasites.offers.asked.set(word);
            self.give();
        }
    }

    /// Gives the oldest ready parasite that may travel to a hungry worker.
    #[cold]
    fn give(&self) {
        let seats = self.shared.seats();
        for seat in seats.iter().filter(|seat| !Arc::ptr_eq(seat, &self.seat)) {
            if self.parasites.woken.has_no_latest() {
                return;
            }
            if seat.attention.feed()
                && let Some(task) = self.parasites.woken.pop_oldest_task(|task| task.life.is_shared())
            {
                self.seat.counters.offered.add(1);
                // SAFETY: the right to run the task, which any worker of the runtime may do, goes with it.
                if let Err(entry) = unsafe { seat.deliver(Waiter::task(task)) } {
                    super::finish::refused_by_inbox(entry);
                }
            }
        }
    }

    /// An idle worker asks the others for parasites; true if there is somebody to ask.
    pub(in crate::sched) fn ask_for_offers(&self) -> bool {
        if !self.shared.options.offering || self.stopping.get() {
            return false;
        }
        self.seat.attention.starve();
        let mut any = false;
        for seat in self.shared.seats().iter().filter(|seat| !Arc::ptr_eq(seat, &self.seat)) {
            // Only those that have parasites at all: their counter has moved.
            if seat.counters.stackless.get() != 0 {
                seat.attention.request();
                any = true;
            }
        }
        any
    }

    /// The worker has something to do.
    pub(in crate::sched) fn is_fed(&self) {
        self.seat.attention.feed();
    }

    /// A poll was pending, and the word changed meanwhile: was it long?
    #[cold]
    pub(in crate::sched) fn weigh(&self, task: NonNull<Task>, start: u32) {
        if self.shared.options.inflation && passed(start, self.seat.ticks()) >= SLICE {
            // SAFETY: the caller holds the right to run.
            let flags = unsafe { &task.as_ref().life.flags };
            flags.set(flags.get() | HEAVY);
        }
    }

    /// True for a stackful parasite that has been on top of somebody for longer than a time slice.
    pub(in crate::sched) fn is_long(&self, thread: &Thread) -> bool {
        self.shared.options.inflation
            && !thread.below.get().is_null()
            && !thread.inflated.get()
            && passed(thread.attached_at.get(), self.seat.ticks()) >= SLICE
    }

    /// A first poll is over, and the word changed meanwhile: was it long? Then its spawner gets a penalty.
    #[cold]
    pub(crate) fn blame_spawner(&self, start: u32) {
        if self.shared.options.inflation && passed(start, self.seat.ticks()) >= SLICE {
            self.running_ref().penalty.set(self.shared.options.penalty);
        }
    }
}
