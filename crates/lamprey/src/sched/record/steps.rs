//! What a worker notes of its steps. Each function but those of its sleep is called only while the worker
//! [records](Worker::records).
//!
//! They are all out of line: what they cost is paid with tokens ([`recorder`](super::recorder)), what they cost where
//! they are not called is nothing.

use super::note::{Act, Actor, NAME, Note, Origin, Stop};
use crate::sched::parasite::carrier::is_carrier;
use crate::sched::parasite::task::Task;
use crate::sched::policy::Why;
use crate::sched::reason::Wait;
use crate::sched::thread::{Thread, ThreadState, Woke};
use crate::sched::waiter::Waiter;
use crate::sched::who::Who;
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::time::clock;
use std::ptr::{self, NonNull};

impl Worker {
    /// True while it notes what it does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn records(&self) -> bool {
        self.policy.is_recorded()
    }

    /// Root: takes in the tokens that have come since its last round.
    pub(in crate::sched) fn refill_recorder(&self, now: u64) {
        self.policy.set_recorded(self.recorder.refill(now, self.records()));
    }

    /// True while [`note_switch`](Self::note_switch) is to be called: it notes what it does, or watches for the end of what it measures.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn sees_switches(&self) -> bool {
        self.policy.is_recorded_or_watched()
    }

    /// Returns when that was.
    fn note(&self, act: Act, actor: Actor, other: Actor, detail: u8, origin: Origin) -> u64 {
        let at = self.meter.now();
        let note = |act| Note { at, act, actor, other, detail, origin }.words();
        self.remote.ring.push(note(act));
        if self.recorder.spend() {
            self.policy.set_recorded(false);
            self.pause_meter(at);
            self.remote.ring.push(note(Act::Gap));
        }
        at
    }

    /// The actor that a note is about; its name is noted before, if it has one and that is not known.
    fn introduce(&self, thread: &Thread) -> Actor {
        let actor = Actor::of_thread(thread);
        if let Some(name) = thread.label.name()
            && self.recorder.is_nameless(actor, self.remote.ring.written())
        {
            self.note_name(actor, name);
        }
        actor
    }

    fn note_name(&self, actor: Actor, name: &str) {
        const MORE: &[u8] = "…".as_bytes();
        let name = name.as_bytes();
        let mut part = [0; NAME];
        if name.len() <= NAME {
            part[..name.len()].copy_from_slice(name);
        } else {
            part[..NAME - MORE.len()].copy_from_slice(&name[..NAME - MORE.len()]);
            part[NAME - MORE.len()..].copy_from_slice(MORE);
        }
        self.remote.ring.push(Note::name(actor, &part));
    }

    fn introduce_task(&self, task: NonNull<Task>) -> (Actor, Origin) {
        // SAFETY: the caller holds the right to run the task, which keeps it alive.
        let task = unsafe { task.as_ref() };
        let actor = Actor::of_task(task);
        if let Some(name) = task.given_name()
            && self.recorder.is_nameless(actor, self.remote.ring.written())
        {
            self.note_name(actor, name);
        }
        (actor, Origin::Future(task.body.name))
    }

    /// Who runs now, for the notes of what it does to others.
    fn doer(&self) -> Actor {
        let me = self.running_ref();
        match me.polled() {
            // SAFETY: it is polled by this thread, so it is alive.
            Some(task) => Actor::of_task(unsafe { task.as_ref() }),
            None => Actor::of_thread(me),
        }
    }

    /// `me` is about to stop, and `next` to run. `None`: the root.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_switch(&self, me: &Thread, next: Option<NonNull<Thread>>) {
        if !self.records() {
            return self.watch_switch(next);
        }
        // SAFETY: picked, so alive until it has run.
        let next = next.map(|next| unsafe { next.as_ref() });
        let (from, to) = (Actor::of_thread(me), next.map_or(Actor::NONE, |next| self.introduce(next)));
        if from == to {
            return; // it goes on, or the root does
        }
        let stop = match me.state.get() {
            _ if ptr::eq(me, &raw const self.root) => Stop::Nothing,
            ThreadState::Runnable | ThreadState::Unstarted => Stop::Ready,
            ThreadState::Finished => Stop::Ended,
            _ if is_carrier(me) => Stop::Idle,
            ThreadState::Blocked | ThreadState::Committed => Stop::Blocked(me.reason.get()),
        };
        let origin = next.map_or(Origin::Unknown, origin_of);
        let at = self.note(Act::Switch, to, from, stop.detail(), origin);
        self.measure_switch(next, at);
    }

    /// [`next_by_policy`](Worker::next_by_policy) where more than the default policy has to be asked.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn next_noted(&self) -> Option<NonNull<Thread>> {
        let next = self.policy.next(&self.remote.unstarted, |parasite| self.carry_picked(parasite));
        let me = self.running_ref();
        // A thread that yields goes on if there is no other.
        if self.sees_switches() && (next.is_some() || me.state.get() != ThreadState::Runnable) {
            self.note_switch(me, next);
        }
        next
    }

    /// [`enqueue_woken`](Worker::enqueue_woken) where more than the default policy has to be asked.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn enqueue_noted(&self, thread: NonNull<Thread>) -> bool {
        self.note_wake(Waiter::thread(thread));
        self.policy.take(Waiter::thread(thread), Why::Woken)
    }

    /// A parasite is ready: true if the policy queues parasites, and has queued this one.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn queue_noted(&self, parasite: Waiter) -> bool {
        self.note_wake(parasite);
        let queues = self.policy.queues_parasites();
        if queues {
            self.policy.ready(parasite, Why::Woken);
        }
        queues
    }

    fn note_wake(&self, ready: Waiter) {
        if !self.records() {
            return;
        }
        match ready.who() {
            Who::Thread(thread) => {
                // SAFETY: ready, so alive until it has run; it is of this worker.
                let thread = unsafe { thread.as_ref() };
                let (actor, origin) = (self.introduce(thread), origin_of(thread));
                let woke = thread.woke.get();
                let late = if woke == Woke::TimedOut { self.meter.late.get() } else { 0 };
                let by = if late == 0 { self.doer() } else { Actor::number_only(late) };
                let at = self.note(Act::Wake, actor, by, woke as u8, origin);
                self.measure_from_wake(thread, at, late);
            }
            Who::Task(task) => {
                let (actor, origin) = self.introduce_task(task);
                let at = self.note(Act::Wake, actor, self.doer(), 0, origin);
                self.measure_task(task, at);
            }
            Who::Foreign(_) | Who::RemoteMessage(_) => {}
        }
    }

    /// A new host is about to be queued here.
    pub(in crate::sched) fn note_new(&self, thread: &Thread) {
        if self.records() {
            let (actor, origin) = (self.introduce(thread), origin_of(thread));
            let act = if self.is_on_root() { Act::Arrive } else { Act::Spawn };
            let at = self.note(act, actor, self.doer(), 0, origin);
            self.measure_from_spawn(thread, at);
        }
    }

    /// A stackful parasite of the running thread's has blocked for the first time.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_stands_alone(&self, thread: &Thread) {
        let (actor, origin) = (self.introduce(thread), origin_of(thread));
        let stop = Stop::Blocked(thread.reason.get()).detail();
        self.note(Act::Reify, actor, self.doer(), stop, origin);
    }

    /// A host ends.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_end(&self, thread: &Thread) {
        let at = self.note(Act::End, Actor::of_thread(thread), Actor::NONE, 0, Origin::Unknown);
        self.end_run(at);
    }

    /// The caller, who holds the right to run `task`, runs it next.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_attach(&self, task: NonNull<Task>) {
        let (actor, origin) = self.introduce_task(task);
        let at = self.note(Act::Attach, actor, self.doer(), 0, origin);
        self.measure_attach(task, origin, at);
    }

    /// The caller has run `task`, and holds the right to.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_detach(&self, task: NonNull<Task>, is_over: bool) {
        let stop = if is_over { Stop::Ended } else { stop_of(task) };
        // SAFETY: the right to run keeps it alive.
        let actor = Actor::of_task(unsafe { task.as_ref() });
        let at = self.note(Act::Detach, actor, self.doer(), stop.detail(), Origin::Unknown);
        self.measure_detach(at);
    }

    /// The running thread has started `task`, which the caller has the right to run, and which is not over.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_reified(&self, task: NonNull<Task>) {
        let (actor, origin) = self.introduce_task(task);
        self.note(Act::Reify, actor, self.doer(), stop_of(task).detail(), origin);
    }

    /// A stackful parasite becomes a host.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn note_inflated(&self, thread: &Thread) {
        let (actor, origin) = (self.introduce(thread), origin_of(thread));
        self.note(Act::Inflate, actor, self.doer(), 0, origin);
    }

    /// The caller, who holds the right to run `task`, makes it a host.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_task_inflated(&self, task: NonNull<Task>) {
        let (actor, origin) = self.introduce_task(task);
        self.note(Act::Inflate, actor, self.doer(), 0, origin);
    }

    /// The worker has taken this host, which has not started, from the worker with that number.
    pub(in crate::sched) fn note_stolen(&self, thread: &Thread, from: usize) {
        if self.records() {
            let (actor, origin) = (self.introduce(thread), origin_of(thread));
            self.note(Act::Steal, actor, Actor::NONE, worker(from), origin);
        }
    }

    /// The running thread is about to wait for the kernel.
    #[cold]
    #[inline(never)]
    pub(super) fn note_begin(&self, wait: Wait, descriptor: Actor) {
        self.note(Act::Begin, self.doer(), descriptor, wait as u8, Origin::Number(0));
    }

    /// The kernel has answered the running thread.
    #[cold]
    #[inline(never)]
    pub(super) fn note_answer(&self, wait: Wait, descriptor: Actor, result: i32) {
        let result = Origin::Number(u64::from(result.cast_unsigned()));
        self.note(Act::Answer, self.doer(), descriptor, wait as u8, result);
    }

    /// A call of the running thread on a pool is over: it was queued, taken and made at these moments, in ticks.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_called(&self, queued: u64, taken: u64, made: u64) {
        let waited = Actor::number_only(taken.saturating_sub(queued));
        self.note(Act::Called, self.doer(), waited, 0, Origin::Number(made.saturating_sub(taken)));
    }

    /// The worker is about to sleep.
    pub(in crate::sched) fn note_park(&self) {
        let at = self.note(Act::Park, Actor::NONE, Actor::NONE, 0, Origin::Unknown);
        self.end_run(at);
    }

    /// The worker has slept.
    pub(in crate::sched) fn note_unpark(&self, called: bool) {
        self.refill_recorder(clock::ticks());
        self.note(Act::Unpark, Actor::NONE, Actor::NONE, u8::from(called), Origin::Unknown);
    }
}

