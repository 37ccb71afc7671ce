//! Which threads a runtime has, or has left when its shutdown does not finish, and where they are: the root of each worker
//! inspects its own threads.
//!
//! The root reads where a suspended thread goes on from what its switch has saved, copies its stack
//! ([`super::sample`]), and unwinds the copy ([`super::unwind`]); the thread does nothing, and needs no room
//! on its stack. A worker that does not answer, because one of its threads computes, is inspected by a signal
//! ([`super::stuck`]). A worker that does not answer the signal either is listed itself.
//!
//! # Invariants
//! 1. While the root runs, all started threads of its worker are suspended in `switch_to`.

use super::found::{Found, WordCounts, Words, wait_of};
use super::holdings;
use super::object::Objects;
use super::parasites::ParasiteWalk;
use super::sample::{Registers, Sample};
use super::stuck::{Look, look};
use super::survey::Stacks;
use super::unwind::{Code, Walker};
use crate::sched::parasite::contexts::Context;
use crate::sched::reason::number_as_address;
use crate::sched::scope_info::ScopeInfo;
use crate::sched::shared::Shared;
use crate::sched::thread::{Kind, Thread};
use crate::sched::worker::Worker;
use crate::sched::worker::walk::Piece;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long workers have to answer before they are inspected by a signal, and between two such attempts.
const ANSWER: Duration = Duration::from_millis(100);

/// A worker that has had this much CPU time since it was asked, and has not answered, is held up by a thread
/// that computes.
const COMPUTES: Duration = Duration::from_millis(50);

/// A worker that has not answered for this long is held up, too: its thread may sleep in the kernel.
const HELD_UP: Duration = Duration::from_secs(2);

/// How long a survey takes at most. A kernel thread that is ready to run answers as soon as it gets a CPU; on
/// a loaded machine that takes a while.
const PATIENCE: Duration = Duration::from_secs(5);

impl Shared {
    /// The started threads that have not ended.
    pub(crate) fn look(&self) -> Vec<Found> {
        self.look_with(Stacks::All, true, Words::default())
    }

    /// The same; `wanted` are looked for on the stacks.
    pub(super) fn look_for(&self, wanted: Words) -> Vec<Found> {
        self.look_with(Stacks::All, true, wanted)
    }

    /// The same with the stacks of those only that hold up their workers.
    #[cfg(feature = "live")]
    pub(crate) fn look_at_running(&self) -> Vec<Found> {
        self.look_with(Stacks::None, true, Words::default())
    }

    /// The same with the stack of the thread `id`, too.
    #[cfg(feature = "live")]
    pub(crate) fn look_at(&self, id: u64) -> Vec<Found> {
        self.look_with(Stacks::Of(id), true, Words::default())
    }

    /// The same without their stacks, which is much cheaper.
    pub(super) fn look_without_stacks(&self) -> Vec<Found> {
        self.look_with(Stacks::None, false, Words::default())
    }

    /// `stacks`: those of threads that wait. `interrupts`: those that hold up a worker are looked at by a signal.
    fn look_with(&self, stacks: Stacks, interrupts: bool, wanted: Words) -> Vec<Found> {
        let _asking = Asking::begin();
        let _one = self.survey.one.lock().unwrap_or_else(PoisonError::into_inner);
        self.survey.set_stacks(stacks, wanted);
        let mut walker = interrupts.then(|| self.survey.code().walker());
        let asked = self.remotes().iter().filter(|remote| !remote.has_ended());
        let missing: Vec<_> = asked.map(|remote| (remote, Progress::new(remote))).collect();
        self.survey.answers.ask();
        for remote in self.remotes() {
            remote.notify();
        }
        let mut all = self.survey.answers.await_all(
            missing,
            ANSWER,
            |(remote, _)| remote.index,
            |found| found.worker,
            |(remote, progress)| remote.look(walker.as_mut(), progress),
        );
        all.iter_mut().for_each(|found| found.runtime = ptr::from_ref(self).addr());
        all
    }

    /// The threads of the workers that have not ended, and the number of these workers; empty only if there
    /// is no such worker. Called after [`stop`](Self::stop).
    pub(crate) fn survey(&self) -> (Vec<Found>, usize) {
        let start = Instant::now();
        let mut all = self.look();
        // A parasite that has not ended is one of a host that has not, or of a worker that is listed.
        all.retain(|found| found.future.is_none());
        if !all.is_empty() {
            return (all, self.alive());
        }
        // A worker without a started thread: its end takes long, or the destructors of its threads start new
        // ones again and again.
        let workers = self.await_end(Some(start + PATIENCE));
        let left = self.remotes().iter().filter(|remote| workers > 0 && !remote.has_ended());
        (left.map(|remote| remote.itself()).collect(), workers)
    }
}

