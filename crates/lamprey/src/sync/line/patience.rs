//! How long a thread spins for a lock that is held, before it waits in line.
//!
//! A lock that is held for some instructions at a time is free sooner than a thread can be queued, woken from
//! another worker and switched to (two microseconds and more). One whose holder blocks is not, and a thread
//! that spins for it only keeps its worker from running the holder. Who holds a lock is not known, so each
//! line counts whether spinning has paid lately, as glibc's adaptive mutexes do.
//!
//! # Who may touch what
//! The count: any thread, Relaxed. It is a hint: a lost change costs a few spins.
//!
//! # Rejected
//! * A constant number of spins: hosts that yield while they hold one of 8 mutexes (`sysbench_threads`) spin
//!   microseconds for each lock with what is right for hosts that add under one (`mutex`).
//! * Halving the count at each spin in vain: five philosophers, whose forks are held by hosts that run as
//!   often as by hosts that wait for the other fork, then queue for nearly each meal.
//! * The holder's host in the lock, to see whether it runs: two stores for each lock.
//!
//! # Checked by
//! `bench` (`mutex`, `sysbench_threads`, `savina_philosophers`). The checker's threads do not spin.

use super::Line;
use super::turns::Turns;
use crate::sched;
use crate::sync_shim::{Ordering, plain::AtomicU8};

/// How many looks may find the lock held; [`LOOK`] for each.
pub(super) struct Patience(AtomicU8);

const LOOK: u8 = 4;
/// Five looks, which take up to 15 us.
const MOST: u8 = 5 * LOOK;
/// What a spin that has paid adds, and one in vain takes: one in four has to pay.
const PAID: u8 = 3;
const IN_VAIN: u8 = 1;
/// Most looks, so that a thread that always comes too late queues, and is handed the lock in the end.
const LOOKS: u32 = 32;

impl Patience {
    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(MOST))
    }

    fn get(&self) -> u8 {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, count: u8) {
        if self.get() != count {
            // Relaxed: a hint.
            self.0.store(count, Ordering::Relaxed);
        }
    }
}

impl<S> Line<S> {
    /// Spins while the line is held, as long as that has paid lately; calls `take` when it seems to be free,
    /// until `take` returns true. False if the caller should wait.
    ///
    /// Does nothing in a runtime with one worker: there the holder is a host that is blocked. (An OS thread
    /// may hold the lock too; the caller then just waits.)
    pub(crate) fn spin(&self, mut take: impl FnMut() -> bool) -> bool {
        if sched::is_alone() || cfg!(loom) {
            return false;
        }
        let patience = self.patience.get();
        let (mut turns, mut held) = (Turns::new(), 0);
        for _ in 0..LOOKS {
            turns.wait();
            if !self.is_held() {
                if take() {
                    turns.end();
                    self.patience.set((patience + PAID).min(MOST));
                    return true;
                }
            } else {
                held += LOOK;
                if held >= patience {
                    self.patience.set(patience.saturating_sub(IN_VAIN));
                    return false;
                }
            }
        }
        false
    }
}
