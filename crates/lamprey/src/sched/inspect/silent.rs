//! A watchdog: reports on standard error which thread holds up a worker that others wait for, with its stack. A program
//! that is slow or hangs for this reason shows nothing else.
//!
//! The [ticker](crate::sched::ticker) looks at the workers' counters four times in
//! [`Options::stuck_after`](crate::sched::shared::Options), while some worker is awake. A worker that is awake, and whose counters do not change, is held
//! up when its kernel thread has computed or slept for long enough ([`hold`]), and something waits for it ([`waiting`]). The
//! helpers of its sources are called, so that wakes that are due there count, and its kernel thread is asked by a
//! [signal](super::stuck) which thread runs, where, and what is ready. The signal interrupts system calls that do not restart, so
//! it is sent ever more rarely: after one time the limit, two times, four times, and so on.
//!
//! A thread that computes is not reported while nothing waits for its worker. One that waits for a lock is, after a while, if the
//! worker has other threads, which may hold it. No place is reported twice ([`said`]), but once more if it lasts.
//!
//! | file | content |
//! |---|---|
//! | `hold` | for how long a worker is held |
//! | `waiting` | what waits for it |
//! | `said` | what has been reported |
//! | `report` | the text |
//! | `blocking_call` | the call of `std` or C that the thread waits in, and what to take instead |
//!
//! # Rejected
//! * The time on the clock: on a loaded machine the kernel lets a thread wait for tens of milliseconds, and more in a debugger.
//! * A count of switches in each worker's shared state: a store for each switch, for a message that most programs never see.
//!
//! # Checked by
//! `tests/sched/silent.rs`, `tests/programs/broken.rs`.

mod blocking_call;
mod hold;
mod report;
mod said;
mod waiting;

use super::stuck::{Look, look};
use crate::kernel::tasks;
use crate::sched::shared::Shared;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use hold::Hold;
use report::{Report, Span};
use said::{Said, Why};
use std::time::{Duration, Instant};
use waiting::Waiting;

/// How long a kernel thread has to answer the signal.
const ANSWER: Duration = Duration::from_millis(200);
/// How many times the limit a thread waits for a lock, or does not answer, until that is reported.
const PATIENCE: u32 = 8;
/// A kernel thread that has slept for so long is looked at as rarely as one of a worker that sleeps.
const GIVEN_UP: Duration = Duration::from_secs(2);

/// What the ticker remembers between two checks.
#[derive(Debug)]
pub(in crate::sched) struct StuckWatch {
    of: Vec<Hold>,
    said: Said,
    limit: Duration,
}

impl StuckWatch {
    pub(in crate::sched) fn new(shared: &Shared) -> Self {
        let limit = shared.options.stuck_after;
        let of = shared.remotes().iter().map(|_| Hold::new(limit)).collect();
        Self { of, said: Said::default(), limit }
    }

    /// Checks all workers of `shared`.
    pub(in crate::sched) fn look(&mut self, shared: &Shared) {
        // Relaxed: a hint. In a runtime that ends `Runtime::shutdown` reports the threads that do not end.
        if shared.stopping.load(Ordering::Relaxed) || self.limit == Duration::MAX {
            return;
        }
        #[cfg(debug_assertions)]
        if super::blocked_poll::is_reporting() {
            return self.of.iter_mut().for_each(|hold| *hold = Hold::new(self.limit));
        }
        for (hold, remote) in self.of.iter_mut().zip(shared.remotes()) {
            if !hold.goes_on(remote, self.limit) || !may_hold_up(remote, &Waiting::seen(remote)) {
                continue;
            }
            if hold.is_to_be_asked(self.limit) {
                // The handler makes the worker run its root at the next scheduling point, which counts.
                look(remote.tid(), None, Instant::now() + ANSWER);
            } else if hold.is_due() {
                inspect(shared, remote, hold, self.limit, &mut self.said);
            }
        }
    }

    /// How many workers have a thread that has slept in the kernel for long: they need no ticks.
    pub(in crate::sched) fn given_up(&self) -> usize {
        self.of.iter().filter(|hold| hold.sleeps() && hold.since() >= GIVEN_UP).count()
    }
}

/// True if there may be a thread that waits for the worker beside the one that runs.
fn may_hold_up(remote: &WorkerShared, waiting: &Waiting) -> bool {
    // Relaxed (both): hints.
    waiting.is_any() || remote.hosts.load(Ordering::Relaxed) > 1 || remote.has_placed.load(Ordering::Relaxed)
}

/// Finds out which thread runs on the worker and what waits for it, and reports that.
#[cold]
fn inspect(shared: &Shared, remote: &WorkerShared, hold: &Hold, limit: Duration, said: &mut Said) {
    let mut walker = shared.survey.code().walker();
    let is_long = hold.held() >= limit.saturating_mul(PATIENCE);
    let (mut found, behind) = match look(remote.tid(), Some(&mut walker), Instant::now() + ANSWER) {
        Look::Computes(found, behind) => (found.into_iter(), behind),
        Look::Silent if is_long => return say_silent(remote, hold, said),
        Look::Silent | Look::Schedules => return,
    };
    let Some(thread) = found.next() else { return };
    let others: Vec<_> = found.collect();
    // After the signal, which makes the kernel complete what the ring has in flight.
    let waiting = Waiting::all(remote, &behind, &others);
    let sleeps = hold.sleeps();
    let why = match waiting.is_any() {
        true => Why::Awaited,
        false if is_long && sleeps && others.iter().any(|other| other.wait.is_some()) => Why::MayHaveTheLock,
        false => return,
    };
    // Of a thread that sleeps, its stack; of one that computes, which is somewhere else each time, its origin.
    let stack = if sleeps { &*thread.stack } else { &[] };
    let place = (thread.spawn_site, thread.polls.map(|polled| polled.name), stack);
    if said.is_new(why, &place, hold.held()) {
        let runtime = shared.address();
        Report { why, thread, runtime, since: hold.since(), sleeps, waiting, others }.print_beside();
    }
}

/// Reports a worker whose kernel thread does not answer the signal, if it is known why: it may only have no processor.
fn say_silent(remote: &WorkerShared, hold: &Hold, said: &mut Said) {
    let (waiting, tid) = (Waiting::seen(remote), remote.tid());
    let why = if tasks::blocks(tid, libc::SIGURG) {
        "it blocks SIGURG"
    } else if tasks::of(tid).and_then(|task| task.state()) == Some('D') {
        "it is in a system call that no signal interrupts"
    } else {
        return;
    };
    if waiting.is_any() && said.is_new_silence(remote.index) {
        crate::bug::say!(
            "worker {} has been held up for {} by a thread that does not answer: {why} (kernel thread {tid}). Behind it waits {waiting}.",
            remote.index,
            Span(hold.since()),
        );
    }
}
