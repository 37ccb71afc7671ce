//! What an idle worker has seen of the other workers' queues, and how long it dozes
//! ([`steal`](crate::sched::steal)).

use super::linger::Linger;
use super::spin::Spin;
use crate::queue::steal_queue::Look;
use crate::sched::worker_shared::WorkerShared;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest and longest doze (a sleep with a deadline).
const DOZES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(16));

/// What a worker remembers from one look at the other workers to the next.
pub(in crate::sched) struct QueueLooks {
    pub(in crate::sched) looks: Vec<Look>,
    pub(in crate::sched) looked: Option<Instant>,
    pub(in crate::sched) spin: Spin,
    pub(in crate::sched) linger: Linger,
    doze: Duration,
    /// Since when the worker spins because its policy says so.
    pub(in crate::sched) idle_since: Option<Instant>,
}

impl QueueLooks {
    pub(in crate::sched) fn new(workers: usize) -> Self {
        let looks = vec![Look::default(); workers];
        Self {
            looks,
            looked: None,
            spin: Spin::new(),
            linger: Linger::new(),
            doze: DOZES.0,
            idle_since: None,
        }
    }

    /// Remembers the ends of all stealable queues; true if any has an entry.
    pub(in crate::sched) fn look(&mut self, remotes: &[Arc<WorkerShared>], now: Instant) -> bool {
        self.looked = Some(now);
        let mut any = false;
        for (look, remote) in self.looks.iter_mut().zip(remotes) {
            *look = remote.unstarted.look();
            any |= look.head != look.tail;
        }
        any
    }

    /// The length of the next doze; doubles each time.
    pub(in crate::sched) fn next_doze(&mut self) -> Duration {
        let doze = self.doze;
        self.doze = (doze * 2).min(DOZES.1);
        doze
    }

    /// The worker found work: the next doze is short again.
    pub(in crate::sched) fn refresh(&mut self) {
        self.doze = DOZES.0;
        self.looked = None;
        self.idle_since = None;
    }
}
