//! Whatever can run, runs: while a worker computes, another that is idle serves its sockets and timers, and
//! runs of its ready parasites and new hosts those that may travel.
//!
//! The worker on watch ([`super::duty`]) sleeps at most [`EVERY`] at a time. After each sleep it looks at
//! those that are awake. One that has neither been at its root nor run a woken parasite since the last look
//! **computes**, and is relieved: its sources' [`Helper`](super::source::Helper)s are called, the tasks in
//! shared mode are taken out of its [`woken`](super::parasite::woken) queues and out of its inbox, and so are
//! hosts that have not started and are not bound to it. Started hosts wait: they cannot move.
//!
//! # What it costs
//! The worker that is looked at: nothing at all, but for one plain store at its root, and one for each
//! parasite that is woken (how many there are). The worker on watch: one short wake-up every 0.35 ms while
//! somebody is awake, none while all sleep. The worker that gets up first after all have slept for longer
//! than that: a system call. A worker that goes to sleep: one wake-up more, if nothing else wakes it within
//! that time.
//!
//! # Who may touch what
//! Of another worker: the seat only. Everything in it that is used here is a protocol of its own:
//! [`Lent`](crate::queue::lent), [`Inbox::take_away`](crate::queue::inbox::Inbox::take_away), the helpers.
//!
//! # Rejected
//! * The age of each entry: the ring of `latest` is last in, first out, so that a position says nothing. What
//!   is taken has waited for [`EVERY`] if nothing was run in that time.
//! * To take from whoever is away from its root only: hosts that wake parasites and run them at their next
//!   blocking call (`super::parasite::attach`, 2) may do so for seconds and never come to the root. Their
//!   channels would lose their owner, for nothing.
//!
//! # Checked by
//! `tests/sched/progress.rs`, `model::duty`, `model::fresh`, `model::inbox`, `model::woken`.

use super::duty::Duty;
use super::seat::Seat;
use super::shared::Shared;
use super::source::{Helper, Sources};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use super::worker::watching::Sight;
use crate::sync_shim::Ordering;
use std::time::{Duration, Instant};

/// How often the worker on watch looks at the others.
const EVERY: Duration = Duration::from_micros(350);
/// Most parasites taken at once.
const BATCH: usize = 256;
/// Most entries of an inbox that are put back time and again.
const PUT_BACK: usize = 64;

impl Worker {
    /// A worker that lies down while others are awake takes the watch, if nobody has it.
    pub(super) fn take_watch(&self) {
        if self.is_parallel() && (self.watching.on_watch.get() || self.shared.duty.appoint(self.seat.index)) {
            self.watching.on_watch.set(true);
        }
    }

    /// The worker has work, or nobody is awake.
    pub(super) fn leave_watch(&self) {
        if self.watching.on_watch.replace(false) {
            self.shared.duty.leave(self.seat.index);
        }
    }

    /// As [`leave_watch`](Self::leave_watch), and somebody else goes on with it.
    #[cold]
    pub(super) fn pass_watch_on(&self) {
        self.leave_watch();
        self.shared.appoint(self.seat.index);
    }

    /// The worker has slept, and counts as awake again.
    pub(super) fn see_to_watch(&self) {
        if !self.is_parallel() {
            return;
        }
        if self.shared.duty.is_mine(self.seat.index) {
            self.watching.appointed.set(!self.watching.on_watch.replace(true));
        } else if self.shared.duty.is_vacant() {
            self.shared.appoint(self.seat.index);
        }
    }