impl WorkerShared {
    /// True if the worker's kernel thread has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.tid() == 0
    }

    /// Its kernel thread's number; 0 if that has ended. A stale one names a kernel thread that is no worker.
    pub(super) fn tid(&self) -> libc::pid_t {
        // Relaxed: a number; no data travels with it.
        self.tid.load(Ordering::Relaxed)
    }

    /// True if it cannot answer because one of its threads asks.
    pub(super) fn asks(&self) -> bool {
        // Relaxed: a hint; no data travels with it.
        self.asks.load(Ordering::Relaxed)
    }

    /// The number of pieces of answers that it has found.
    pub(super) fn found_pieces(&self) -> usize {
        // Relaxed: a number; no data travels with it.
        self.pieces.load(Ordering::Relaxed)
    }

    /// The CPU time of its kernel thread.
    pub(super) fn has_run_for(&self) -> Duration {
        // The kernel's id of a thread's CPU clock: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED.
        let clock = (!self.tid() << 3) | 6;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes `time` only; for a thread that has ended the call fails.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    /// Inspects a worker that has not answered, and has not got on with it for a while. `None` if it may still answer.
    fn look(&self, walker: Option<&mut Walker<'_>>, progress: &Progress) -> Option<Vec<Found>> {
        if self.has_ended() {
            return Some(Vec::new());
        }
        let (since, had) = progress.stands_still(self)?;
        let asks = self.asks();
        // Without stacks nothing is interrupted but a look.
        if walker.is_none() && !asks {
            return (since.elapsed() >= HELD_UP).then(|| vec![self.itself()]);
        }
        match look(self.tid(), walker, since + PATIENCE) {
            Look::Computes(found, _) if asks || had >= COMPUTES || since.elapsed() >= HELD_UP => Some(found),
            Look::Computes(..) => None,
            Look::Schedules if since.elapsed() < PATIENCE => None,
            Look::Schedules | Look::Silent => Some(vec![self.itself()]),
        }
    }

    /// The entry for a worker that does not answer.
    fn itself(&self) -> Found {
        Found::new(0, Kind::Root, self.index)
    }
}

