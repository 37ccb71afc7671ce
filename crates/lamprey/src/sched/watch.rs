//! The watch, Go's sysmon: while a worker computes, an idle worker serves its sockets and timers, and takes
//! over those of its ready parasites and new hosts that can move.
//!
//! The worker on watch ([`super::duty`]) sleeps at most [`EVERY`] at a time. After each sleep it looks at the
//! workers that are awake. One that has neither run its root nor run a woken parasite since the last look
//! **computes**, and is relieved: its sources' [`Helper`](super::source::Helper)s are called; the tasks in
//! shared mode are taken out of its [ready queue](super::parasite::ready_queue) and out of its inbox; so are
//! hosts that have not started and are not pinned to it. Started hosts wait: they cannot move, and are not
//! preempted.
//!
//! # What it costs
//! * The worker that is looked at: one plain store at its root, and one for each parasite that is woken
//!   (their number).
//! * The worker on watch: one short wake-up every 0.35 ms while another worker is awake, none while all
//!   sleep.
//! * The worker that gets up first after all have slept for longer than that: a system call.
//! * A worker that goes to sleep: one more wake-up, if nothing else wakes it within that time.
//!
//! # Who may touch what
//! Of another worker: only its [`WorkerShared`]. Each part of it that is used here has a protocol of its own:
//! [`AsymmetricLock`](crate::queue::asymmetric_lock),
//! [`Inbox::take_away`](crate::queue::inbox::Inbox::take_away), the helpers.
//!
//! # Rejected
//! * The age of each entry: the ring of `latest` is last in, first out, so a position says nothing about age.
//!   An entry that is taken has waited for [`EVERY`], because the worker has run nothing in that time.
//! * Taking from every worker that is away from its root: hosts that wake parasites and run them at their
//!   next blocking call (`super::parasite::attach`, 2) may do so for seconds without running the root. Their
//!   channels would lose their owner without need.
//!
//! # Checked by
//! `tests/sched/progress.rs`, `model::duty`, `model::steal_queue`, `model::inbox`, `model::ready_queue`.

use super::duty::Duty;
use super::shared::Shared;
use super::source::{Helper, Sources};
use super::waiter::Waiter;
use super::who::Who;
use super::worker::Worker;
use super::worker::watching::PeerView;
use super::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::time::{Duration, Instant};

/// How often the worker on watch looks at the others.
const EVERY: Duration = Duration::from_micros(350);
/// Most parasites taken at once.
const BATCH: usize = 256;
/// A ready queue in which nothing was to be taken is not looked into for so many looks while its length is the same: that interrupts
/// its worker. Not for ever: what was taken before counts until the worker notices, and what it queues then makes the same length.
const SPARED: u32 = 16;
/// An inbox with more entries than this that had to be put back is not taken again until its worker runs.
const PUT_BACK: usize = 64;

impl Worker {
    /// A worker goes idle while others are awake: it takes the watch, if no worker has it.
    pub(super) fn take_watch(&self) {
        if self.is_parallel() && (self.watching.on_watch.get() || self.shared.duty.appoint(self.remote.index))
        {
            self.watching.on_watch.set(true);
        }
    }

    /// Leaves the watch: the worker has work, or no worker is awake.
    pub(super) fn leave_watch(&self) {
        if self.watching.on_watch.replace(false) {
            self.shared.duty.leave(self.remote.index);
        }
    }

    /// As [`leave_watch`](Self::leave_watch), and appoints a sleeping worker to go on with it.
    #[cold]
    pub(super) fn pass_watch_on(&self) {
        self.leave_watch();
        self.shared.appoint(self.remote.index);
    }

    /// The worker has slept, and counts as awake again: checks that some worker is on watch.
    pub(super) fn see_to_watch(&self) {
        if !self.is_parallel() {
            return;
        }
        if self.shared.duty.is_mine(self.remote.index) {
            self.watching.appointed.set(!self.watching.on_watch.replace(true));
        } else if self.shared.duty.is_vacant() {
            self.shared.appoint(self.remote.index);
        }
    }

    /// Sleeps for at most `timeout`; a worker on watch looks at the others meanwhile. The first part of every
    /// sleep is brief, after which the worker checks that some worker is on watch. So workers that wake each
    /// other all the time need not be appointed, which would cost one more wake-up each.
    pub(super) fn sleep_on_watch(&self, sources: &mut Sources, timeout: Option<Duration>) {
        let start = Instant::now();
        let mut is_brief = self.is_parallel();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let part = if is_brief { Some(left.map_or(EVERY, |left| left.min(EVERY))) } else { left };
            // Relaxed: ordered by the fence in `Parking::prepare`, which follows (see `duty`).
            self.remote.brief.store(is_brief, Ordering::Relaxed);
            let called = self.park(sources, part);
            let is_over = called || left == part || self.has_something();
            if is_over || (self.watching.on_watch.get() && self.look_after_others()) {
                return;
            }
            // Relaxed: a hint; `park` reads it again before the sleep.
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
        stops || self.has_ready() || !self.remote.inbox.is_empty()
    }

