//! What a worker measures of its threads: the ends of what [`meter`](super::meter) keeps. The functions are called where the worker notes
//! what it does ([`record`](crate::sched::record)), or watches for an end.

use super::meter::{is_marked, mark, take_mark};
use crate::sched::parasite::task::Task;
use crate::sched::record::note::Origin;
use crate::sched::record::steps::origin_of;
use crate::sched::thread::{Kind, Thread, ThreadState};
use crate::sched::worker::Worker;
use crate::sync_shim::Ordering;
use std::ptr::{self, NonNull};

impl Worker {
    /// A thread of this worker has been woken at `now`, or interrupted because its time was over so many nanoseconds before. The worker
    /// records.
    pub(in crate::sched) fn measure_from_wake(&self, thread: &Thread, now: u64, late: u64) {
        mark(thread, self.meter.before(late, now));
        // The others may be run by who unblocks them, without a look at the queue.
        if thread.kind == Kind::Host {
            self.meter.marked.set(self.meter.marked.get() + 1);
        }
    }

    /// A thread that the caller owns is ready since `now` at the latest, if it is one that has not started. The worker records.
    pub(in crate::sched) fn measure_from_spawn(&self, thread: &Thread, now: u64) {
        // One that another worker has picked, and has sent here, was measured there up to that moment.
        let is_new = thread.reach().home().is_null() && !thread.label.is_placed.get();
        if is_new && !is_marked(thread) {
            mark(thread, now);
        }
    }

    /// A stackless parasite is ready since `now`. The worker records.
    pub(in crate::sched) fn measure_task(&self, task: NonNull<Task>, now: u64) {
        self.meter.task(task).set((task.as_ptr(), now));
    }

    /// The worker goes from the running thread to `next` at `now`; to its root if there is none. It records, or watches.
    pub(in crate::sched) fn measure_switch(&self, next: Option<&Thread>, now: u64) {
        self.end_run(now);
        let Some(next) = next.filter(|next| next.is_lamprey()) else { return };
        let origin = origin_of(next);
        if is_marked(next) {
            let is_new = next.state.get() == ThreadState::Unstarted;
            let is_counted = !is_new && next.kind == Kind::Host;
            if is_counted {
                self.meter.marked.set(self.meter.marked.get().saturating_sub(1));
            }
            let since = take_mark(next);
            if is_new || is_counted || since > self.meter.paused.get() {
                self.count_delay(is_new, origin, self.meter.between(since, now));
            }
        }
        self.begin_run(now, origin);
    }

    fn begin_run(&self, now: u64, origin: Origin) {
        if self.records() {
            self.meter.run.set(Some((now, origin)));
        }
    }

    /// A stackless parasite runs from now on; `origin` is its name. The worker records.
    pub(in crate::sched) fn measure_attach(&self, task: NonNull<Task>, origin: Origin, now: u64) {
        self.end_run(now);
        let (known, since) = self.meter.task(task).replace((ptr::null(), 0));
        if ptr::eq(known, task.as_ptr()) && since > self.meter.paused.get() {
            self.count_delay(false, origin, self.meter.between(since, now));
        }
        self.begin_run(now, origin);
    }

    /// The stackless parasite runs no more: the thread below goes on.
    pub(in crate::sched) fn measure_detach(&self, now: u64) {
        self.end_run(now);
        self.begin_run(now, origin_of(self.running_ref()));
    }

    /// The running thread runs no more, at `now`.
    pub(in crate::sched) fn end_run(&self, now: u64) {
        let Some((since, origin)) = self.meter.run.take() else { return };
        if matches!(origin, Origin::Own | Origin::Unknown) {
            return;
        }
        let (time, measured) = (self.meter.between(since, now), &self.remote.measured);
        measured.run.add(time);
        measured.sites.of(origin).into_iter().for_each(|site| site.run.add(time));
    }

    fn count_delay(&self, is_new: bool, origin: Origin, time: u64) {
        let (measured, site) = (&self.remote.measured, self.remote.measured.sites.of(origin));
        let (all, of_site) = if is_new {
            (&measured.spawn_to_run, site.map(|site| &site.spawn_to_run))
        } else {
            (&measured.wake_to_run, site.map(|site| &site.wake_to_run))
        };
        all.add(time);
        of_site.into_iter().for_each(|buckets| buckets.add(time));
    }

    /// The worker ceases to record: it watches until what has begun has ended.
    pub(in crate::sched) fn pause_meter(&self, now: u64) {
        self.meter.paused.set(now);
        self.policy.set_watched(true);
    }

    /// The worker watches, and goes from the running thread to `next`; to its root if there is none.
    pub(in crate::sched) fn watch_switch(&self, next: Option<NonNull<Thread>>) {
        // SAFETY: picked, so alive until it has run.
        let next = next.map(|next| unsafe { next.as_ref() });
        let goes_on = next.is_some_and(|next| ptr::eq(next, self.running_ref()));
        if !goes_on && (self.meter.run.get().is_some() || next.is_some_and(is_marked)) {
            self.measure_switch(next, self.meter.now());
        }
        self.policy.set_watched(self.meter.has_begun());
    }

    /// The root looks for events: how many threads are ready?
    pub(in crate::sched) fn measure_queues(&self) {
        let unstarted = self.remote.unstarted.look();
        let unstarted = unstarted.tail.wrapping_sub(unstarted.head);
        let ready = self.policy.len() + unstarted + self.parasites.ready.pending.get();
        self.remote.measured.ready.add(ready as u64);
        self.note_ready(ready);
        if self.policy.is_empty() {
            self.meter.marked.set(0);
        }
    }

    /// So many threads are ready.
    pub(in crate::sched) fn note_ready(&self, ready: usize) {
        // Relaxed: a figure for who looks.
        self.remote.measured.ready_now.store(ready, Ordering::Relaxed);
    }
}
