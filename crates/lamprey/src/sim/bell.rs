//! How a worker that is sent a message calls the simulation.

use super::outsiders;
use super::ready::WorkerId;
use crate::sched::source::{Notifier, Source};
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicBool, Ordering};
use crate::world;
use std::sync::{Arc, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a simulation in which all threads wait looks for messages from outside.
const PATIENCE: Duration = Duration::from_millis(5);
/// The same where a kernel thread outside is about to run that may send the first one.
const FIRST: Duration = Duration::from_secs(1);
/// The same where there have been some before.
const FURTHER: Duration = Duration::from_secs(5);

std::thread_local! {
    /// Its address tells kernel threads apart, at less cost than `std::thread::current` does.
    static MARK: u8 = const { 0 };
}

/// The calling kernel thread.
fn here() -> usize {
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// The workers that have been sent messages.
pub(super) struct Called {
    any: AtomicBool,
    workers: Mutex<Vec<WorkerId>>,
    /// The kernel thread of the simulation.
    home: Thread,
    /// What [`here`] returns there.
    mark: usize,
    /// When the simulation began, by the system's clock.
    begin: Instant,
    /// Another kernel thread has sent a message.
    outside: AtomicBool,
}

impl Called {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            any: AtomicBool::new(false),
            workers: Mutex::default(),
            home: thread::current(),
            mark: here(),
            begin: Instant::now(),
            outside: AtomicBool::new(false),
        })
    }

    /// True if workers have been sent messages since the last [`exchange`](Self::exchange).
    pub(super) fn is_any(&self) -> bool {
        // Acquire pairs with the Release store in `ring`. (What the messages say is ordered by their inbox.)
        self.any.load(Ordering::Acquire)
    }

    /// Takes the workers that have been sent messages since the last call, and leaves an empty list for the next ones.
    pub(super) fn exchange(&self, empty: Vec<WorkerId>) -> Vec<WorkerId> {
        // Relaxed: under the lock that follows, or a call that comes later sets it again.
        self.any.store(false, Ordering::Relaxed);
        std::mem::replace(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner), empty)
    }

    /// Waits, by the system's clock, for a message from another kernel thread; false if none comes.
    pub(super) fn wait(&self) -> bool {
        world::apart(|| {
            let begin = Instant::now();
            // Acquire pairs with the Release store in `ring`.
            while !self.any.load(Ordering::Acquire) {
                if begin.elapsed() >= self.patience(begin) {
                    return false;
                }
                thread::park_timeout(PATIENCE);
            }
            true
        })
    }

    /// How long a wait that has begun then lasts.
    fn patience(&self, begin: Instant) -> Duration {
        // Relaxed: the thread that has sent a message may still run.
        if self.outside.load(Ordering::Relaxed) {
            FURTHER
        } else if begin.elapsed() >= PATIENCE && outsiders::are_starting(self.begin) {
            FIRST
        } else {
            PATIENCE
        }
    }

    /// True once: another kernel thread has sent a message since the last call.
    pub(super) fn was_outside(&self) -> bool {
        // Relaxed: a flag for a message to the user.
        self.outside.swap(false, Ordering::Relaxed)
    }

    fn ring(&self, worker: WorkerId) {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        // Release pairs with the Acquire load in `take`.
        self.any.store(true, Ordering::Release);
        if here() != self.mark {
            // Relaxed: a flag for a message to the user.
            self.outside.store(true, Ordering::Relaxed);
            self.home.unpark();
        }
    }
}

/// The source in which a virtual worker would sleep: it only has the notifier.
pub(super) struct Bell {
    pub(super) called: Arc<Called>,
    pub(super) worker: WorkerId,
}

impl Source for Bell {
    fn poll(&mut self) {}

    fn active(&self) -> bool {
        false
    }

    fn wait(&mut self, _timeout: Option<Duration>) {}

    fn notifier(&self) -> Option<Notifier> {
        let (called, worker) = (self.called.clone(), self.worker);
        Some(Notifier::new(move || called.ring(worker)))
    }
}
