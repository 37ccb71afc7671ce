//! Work stealing: an idle worker watches the others' unstarted hosts and steals what has waited too long.
//!
//! # Why by watching
//! Only unstarted hosts can be stolen, and only those that have waited longer than a steal costs, so that
//! hosts that are spawned together and communicate stay together. The thief finds the age itself: it
//! remembers where the queue ended and comes back [`PATIENCE`] later; an entry from before that is still
//! there has waited at least that long. The owner keeps no time and answers nothing.
//!
//! # States of a worker without work
//! ```text
//! watching (spins up to PATIENCE) --nothing--> dozing (1, 2, 4 .. 16 ms) --others awake--> watching
//!                                                   \--all others asleep--> idle (no deadline)
//! idle --a host is spawned somewhere--> watching      any --inbox, event--> working
//! ```
//! One of the dozing workers is [on watch](super::watch) for everything else that can run.
//!
//! How long a worker spins for a message before it sleeps depends on whether spinning has paid lately: not at all (a
//! worker that waits for sockets), or for as long as a few wakes take (two workers whose hosts communicate;
//! [`spin`](super::worker::spin)).
//!
//! # Invariants
//! 1. `Shared::awake` counts the workers that are neither dozing nor idle; `Shared::idle` those whose
//!    `WorkerShared::idle` is set. The thread that clears a worker's `idle` lowers the count.
//! 2. While any worker is awake, every other one looks at its queue at least every 16 ms; when all sleep, all
//!    queues are empty (a worker does not sleep while its own queue has an entry).
//!
//! # Orderings
//! A worker that goes idle raises `idle` and then looks at `awake`; one that wakes up raises `awake` and
//! then, when it spawns, looks at `idle`: see [`idle`]. All other accesses are Relaxed hints: a missed one
//! costs at most one doze (invariant 2). Entries are stolen under the queue's own protocol
//! ([`steal_queue`](crate::queue::steal_queue)).

use super::idle;
use super::policy::Idle;
use super::shared::Shared;
use super::waiter::Waiter;
use super::worker::Worker;
use super::worker::looks::QueueLooks;
use super::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use std::time::{Duration, Instant};

/// How long an unstarted host must have waited before it may be stolen: about what a steal costs.
const PATIENCE: Duration = Duration::from_micros(50);

/// How long a worker spins before it lets other kernel threads run in between. The kernel may have put the one that is to
/// answer on this CPU although another is idle, and then leaves it there for some 50 ms (Linux 6.18, two virtual CPUs).
const ALONE: Duration = Duration::from_micros(2);

/// How long a worker spins for its policy before it looks at its sources.
const SLICE: Duration = Duration::from_micros(20);

/// Most hosts taken at once.
const BATCH: usize = 256;

impl Worker {
    /// Spins and looks for work on other workers; true if there may be some now.
    pub(super) fn look_for_work(&self) -> bool {
        // SAFETY: only the root reaches the watch, one call at a time.
        let watch = unsafe { &mut *self.watch.get() };
        match self.policy.idle() {
            Idle::LookForWork => {}
            Idle::Spin(time) if !self.stopping.get() => return self.spin_for_policy(watch, time),
            Idle::Spin(_) | Idle::Sleep => return false,
        }
        // Relaxed: a hint (see Orderings).
        let others_awake = self.shared.awake.load(Ordering::Relaxed) > 1;
        if self.stopping.get()
            || self.watching.appointed.get()
            || (!others_awake && watch.spin.next().is_zero())
        {
            return false;
        }
        let start = Instant::now();
        if others_awake && self.steal_aged(watch, start) {
            return true;
        }
        let promising = others_awake && watch.look(self.shared.remotes(), start);
        let asked = others_awake && self.ask_for_offers();
        let least = if asked { super::parasite::offer::PATIENCE } else { Duration::ZERO };
        let until = start + if promising { PATIENCE + PATIENCE / 4 } else { watch.spin.next().max(least) };
        // Its request for parasites stays while it dozes: a worker that computes for long answers late.
        let (found, waited) = self.spin(start, until);
        if found {
            watch.spin.paid(waited);
            return true;
        }
        watch.spin.failed(waited);
        promising && self.steal_aged(watch, Instant::now())
    }

    /// Spins for a while, because the program's policy says so; false once it has done that for `time`. In between the
    /// worker looks at its sources.
    #[cold]
    fn spin_for_policy(&self, watch: &mut QueueLooks, time: Duration) -> bool {
        let now = Instant::now();
        let end = watch.idle_since.get_or_insert(now).checked_add(time);
        if end.is_some_and(|end| now >= end) {
            watch.idle_since = None;
            return false;
        }
        let slice = now + SLICE;
        self.spin(now, end.map_or(slice, |end| slice.min(end)));
        true
    }

    /// Spins for a message; true if one has come, and for how long, roughly. A spin that lasts lets other kernel
    /// threads run meanwhile: who is to answer may be one of them.
    fn spin(&self, start: Instant, until: Instant) -> (bool, Duration) {
        let mut now = start;
        loop {
            for _ in 0..32 {
                if !self.remote.inbox.is_empty() {
                    return (true, now - start);
                }
                std::hint::spin_loop();
            }
            now = Instant::now();
            if now >= until {
                return (false, now - start);
            }
            if now - start >= ALONE {
                std::thread::yield_now();
            }
        }
    }

    /// Steals half of what was already waiting at the last look, if that was at least [`PATIENCE`] ago.
    fn steal_aged(&self, watch: &mut QueueLooks, now: Instant) -> bool {
        if watch.looked.is_none_or(|looked| now.duration_since(looked) < PATIENCE) {
            return false;
        }
        let mut taken = Vec::new();
        let remotes = self.shared.remotes();
        // Begins with the next worker by index, so that not all thieves go to the same one.
        for at in (1..remotes.len()).map(|step| (self.remote.index + step) % remotes.len()) {
            let (remote, earlier) = (&remotes[at], watch.looks[at]);
            let head = remote.unstarted.look().head;
            if earlier.tail.wrapping_sub(head) as isize > 0 {
                remote.unstarted.steal(earlier, BATCH, |entry| taken.push(entry));
            }
            if !taken.is_empty() {
                self.remote.counters.stolen.add(taken.len() as u64);
                // SAFETY: stolen, so owned by this worker.
                taken.iter().for_each(|entry| self.note_stolen(unsafe { entry.0.as_ref() }, remote.index));
                break;
            }
        }
        for entry in &taken {
            // SAFETY: stolen from the victim's queue: unstarted, and owned by this worker.
            unsafe { self.receive(Waiter::thread(entry.0)) };
        }
        !taken.is_empty()
    }
}

impl Shared {
    /// Called when a host has been queued: wakes one idle worker to look for work.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn ask_for_help(&self) {
        if idle::is_somebody(&self.idle) {
            self.wake_idle();
        }
    }

    #[cold]
    fn wake_idle(&self) {
        if let Some(remote) = self.remotes().iter().find(|remote| self.claim_idle(remote)) {
            remote.notify();
        }
    }

    /// Clears a worker's `WorkerShared::idle`; true if it was set.
    pub(super) fn claim_idle(&self, remote: &WorkerShared) -> bool {
        idle::claim(&remote.idle, &self.idle)
    }
}
