//! The source that works a worker's timer wheel.
//!
//! A tick is 2^16 ns (65.5 us): deadlines are rounded up to whole ticks, so that nothing ever fires early.
//!
//! Invariant: `WHEEL` points to the wheel of the calling kernel thread's worker, which lives until all hosts of the
//! worker have ended; a node in it is on the stack of a host that is blocked in [`block_until`].

use super::wheel::{Node, Wheel};
use crate::sched::source::Source;
use crate::sched::thread::Thread;
use crate::sched::worker::Worker;
use crate::sched::{Wait, Woke};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

/// Nanoseconds in a tick, as a power of two.
const TICK: u32 = 16;

thread_local! {
    static WHEEL: Cell<*const Timers> = const { Cell::new(ptr::null()) };
}

/// See the module's text.
pub(crate) struct Timers {
    start: Instant,
    wheel: Wheel<NonNull<Thread>>,
}

/// What a worker owns of its timers, by the same pointer as `WHEEL`; dropping it frees them.
pub(crate) struct TimerSource(NonNull<Timers>);

impl TimerSource {
    /// The timers of the worker that is starting on the calling kernel thread.
    pub(crate) fn new() -> Self {
        let timers =
            NonNull::from(Box::leak(Box::new(Timers { start: Instant::now(), wheel: Wheel::new(0) })));
        WHEEL.set(timers.as_ptr());
        Self(timers)
    }

    fn timers(&self) -> &Timers {
        // SAFETY: leaked by `new`, freed by `drop`; only ever shared.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for TimerSource {
    fn drop(&mut self) {
        WHEEL.set(ptr::null());
        // SAFETY: from `Box::leak`; no host of this worker is left that could use it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Timers {
    /// The first tick at or after `at`.
    fn tick_after(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.start).as_nanos();
        u64::try_from(nanos.div_ceil(1 << TICK)).unwrap_or(u64::MAX)
    }

    /// When `tick` begins.
    fn instant_of(&self, tick: u64) -> Option<Instant> {
        let nanos = tick.checked_mul(1 << TICK)?;
        self.start.checked_add(Duration::from_nanos(nanos))
    }
}

impl Source for TimerSource {
    fn poll(&mut self) {
        let worker = Worker::current().expect("sources are polled on workers");
        let now = (self.timers().start.elapsed().as_nanos() >> TICK) as u64;
        self.timers().wheel.advance(now, |thread| {
            // SAFETY: a linked node's host is in its blocking call (invariant).
            unsafe { worker.interrupt(thread, Woke::TimedOut) };
        });
    }

    fn deadline(&self) -> Option<Instant> {
        self.timers().wheel.next_expiry().and_then(|tick| self.timers().instant_of(tick))
    }

    fn active(&self) -> bool {
        self.timers().wheel.len() > 0
    }
}

/// Blocks the running host of `worker` with a deadline.
#[inline(always)]
pub(super) fn block_until(worker: &Worker, reason: Wait, deadline: Instant) -> Woke {
    // SAFETY: invariant: set for as long as the worker has hosts.
    let timers = unsafe { &*WHEEL.get() };
    let node = Node::new(worker.running());
    // SAFETY: the node is fresh, and is removed below before this frame ends; blocking does not unwind.
    unsafe { timers.wheel.insert(&node, timers.tick_after(deadline)) };
    let woke = worker.block(reason);
    // SAFETY: in this wheel, if in any.
    unsafe { timers.wheel.remove(&node) };
    woke
}
