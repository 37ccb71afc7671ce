//! Who is there, and where: looked at by each worker's root for its own threads, in a runtime that ends and
//! does not come to its end.
//!
//! The root reads where a suspended thread goes on from what its switch has saved, copies its stack
//! ([`super::sample`]), and works out the calls from the copy ([`super::unwind`]); the thread does nothing,
//! and needs no room on its stack. A worker that does not answer, because a thread of its computes, is looked
//! at by a signal ([`super::stuck`]). One that does not answer that either is listed itself.
//!
//! # Invariants
//! 1. While the root runs, all started threads of its worker are suspended in `switch_to`.

use super::found::{Found, wait_of};
use super::sample::{Registers, Sample};
use super::stuck::{Look, look};
use super::unwind::Walker;
use crate::sched::seat::Seat;
use crate::sched::shared::Shared;
use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use crate::sync_shim::Ordering;
use std::time::{Duration, Instant};

/// How long workers have to answer before they are looked at, and then again.
const ANSWER: Duration = Duration::from_millis(100);

/// A worker that has run for so long since it was asked, and has not answered, is held up by a thread that
/// computes.
const COMPUTES: Duration = Duration::from_millis(50);

/// So is one that has not answered for so long: its thread sleeps in the kernel, perhaps.
const HELD_UP: Duration = Duration::from_secs(2);

/// How long a survey takes at most. A kernel thread that is ready to run answers as soon as it gets a
/// processor; on a loaded machine that takes a while.
const PATIENCE: Duration = Duration::from_secs(5);

impl Shared {
    /// The threads of workers that do not come to their end, and how many workers those are; nobody only if
    /// there is no worker any more. After [`stop`](Self::stop).
    pub(crate) fn survey(&self) -> (Vec<Found>, usize) {
        let mut walker = self.survey.code().walker();
        let start = Instant::now();
        let asked = self.seats().iter().filter(|seat| !seat.has_ended());
        let missing: Vec<_> = asked.map(|seat| (seat, seat.has_run_for())).collect();
        self.survey.answers.ask();
        for seat in self.seats() {
            seat.notify();
        }
        let all = self.survey.answers.await_all(
            missing,
            ANSWER,
            |(seat, _)| seat.index,
            |found| found.worker,
            |(seat, before)| seat.look(&mut walker, start, *before),
        );
        if !all.is_empty() {
            return (all, self.alive());
        }
        // A worker without a started thread: its end takes long, or what its threads leave behind starts
        // others again and again.
        let workers = self.await_end(Some(start + PATIENCE));
        let left = self.seats().iter().filter(|seat| workers > 0 && !seat.has_ended());
        (left.map(|seat| seat.itself()).collect(), workers)
    }
}

impl Seat {
    /// The worker has none of its threads left.
    fn has_ended(&self) -> bool {
        // Relaxed: a number that nothing else goes by.
        self.tid.load(Ordering::Relaxed) == 0
    }

    /// For how long its kernel thread has had a processor.
    fn has_run_for(&self) -> Duration {
        // Relaxed: as above.
        let tid = self.tid.load(Ordering::Relaxed);
        // The kernel's number for the clock of a thread: CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED.
        let clock = (!tid << 3) | 6;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes `time`; a thread that is gone gives an error.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    /// What can be found out of a worker that has not answered since `start`, when it had run for `before`;
    /// `None` if it may still answer.
    fn look(&self, walker: &mut Walker<'_>, start: Instant, before: Duration) -> Option<Vec<Found>> {
        if self.has_ended() {
            return Some(Vec::new());
        }
        // Relaxed: a number; one that is out of date is of a thread without a worker.
        let found = look(self.tid.load(Ordering::Relaxed), Some(walker), start + PATIENCE);
        let had = self.has_run_for().saturating_sub(before);
        match found {
            Look::Computes(found, _) if had >= COMPUTES || start.elapsed() >= HELD_UP => Some(found),
            Look::Computes(..) => None,
            Look::Schedules if start.elapsed() < PATIENCE => None,
            Look::Schedules | Look::Silent => Some(vec![self.itself()]),
        }
    }

    /// For a worker that answers nothing.
    fn itself(&self) -> Found {
        Found {
            id: 0,
            name: None,
            kind: Kind::Root,
            worker: self.index,
            spawn_site: None,
            wait: None,
            polls: None,
            stack: Vec::new(),
        }
    }
}

impl Worker {
    /// On the root of a runtime that ends: answers the survey, once.
    #[cold]
    pub(in crate::sched) fn answer_survey(&self) {
        if !self.shared.survey.answers.is_asked() || self.surveyed.replace(true) {
            return;
        }
        let mut found = Vec::new();
        let mut walker = self.shared.survey.code().walker();
        let mut sample = Sample::boxed();
        let mut host = self.newest.get();
        // SAFETY: listed hosts are alive until they end, which none does while the root runs.
        while let Some(thread) = unsafe { host.as_ref() } {
            host = thread.older.get();
            // SAFETY: invariant 1: saved by a switch, and not resumed while we look.
            sample.take(unsafe { Registers::suspended(thread.sp.get()) });
            found.push(Found {
                id: thread.label.id.get(),
                name: thread.label.name.clone(),
                kind: thread.kind,
                worker: self.seat.index,
                spawn_site: thread.spawn_site(),
                wait: wait_of(thread),
                polls: None,
                stack: walker.walk(&sample),
            });
        }
        self.shared.survey.answers.answer(self.seat.index, found);
    }
}