pub(in crate::sched) fn origin_of(thread: &Thread) -> Origin {
    if is_carrier(thread) { Origin::Own } else { Origin::SpawnedAt(thread.label.spawn_site.get()) }
}

/// The number of a worker, as far as there is room for it.
fn worker(index: usize) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}

/// Why a task whose right to run the caller holds does not go on.
fn stop_of(task: NonNull<Task>) -> Stop {
    // SAFETY: the right to run keeps it alive (contract).
    unsafe { task.as_ref() }.life.noted().map_or(Stop::Ready, Stop::Blocked)
}

impl WorkerShared {
    /// The caller, who owns `entry`, sends it to this worker: the worker that it runs on counts and notes that.
    pub(in crate::sched) fn note_sent(&self, entry: Waiter) {
        let Some(sender) = Worker::current() else { return };
        sender.remote.counters.sent.add(1);
        if !sender.records() {
            return;
        }
        let (actor, origin) = match entry.who() {
            Who::Thread(thread) => {
                // SAFETY: owned by the caller, so alive; its label does not change meanwhile.
                let thread = unsafe { thread.as_ref() };
                sender.measure_from_spawn(thread, sender.meter.now());
                (sender.introduce(thread), origin_of(thread))
            }
            // SAFETY: owned by the caller, so alive: these fields are constant.
            Who::Task(task) => sender.introduce_task(task),
            Who::Foreign(_) | Who::RemoteMessage(_) => return,
        };
        sender.note(Act::Send, actor, sender.doer(), worker(self.index), origin);
    }
}