    /// Looks at the other workers, and relieves those that compute; true if there is something to run now.
    fn look_after_others(&self) -> bool {
        // SAFETY: only the root reaches `sights`, and only here: nothing that is called below comes back.
        let sights = unsafe { &mut *self.watching.sights.get() };
        // Relaxed: a hint. A runtime that shuts down is left to its own workers.
        if self.stopping.get() || self.shared.stopping.load(Ordering::Relaxed) {
            return false;
        }
        // A sleep may end early. Then it is too soon to look again: a worker that has made no progress is not
        // slow yet.
        let now = Instant::now();
        if sights.looked.is_some_and(|looked| now.duration_since(looked) < EVERY / 2) {
            return false;
        }
        sights.looked = Some(now);
        let others = sights.of.iter_mut().zip(self.shared.remotes());
        let mut found = false;
        for (sight, remote) in others.filter(|(_, remote)| remote.index != self.remote.index) {
            let (rounds, attached) = (remote.counters.rounds.get(), remote.counters.attached.get());
            if (rounds, attached) != (sight.rounds, sight.attached) {
                *sight = PeerView { rounds, attached, ..PeerView::default() };
            } else if !remote.parking.is_asleep() {
                found |= self.relieve(remote, sight);
            }
        }
        found || self.has_ready()
    }

    /// Does for a worker that computes what another worker can do; true if it has unstarted hosts to steal.
    #[cold]
    fn relieve(&self, remote: &WorkerShared, sight: &mut PeerView) -> bool {
        remote.helpers.get().into_iter().flatten().for_each(Helper::help);
        self.take_ready(remote, sight);
        if !remote.inbox.is_empty() && !sight.clogged {
            sight.clogged = self.take_mail(remote) > PUT_BACK;
        }
        !remote.unstarted.is_empty()
    }

    fn take_ready(&self, remote: &WorkerShared, sight: &mut PeerView) {
        let count = remote.ready.count();
        if count == 0 {
            return;
        }
        if count == sight.barren && sight.spared < SPARED {
            sight.spared += 1;
            return;
        }
        let mut taken = Vec::with_capacity(BATCH);
        remote.ready.take(&mut taken);
        (sight.barren, sight.spared) = (if taken.is_empty() { count } else { 0 }, 0);
        if !taken.is_empty() && self.shared.options.offering {
            remote.attention.request(); // what it kept to offer is taken: it keeps another one
        }
        for task in taken {
            self.make_attachable(Waiter::task(task));
        }
    }

    /// Takes the entries that can move out of another worker's inbox; returns how many were put back.
    fn take_mail(&self, remote: &WorkerShared) -> usize {
        let mut back = 0;
        for entry in remote.inbox.take_away() {
            let travels = match entry.who() {
                // SAFETY: alive: an entry in an inbox holds the right to run the task, or a reference.
                Who::Task(task) => unsafe { task.as_ref() }.life.is_shared(),
                // SAFETY: a thread in an inbox is alive. Both fields are constant until it starts.
                Who::Thread(thread) => unsafe {
                    thread.as_ref().reach().home().is_null() && !thread.as_ref().label.pinned.get()
                },
                Who::RemoteMessage(_) | Who::Foreign(_) => false,
            };
            if travels {
                // SAFETY: taken out, so owned by this call; any worker of the runtime may receive it.
                unsafe { self.receive(entry) };
                continue;
            }
            back += 1;
            // SAFETY: taken out, so owned by this call; it goes back to the worker it was sent to.
            if let Err(entry) = unsafe { remote.put_back(entry) } {
                super::root::refused_at_the_end(entry);
            }
        }
        back
    }
}

impl Shared {
    /// Puts a sleeping worker on watch and wakes it, if there is one and no worker is on watch.
    pub(super) fn appoint(&self, by: usize) {
        loop {
            Duty::before_search();
            // Relaxed: ordered by the fence in `before_search`; a worker that lies down just now looks by
            // itself.
            if self.awake.load(Ordering::Relaxed) >= self.remotes().len() {
                return;
            }
            let asleep =
                || self.remotes().iter().filter(|remote| remote.index != by && remote.parking.is_asleep());
            // Relaxed: ordered by the fence in `before_search`.
            if asleep().any(|remote| remote.brief.load(Ordering::Relaxed)) {
                return; // that worker looks by itself
            }
            let Some(remote) = asleep().next() else { return };
            // If `notify` finds the worker awake, it may have missed the appointment, which is taken back. If
            // it had seen it, others may have relied on that: look again.
            if !self.duty.appoint(remote.index) || remote.notify() || !self.duty.leave(remote.index) {
                return;
            }
        }
    }
}
