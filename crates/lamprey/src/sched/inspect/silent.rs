//! A watchdog: reports once on standard error which thread holds up a worker that others wait for. A program
//! that hangs for this reason shows nothing else.
//!
//! The [ticker](crate::sched::ticker) checks each worker now and then. A worker that is awake and has neither
//! been at its root nor run a woken parasite for [`Options::stuck_after`](crate::sched::shared::Options) is
//! held up. The helpers of its sources are called, so that wakes that are due there count, and its kernel
//! thread is asked by a [signal](super::stuck) which thread runs and which are ready. The signal interrupts
//! system calls that do not restart, so it is sent ever more rarely: after one time the limit, two times,
//! four times, and so on.
//!
//! A thread that computes is not reported while no other waits for its worker; nor is a spawn site that has
//! been reported before.

use super::found::Found;
use super::stuck::{Look, look};
use crate::sched::shared::{Options, Shared};
use crate::sched::source::Helper;
use crate::sched::thread::Kind;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::ptr;
use std::time::{Duration, Instant};

/// The shortest time between two signals to one kernel thread.
const SHORTEST: Duration = Duration::from_millis(10);
/// How long a kernel thread has to answer the signal.
const ANSWER: Duration = Duration::from_secs(1);

/// The counters of a worker as the ticker saw them last.
#[derive(Debug, Clone, Copy)]
struct Progress {
    rounds: u64,
    attached: u64,
    since: Instant,
    /// When it is inspected next, as a time after `since`.
    next: Duration,
}

/// What the ticker remembers between two checks.
#[derive(Debug)]
pub(in crate::sched) struct StuckWatch {
    of: Vec<Progress>,
    /// The spawn sites of threads, and names of parasites, that have been reported.
    named: Vec<*const ()>,
}

impl StuckWatch {
    pub(in crate::sched) fn new(shared: &Shared) -> Self {
        let next = shared.options.stuck_after;
        let sight = Progress { rounds: 0, attached: 0, since: Instant::now(), next };
        Self { of: vec![sight; shared.remotes().len()], named: Vec::new() }
    }

    /// Checks all workers of `shared`.
    pub(in crate::sched) fn look(&mut self, shared: &Shared) {
        // Relaxed: a hint. In a runtime that ends `Runtime::shutdown` reports the threads that do not end.
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        let (sights, named) = (&mut self.of, &mut self.named);
        for (sight, remote) in sights.iter_mut().zip(shared.remotes()) {
            if !sight.is_due(remote, &shared.options) {
                continue;
            }
            let Some((thread, others)) = who_holds_up(remote) else { continue };
            let origin = origin(&thread);
            if !named.contains(&origin) {
                named.push(origin);
                say(&thread, others, sight.since.elapsed());
            }
        }
    }
}

/// The key under which a thread is reported once only.
fn origin(thread: &Found) -> *const () {
    let polled = thread.polls.map(|polled| polled.name.as_ptr().cast());
    polled.unwrap_or_else(|| thread.spawn_site.map_or(ptr::null(), |site| ptr::from_ref(site).cast()))
}

impl Progress {
    /// True if the worker's counters have not changed for so long that it must be inspected.
    fn is_due(&mut self, remote: &WorkerShared, options: &Options) -> bool {
        let (rounds, attached) = (remote.counters.rounds.get(), remote.counters.attached.get());
        let is_same = (rounds, attached) == (self.rounds, self.attached);
        if !is_same || remote.parking.is_asleep() {
            *self = Self { rounds, attached, since: Instant::now(), next: options.stuck_after };
            return false;
        }
        let is_due = self.since.elapsed() >= self.next;
        if is_due {
            self.next = self.next.saturating_mul(2).max(SHORTEST);
        }
        is_due
    }
}

/// The thread that runs on a worker and the number of others that are ready there, if any work waits for the
/// worker.
fn who_holds_up(remote: &WorkerShared) -> Option<(Found, usize)> {
    remote.helpers.get().into_iter().flatten().for_each(Helper::help);
    // Relaxed: a number; a stale one names a kernel thread that is no worker.
    let tid = remote.tid.load(Ordering::Relaxed);
    let Look::Computes(found, is_overdue) = look(tid, None, Instant::now() + ANSWER) else { return None };
    let mut found = found.into_iter();
    let running = found.next()?;
    let ready = found.filter(|thread| thread.wait.is_none() && thread.kind != Kind::Root).count();
    let is_awaited = is_overdue
        || ready != 0
        || !remote.inbox.is_empty()
        || !remote.unstarted.is_empty()
        || remote.ready.count() != 0;
    is_awaited.then_some((running, ready))
}

fn say(thread: &Found, others: usize, since: Duration) {
    let others = match others {
        0 => "others wait".to_owned(),
        1 => "another thread waits".to_owned(),
        _ => format!("{others} others wait"),
    };
    crate::bug::say!(
        "worker {} has been held up for {:.1} s by {thread}: {others} for it. What computes for long calls lamprey::yield_now now and \
         then; a call that waits in the system belongs into lamprey::block; and if it waits for a lock of `std` that another thread of this worker \
         holds across a call of lamprey, take one of lamprey::sync",
        thread.worker,
        since.as_secs_f64(),
    );
}
