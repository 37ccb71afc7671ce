//! [`Meter`]: what a worker keeps between the beginning and the end of what it measures.
//!
//! # What begins, and is seen to end
//! A host that becomes ready while the worker records is *marked*: the moment is put into `Thread::on`, which a thread that is ready does
//! not use. The end is the switch to it. By then the recorder may have paused (`record::recorder`), and threads that wait long
//! would be the ones that are missed. So as long as a marked host is ready, or a run that was seen to begin goes on, the worker
//! *watches*: each switch looks at the thread that is next, as it does while it records, but notes nothing and reads the clock only if
//! there is something to measure. Where two threads talk to each other that lasts for one switch. Where it lasts longer there
//! are many that are ready, whose memory is cold, so that a switch costs more anyway.
//!
//! # Invariants
//! 1. `Thread::on` of a thread that is ready has MARKED, or is not looked at. A block overwrites it.
//! 2. `marked` is the number of hosts that are ready, started and marked. Each of them leaves the queue while the worker records or
//!    watches, so its mark is of the last time when it became ready.
//! 3. A mark of another thread may be old. It counts if the thread has not started (it is then the only one), or if the worker has
//!    recorded all the time since.

use crate::sched::parasite::task::Task;
use crate::sched::record::note::Origin;
use crate::sched::thread::Thread;
use crate::time::clock;
use crate::world;
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// In `Thread::on`: the other bits are the moment when it became ready.
const MARKED: usize = 1 << (usize::BITS - 1);
/// Stackless parasites that are ready and remembered.
const TASKS: usize = 64;

/// A worker's measurements under way.
pub(in crate::sched) struct Meter {
    /// Hosts that are ready, started and marked.
    pub(super) marked: Cell<usize>,
    /// When the running thread began to run, and where it comes from; `None` if that was not seen.
    pub(super) run: Cell<Option<(u64, Origin)>>,
    /// Nanoseconds since the time was over of which the timers tell a host just now.
    pub(in crate::sched) late: Cell<u64>,
    /// When the worker last ceased to record.
    pub(super) paused: Cell<u64>,
    /// Ready stackless parasites, each with the moment when it became so; by address.
    tasks: Box<[Cell<(*const Task, u64)>]>,
    /// Nanoseconds in a tick, as a fraction of 2^32.
    rate: u64,
    is_simulated: bool,
}

impl Meter {
    pub(in crate::sched) fn new(is_simulated: bool) -> Self {
        const SECOND: Duration = Duration::from_secs(1);
        let ticks = if is_simulated { SECOND.as_nanos() as u64 } else { clock::in_ticks(SECOND) };
        Self {
            marked: Cell::new(0),
            run: Cell::new(None),
            late: Cell::new(0),
            paused: Cell::new(0),
            tasks: vec![Cell::new((ptr::null(), 0)); TASKS].into(),
            rate: ((SECOND.as_nanos() << 32) / u128::from(ticks.max(1))) as u64,
            is_simulated,
        }
    }

    /// The time, in ticks; of a simulation its own, in nanoseconds.
    pub(in crate::sched) fn now(&self) -> u64 {
        if !self.is_simulated {
            return clock::ticks();
        }
        world::with(|world| world.elapsed()).map_or(0, |elapsed| elapsed.as_nanos() as u64)
    }

    /// So many nanoseconds before a moment.
    pub(super) fn before(&self, nanos: u64, moment: u64) -> u64 {
        let ticks = if self.is_simulated { nanos } else { clock::in_ticks(Duration::from_nanos(nanos)) };
        moment.saturating_sub(ticks)
    }

    /// Nanoseconds from one moment to another; 0 if the clocks of two cores disagree.
    pub(super) fn between(&self, from: u64, to: u64) -> u64 {
        let ticks = to.wrapping_sub(from) as i64;
        ((u128::from(ticks.max(0) as u64) * u128::from(self.rate)) >> 32) as u64
    }

    pub(super) fn has_begun(&self) -> bool {
        self.marked.get() != 0 || self.run.get().is_some()
    }

    pub(super) fn task(&self, task: NonNull<Task>) -> &Cell<(*const Task, u64)> {
        &self.tasks[task.addr().get() / size_of::<Task>().next_power_of_two() % TASKS]
    }
}

/// Marks a thread that is ready.
pub(super) fn mark(thread: &Thread, now: u64) {
    thread.on.set(ptr::without_provenance(now as usize | MARKED));
}

pub(super) fn is_marked(thread: &Thread) -> bool {
    thread.on.get().addr() & MARKED != 0
}

/// Takes the mark of a thread that has one.
pub(super) fn take_mark(thread: &Thread) -> u64 {
    (thread.on.replace(ptr::null()).addr() & !MARKED) as u64
}