/// While this exists, the worker of the calling kernel thread does not answer: a thread that unwinds, and so cannot switch away, asks on
/// it. Others who ask look at it at once, instead of waiting for it.
pub(super) struct Asking(Option<&'static Worker>);

impl Asking {
    pub(super) fn begin() -> Self {
        let worker = Worker::current();
        Self::set(worker, true);
        Self(worker)
    }

    fn set(worker: Option<&Worker>, asks: bool) {
        if let Some(worker) = worker {
            // Relaxed: a hint; no data travels with it.
            worker.remote.asks.store(asks, Ordering::Relaxed);
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        Self::set(self.0, false);
    }
}

/// How far a worker has got with its answer when the asker last looked.
pub(super) struct Progress(Cell<(Instant, Duration, usize)>);

impl Progress {
    pub(super) fn new(remote: &WorkerShared) -> Self {
        Self(Cell::new((Instant::now(), remote.has_run_for(), remote.found_pieces())))
    }

    /// Since when the worker has not got on, and its CPU time since then; `None` if it has since the last look.
    pub(super) fn stands_still(&self, remote: &WorkerShared) -> Option<(Instant, Duration)> {
        let (since, before, pieces) = self.0.get();
        let had = remote.has_run_for();
        if remote.found_pieces() != pieces {
            self.0.set((Instant::now(), had, remote.found_pieces()));
            return None;
        }
        Some((since, had.saturating_sub(before)))
    }
}

/// A worker's answer, as far as it has got.
pub(super) struct SurveyWalk {
    pub(super) question: usize,
    /// In pieces: a large vector that grows is copied, which takes long.
    found: Vec<Vec<Found>>,
    count: usize,
    sample: Option<Box<Sample>>,
    wanted: Arc<Words>,
    parasites: ParasiteWalk,
}

/// Threads that are found before the next vector begins.
const SOME: usize = 1024;

impl SurveyWalk {
    /// Goes on until the piece is over; true if nothing is left, and the answer has been given.
    pub(super) fn go_on(&mut self, worker: &Worker, piece: &Piece) -> bool {
        let mut walker = worker.shared.survey.code_for_stacks().map(Code::walker);
        while let Some(host) = NonNull::new(worker.walk.next.get().cast_mut()) {
            // SAFETY: listed, so alive while the root runs; between two pieces `delist` moves the pointer on.
            let thread = unsafe { host.as_ref() };
            worker.walk.next.set(thread.older.get());
            if worker.is_parked_carrier(thread) {
                continue; // it is nobody's, and waits for nothing
            }
            let is_asked_for = worker.shared.survey.is_asked_for(thread.label.id.get(), self.count);
            let walker = walker.as_mut().filter(|_| is_asked_for);
            let looked = walker.map(|walker| self.stack_of(thread, walker));
            let (stack, seen) = looked.map_or((Vec::new(), None), |(stack, seen)| (stack, Some(seen)));
            // SAFETY: listed, and suspended (invariant 1).
            let (parent, scope) = unsafe { origin_of(host) };
            self.add(Found { stack, seen, parent, scope, ..worker.thread_found(thread) });
            if piece.is_over() {
                return false;
            }
        }
        while self.parasites.go_on(worker) {
            if piece.is_over() {
                return false;
            }
        }
        let mut found = std::mem::take(&mut self.found);
        found.push(self.parasites.take_found());
        worker.shared.survey.answers.answer(self.question, worker.remote.index, found);
        true
    }

    fn add(&mut self, found: Found) {
        if self.count.is_multiple_of(SOME) {
            self.found.push(Vec::with_capacity(SOME));
        }
        self.count += 1;
        self.found.last_mut().expect("one was pushed").push(found);
    }

    /// Its calls, and what is wanted that is on its stack.
    fn stack_of(&mut self, thread: &Thread, walker: &mut Walker<'_>) -> (Vec<usize>, WordCounts) {
        let sample = self.sample.get_or_insert_with(Sample::boxed);
        // SAFETY: the stack pointer was saved by a switch, and the thread is not resumed while the root
        // runs (invariant 1).
        sample.take(unsafe { Registers::suspended(thread.sp.get()) });
        (walker.walk(sample), count(sample, &self.wanted))
    }
}

impl Worker {
    /// True if there is a question that this worker has not begun to answer.
    pub(super) fn survey_asks(&self) -> bool {
        self.shared.survey.answers.question() != self.surveyed.get()
    }

    pub(super) fn begin_survey(&self) -> SurveyWalk {
        let question = self.shared.survey.answers.question();
        self.surveyed.set(question);
        let parasites = ParasiteWalk::default();
        let wanted = self.shared.survey.wanted();
        SurveyWalk { question, found: Vec::new(), count: 0, sample: None, wanted, parasites }
    }

    /// A thread of this worker that does not run, without its stack.
    fn thread_found(&self, thread: &Thread) -> Found {
        let wait = wait_of(thread);
        Found {
            name: thread.label.name().cloned(),
            spawn_site: thread.spawn_site(),
            wait,
            on: wait.map_or(0, |_| thread.on.get().addr()),
            // SAFETY: while the root runs, all started threads of its worker are suspended (invariant 1).
            objects: wait.map_or(Objects::Unknown, |wait| unsafe { Objects::of(wait, thread.on.get()) }),
            waiting: wait.and_then(|_| self.waiting_since(thread.since.get())),
            since: thread.since.get(),
            is_limited: thread.is_limited.get(),
            address: match thread.kind {
                Kind::Parasite => number_as_address(thread.label.id.get()).addr(),
                _ => ptr::from_ref(thread).addr(),
            },
            // SAFETY: while the root runs, all started threads of its worker are suspended (invariant 1).
            holds: unsafe { holdings::of(thread) },
            ..Found::new(thread.label.id.get(), thread.kind, self.remote.index)
        }
    }

    /// How long ago the coarse clock showed `stamp`. In a simulation it does not go.
    fn waiting_since(&self, stamp: u32) -> Option<Duration> {
        (!self.shared.options.simulated).then(|| self.rounds.since(stamp))
    }
}

/// The number of the thread that has spawned this one, or 0, and the scope that waits for it.
///
/// # Safety
/// The thread is listed by the calling kernel thread's worker, and suspended.
unsafe fn origin_of(thread: NonNull<Thread>) -> (u64, Option<ScopeInfo>) {
    // SAFETY: a listed thread is alive. The thread of a stackful parasite is the first field of its context; the scope is asked
    // for where it may be (contract).
    unsafe {
        let parent = match thread.as_ref().kind {
            Kind::Parasite => thread.cast::<Context>().as_ref().parent.get(),
            _ => thread.as_ref().parent(),
        };
        (parent, thread.as_ref().body.scope.and_then(|scope| scope(thread)))
    }
}

/// How often each of these words is in the sample.
fn count(sample: &Sample, wanted: &Words) -> WordCounts {
    let mut seen = WordCounts::default();
    if !wanted.is_empty() {
        let some = sample.words().filter(|word| wanted.contains(word));
        some.for_each(|word| *seen.entry(word).or_insert(0) += 1);
    }
    seen
}
