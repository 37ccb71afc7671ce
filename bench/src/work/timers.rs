//! The state that the sleepers share, and their deadlines.

use crate::harness::Sample;
use anyhow::{Result, ensure};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A timeout that never expires.
pub const NEVER: Duration = Duration::from_secs(3600);

/// Rounds of the ping-pong beside `sleepers`.
pub fn rounds(sleepers: u64) -> u64 {
    sleepers / 10
}

/// The deadlines are spread over this many nanoseconds.
const SPREAD: u64 = 10_000_000;

/// The sleepers' common state. The counts order nothing, and only the worker that writes them reads them:
/// Relaxed throughout.
pub struct Crowd {
    size: u64,
    origin: Instant,
    /// Nanoseconds from `origin` to the first deadline.
    deadline: AtomicU64,
    started: AtomicU64,
    armed: AtomicU64,
    fired: AtomicU64,
}

impl Crowd {
    /// A crowd of `size` sleepers, none of which has started.
    pub fn new(size: u64) -> Self {
        let [deadline, started, armed, fired] = [const { AtomicU64::new(0) }; 4];
        Self { size, origin: Instant::now(), deadline, started, armed, fired }
    }

    /// A sleeper is about to wait for the gate.
    pub fn started(&self) {
        // Relaxed: it orders nothing.
        self.started.fetch_add(1, Relaxed);
    }

    /// Whether all sleepers wait for the gate.
    pub fn all_started(&self) -> bool {
        // Relaxed: it orders nothing.
        self.started.load(Relaxed) == self.size
    }

    /// Opens the gate. 5 us for each sleeper is enough to arm all of them.
    pub fn begin(&self) -> Instant {
        let now = Instant::now();
        let ahead = Duration::from_millis(200) + Duration::from_micros(5) * self.size as u32;
        let deadline = (now + ahead).duration_since(self.origin);
        // Relaxed: it orders nothing.
        self.deadline.store(deadline.as_nanos() as u64, Relaxed);
        now
    }

    fn deadline(&self) -> Instant {
        // Relaxed: it orders nothing.
        self.origin + Duration::from_nanos(self.deadline.load(Relaxed))
    }

    /// The time that sleeper `i` sleeps from now.
    pub fn arm(&self, i: u64) -> Duration {
        // Relaxed: it orders nothing.
        self.armed.fetch_add(1, Relaxed);
        // Multiplying by a large odd number scatters neighbours over the spread.
        let jitter = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % SPREAD;
        (self.deadline() + Duration::from_nanos(jitter)).saturating_duration_since(Instant::now())
    }

    /// Whether all sleepers are asleep (the last one perhaps not yet).
    pub fn all_armed(&self) -> bool {
        // Relaxed: it orders nothing.
        self.armed.load(Relaxed) == self.size
    }

    /// Fails if the first deadline has passed, because the figures would then overlap.
    pub fn still_armed(&self) -> Result<()> {
        ensure!(
            Instant::now() < self.deadline(),
            "arming and cancelling took longer than the sleepers slept"
        );
        Ok(())
    }

    /// A sleeper has woken. For the last one, returns the time.
    pub fn fired(&self) -> Option<Instant> {
        // Relaxed: it orders nothing.
        (self.fired.fetch_add(1, Relaxed) + 1 == self.size).then(Instant::now)
    }

    /// The samples: `cancels` is the time of the ping-pong, `last` the time at which the last sleeper woke.
    pub fn samples(&self, armed: Duration, cancels: Duration, last: Instant) -> Vec<Sample> {
        let fired = last.saturating_duration_since(self.deadline());
        vec![
            Sample::ns_each("arm", armed, self.size),
            Sample::ns_each("cancel", cancels, rounds(self.size) * 2),
            Sample::ns_each("fire", fired, self.size),
        ]
    }
}