    /// Sleeps for at most `timeout`; a worker on watch looks at the others meanwhile. The first part of a
    /// sleep is brief in any case, and then the worker looks whether somebody is on watch: so workers that
    /// wake each other all the time need not be appointed, which would be one more wake-up for each.
    pub(super) fn sleep_on_watch(&self, sources: &mut Sources, timeout: Option<Duration>) -> Duration {
        let start = Instant::now();
        let mut is_brief = self.is_parallel();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let part = if is_brief { Some(left.map_or(EVERY, |left| left.min(EVERY))) } else { left };
            // Relaxed: before the fence in `Parking::prepare` (see `duty`).
            self.seat.brief.store(is_brief, Ordering::Relaxed);
            let called = self.park(sources, part);
            let is_over = called || left == part || self.has_something();
            if is_over || (self.watching.on_watch.get() && self.look_after_others()) {
                return start.elapsed();
            }
            // Relaxed: a hint; it is looked at again before the sleep.
            if self.shared.awake.load(Ordering::Relaxed) != 0 {
                self.take_watch();
            } else {
                self.leave_watch();
            }
            is_brief = self.watching.on_watch.get();
        }
    }

    /// True if there is something for this worker's root to do.
    fn has_something(&self) -> bool {
        // Relaxed: a hint; the root looks again with Acquire.
        let stops = !self.stopping.get() && self.shared.stopping.load(Ordering::Relaxed);
        stops || self.has_ready() || !self.seat.inbox.is_empty()
    }

    /// Looks at the others, and relieves those that compute; true if there is something to run now.
    fn look_after_others(&self) -> bool {
        // SAFETY: only the root reaches them, and only here: nothing that is called below comes back.
        let sights = unsafe { &mut *self.watching.sights.get() };
        // Relaxed: a hint. What begins to end is left to its own worker.
        if self.stopping.get() || self.shared.stopping.load(Ordering::Relaxed) {
            return false;
        }
        // Sleeps end early. Then it is no time to look again, and whoever has not come far is not slow.
        let now = Instant::now();
        if sights.looked.is_some_and(|looked| now.duration_since(looked) < EVERY / 2) {
            return false;
        }
        sights.looked = Some(now);
        let others = sights.of.iter_mut().zip(self.shared.seats());
        let mut found = false;
        for (sight, seat) in others.filter(|(_, seat)| seat.index != self.seat.index) {
            let (rounds, attached) = (seat.counters.rounds.get(), seat.counters.attached.get());
            if (rounds, attached) != (sight.rounds, sight.attached) {
                *sight = Sight { rounds, attached, ..Sight::default() };
            } else if !seat.parking.is_asleep() {
                found |= self.relieve(seat, sight);
            }
        }
        found || self.has_ready()
    }

    /// Does for a worker that computes what can be done here; true if its unstarted hosts are to be taken.
    #[cold]
    fn relieve(&self, seat: &Seat, sight: &mut Sight) -> bool {
        seat.helpers.get().into_iter().flatten().for_each(Helper::help);
        self.take_woken(seat, sight);
        if !seat.inbox.is_empty() && !sight.clogged {
            sight.clogged = self.take_mail(seat) > PUT_BACK;
        }
        !seat.unstarted.is_empty()
    }

    fn take_woken(&self, seat: &Seat, sight: &mut Sight) {
        let count = seat.woken.count();
        if count == 0 || count == sight.barren {
            return;
        }
        let mut taken = Vec::with_capacity(BATCH);
        seat.woken.take(&mut taken);
        sight.barren = if taken.is_empty() { count } else { 0 };
        if !taken.is_empty() && self.shared.options.offering {
            seat.attention.request(); // what it keeps to give away is gone: it keeps another one, for when we ask
        }
        for task in taken {
            self.make_attachable(Waiter::task(task));
        }
    }

    /// Takes out of another's inbox what can be done here; gives how many entries went back.
    fn take_mail(&self, seat: &Seat) -> usize {
        let mut back = 0;
        for entry in seat.inbox.take_away() {
            let travels = match entry.who() {
                // SAFETY: in an inbox with the right to run it, or with a reference: alive.
                Who::Task(task) => unsafe { task.as_ref() }.life.is_shared(),
                // SAFETY: in an inbox: alive. Both fields are constant, until it starts.
                Who::Thread(thread) => unsafe {
                    thread.as_ref().reach().home().is_null() && !thread.as_ref().label.pinned
                },
                Who::Errand(_) | Who::Foreign(_) => false,
            };
            if travels {
                // SAFETY: taken out, so ours; any worker of the runtime may have it.
                unsafe { self.receive(entry) };
                continue;
            }
            back += 1;
            // SAFETY: taken out, so ours to give up again, to whom it was sent.
            if let Err(entry) = unsafe { seat.deliver(entry) } {
                super::root::refused_at_the_end(entry);
            }
        }
        back
    }
}

impl Shared {
    /// Puts a worker that sleeps on watch and wakes it, if there is one and nobody is.
    pub(super) fn appoint(&self, by: usize) {
        loop {
            Duty::before_search();
            // Relaxed: after the fence; whoever lies down just now looks by itself.
            if self.awake.load(Ordering::Relaxed) >= self.seats().len() {
                return;
            }
            let asleep = || self.seats().iter().filter(|seat| seat.index != by && seat.parking.is_asleep());
            // Relaxed: as above.
            if asleep().any(|seat| seat.brief.load(Ordering::Relaxed)) {
                return; // it looks by itself
            }
            let Some(seat) = asleep().next() else { return };
            // It may have got up by itself, and have seen this or not: then it is taken back, and others may
            // have relied on it.
            if !self.duty.appoint(seat.index) || seat.notify() || !self.duty.leave(seat.index) {
                return;
            }
        }
    }
}
