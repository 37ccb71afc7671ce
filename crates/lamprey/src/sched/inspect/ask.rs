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

use super::found::{Found, wait_of};
use super::sample::{Registers, Sample};
use super::stuck::{Look, look};
use super::unwind::Walker;
use crate::sched::shared::Shared;
use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::sync::PoisonError;
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

/// Of how many threads of a worker the stacks are taken: that takes some ten microseconds each, in which the worker does
/// nothing else.
const STACKS: usize = 10_000;

impl Shared {
    /// The started threads that have not ended.
    pub(crate) fn look(&self) -> Vec<Found> {
        let _one = self.survey.one.lock().unwrap_or_else(PoisonError::into_inner);
        let mut walker = self.survey.code().walker();
        let start = Instant::now();
        let asked = self.remotes().iter().filter(|remote| !remote.has_ended());
        let missing: Vec<_> = asked.map(|remote| (remote, remote.has_run_for())).collect();
        self.survey.answers.ask();
        for remote in self.remotes() {
            remote.notify();
        }
        self.survey.answers.await_all(
            missing,
            ANSWER,
            |(remote, _)| remote.index,
            |found| found.worker,
            |(remote, before)| remote.look(&mut walker, start, *before),
        )
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
    fn has_ended(&self) -> bool {
        // Relaxed: a number; no data travels with it.
        self.tid.load(Ordering::Relaxed) == 0
    }

    /// The CPU time of its kernel thread.
    fn has_run_for(&self) -> Duration {
        // Relaxed: a number; no data travels with it.
        let tid = self.tid.load(Ordering::Relaxed);
        // The kernel's id of a thread's CPU clock: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED.
        let clock = (!tid << 3) | 6;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes `time` only; for a thread that has ended the call fails.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    /// Inspects a worker that has not answered since `start`, when its CPU time was `before`. `None` if it
    /// may still answer.
    fn look(&self, walker: &mut Walker<'_>, start: Instant, before: Duration) -> Option<Vec<Found>> {
        if self.has_ended() {
            return Some(Vec::new());
        }
        // Relaxed: a number; a stale one names a kernel thread that is no worker.
        let found = look(self.tid.load(Ordering::Relaxed), Some(walker), start + PATIENCE);
        let had = self.has_run_for().saturating_sub(before);
        match found {
            Look::Computes(found, _) if had >= COMPUTES || start.elapsed() >= HELD_UP => Some(found),
            Look::Computes(..) => None,
            Look::Schedules if start.elapsed() < PATIENCE => None,
            Look::Schedules | Look::Silent => Some(vec![self.itself()]),
        }
    }

    /// The entry for a worker that does not answer.
    fn itself(&self) -> Found {
        Found {
            id: 0,
            name: None,
            kind: Kind::Root,
            worker: self.index,
            spawn_site: None,
            wait: None,
            polls: None,
            future: None,
            count: 1,
            stack: Vec::new(),
        }
    }
}

impl Worker {
    /// On the root: answers the survey, if there is a question that it has not answered.
    pub(in crate::sched) fn answer_survey(&self) {
        let question = self.shared.survey.answers.question();
        if question != self.surveyed.get() {
            self.answer(question);
        }
    }

    #[cold]
    fn answer(&self, question: usize) {
        self.surveyed.set(question);
        let mut found = Vec::new();
        let mut walker = self.shared.survey.code().walker();
        let mut sample = Sample::boxed();
        let mut host = self.newest.get();
        // SAFETY: a listed host is alive until it ends, and none ends while the root runs.
        while let Some(thread) = unsafe { host.as_ref() } {
            host = thread.older.get();
            let mut stack = Vec::new();
            if found.len() < STACKS {
                // SAFETY: the stack pointer was saved by a switch, and the thread is not resumed while the root
                // runs (invariant 1).
                sample.take(unsafe { Registers::suspended(thread.sp.get()) });
                stack = walker.walk(&sample);
            }
            found.push(Found {
                id: thread.label.id.get(),
                name: thread.label.name().cloned(),
                kind: thread.kind,
                worker: self.remote.index,
                spawn_site: thread.spawn_site(),
                wait: wait_of(thread),
                polls: None,
                future: None,
                count: 1,
                stack,
            });
        }
        self.add_parasites(&mut found);
        self.shared.survey.answers.answer(question, self.remote.index, found);
    }
}
