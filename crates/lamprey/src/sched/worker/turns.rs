//! Calls that did not have to wait, counted ([`coop`](crate::sched::coop)).

use crate::sched::thread::Thread;
use crate::time::clock;
use std::cell::Cell;
use std::time::Duration;

pub(in crate::sched) const CALLS: u32 = 64;
/// How long a thread makes such calls without a scheduling point.
pub(in crate::sched) const LIMIT: Duration = Duration::from_micros(200);
/// How often in a row somebody tries in vain, and for how long, before it counts as waiting.
pub(in crate::sched) const TRIES: u32 = 64;
pub(in crate::sched) const TRY_LIMIT: Duration = Duration::from_millis(2);

/// What a worker counts, and what it has seen at the last look at the clock.
#[derive(Debug)]
pub(in crate::sched) struct Turns {
    /// What calls may still weigh until one looks at the clock.
    pub(in crate::sched) calls: Cell<u32>,
    /// Tries in vain until one looks at the clock.
    pub(in crate::sched) tries: Cell<u32>,
    /// What calls might weigh until this look.
    pub(in crate::sched) window: Cell<u32>,
    /// Who has looked since the root ran, how many scheduling points were left then until it is due, and
    /// when that was.
    pub(in crate::sched) looker: Cell<(*const Thread, u32)>,
    pub(in crate::sched) looked: Cell<u64>,
    /// [`LIMIT`] in ticks.
    pub(in crate::sched) limit: u64,
}

impl Turns {
    pub(in crate::sched) fn new() -> Self {
        let limit = clock::in_ticks(LIMIT);
        let looker = Cell::new((std::ptr::null(), 0));
        Self { calls: 1.into(), tries: TRIES.into(), window: 1.into(), looker, looked: 0.into(), limit }
    }
}
