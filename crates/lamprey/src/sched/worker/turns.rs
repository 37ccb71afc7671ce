//! Counts of calls that did not have to wait, for cooperative yielding ([`coop`](crate::sched::coop)).

use crate::sched::thread::Thread;
use crate::time::clock;
use std::cell::Cell;
use std::time::Duration;

/// Largest weight of calls between two looks at the clock.
pub(in crate::sched) const CALLS: u32 = 64;
/// How long a thread may make such calls without a scheduling point.
pub(in crate::sched) const LIMIT: Duration = Duration::from_micros(200);
/// How many tries in vain in a row, and then for how long, count as waiting.
pub(in crate::sched) const TRIES: u32 = 64;
pub(in crate::sched) const TRY_LIMIT: Duration = Duration::from_millis(2);
/// How many looks at a simulation's clock count as one look.
pub(in crate::sched) const CLOCK_LOOKS: u32 = 256;
/// How long a thread that is to yield may go on because it holds a lock.
pub(in crate::sched) const LOCK_LIMIT: Duration = Duration::from_millis(2);

/// The counters, and what the last look at the clock found.
#[derive(Debug)]
pub(in crate::sched) struct Turns {
    /// Weight of calls left until the next look at the clock.
    pub(in crate::sched) calls: Cell<u32>,
    /// Tries and looks left, of two rounds of [`TRIES`]. At the end of the first the time is noted; the second is
    /// repeated.
    pub(in crate::sched) tries: Cell<u32>,
    /// The end of the first round of tries, in ticks.
    pub(in crate::sched) tried: Cell<u64>,
    /// The thread that tried at that moment, the budget left, and the number of polls before.
    pub(in crate::sched) trier: Cell<(*const Thread, u32, u64)>,
    /// Looks at a simulation's clock left until one counts as a look.
    pub(in crate::sched) clock_looks: Cell<u32>,
    /// Weight of calls between two looks at the clock; doubles at each look, up to [`CALLS`].
    pub(in crate::sched) window: Cell<u32>,
    /// The thread that last looked at the clock since the root ran, and the budget left at that moment.
    pub(in crate::sched) looker: Cell<(*const Thread, u32)>,
    /// When that was, in ticks.
    pub(in crate::sched) looked: Cell<u64>,
    /// What is known of the locks of the running thread, if it is to yield.
    pub(in crate::sched) locks: Cell<Locks>,
    /// [`LIMIT`] in ticks.
    pub(in crate::sched) limit: u64,
}

/// What is known of the locks of a thread that is to yield.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sched) enum Locks {
    Unknown,
    /// It holds one that it took when its time was over, at this tick.
    HeldSince(u64),
    /// It has released that one.
    Released,
}

impl Turns {
    pub(in crate::sched) fn new() -> Self {
        let limit = clock::in_ticks(LIMIT);
        Self {
            calls: 1.into(),
            tries: (2 * TRIES).into(),
            tried: 0.into(),
            trier: Cell::new((std::ptr::null(), 0, 0)),
            clock_looks: CLOCK_LOOKS.into(),
            window: 1.into(),
            looker: Cell::new((std::ptr::null(), 0)),
            looked: 0.into(),
            locks: Cell::new(Locks::Unknown),
            limit,
        }
    }
}
