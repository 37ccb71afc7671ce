//! The event source of timers: a worker's two timer wheels, one for the deadlines of its blocked hosts, one
//! for futures ([`alarms`](crate::time::alarms)).
//!
//! Invariant: `WHEEL` points to the timers of the calling kernel thread's worker, which live until all hosts
//! of the worker have ended; a node in `wheel` is on the stack of a thread that is in [`block_until`] or
//! [`with_level`].

use super::cancel::Frame;
use super::reason::On;
use super::source::{Helper, Source};
use super::thread::Thread;
use super::thread::Woke;
use super::wakers;
use super::worker::Worker;
use crate::time::alarms::Alarms;
use crate::time::ticks::Ticks;
use crate::time::wheel::{Node, Wheel};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Instant;

thread_local! {
    static WHEEL: Cell<*const Timers> = const { Cell::new(ptr::null()) };
}

/// The timers of one worker.
pub(crate) struct Timers {
    ticks: Ticks,
    wheel: Wheel<Due>,
    alarms: Arc<Alarms>,
}

/// What to do when a node of the wheel is due.
#[derive(Clone, Copy)]
enum Due {
    /// Interrupt the thread's block.
    Block(NonNull<Thread>),
    /// Cancel a level of the thread.
    Level(NonNull<Frame>, NonNull<Thread>),
}

/// The worker's owner of its timers, through the same pointer as `WHEEL`; dropping it frees them.
pub(crate) struct TimerSource(NonNull<Timers>);

impl TimerSource {
    /// The timers of the worker that is starting on the calling kernel thread.
    pub(crate) fn new() -> Self {
        let ticks = Ticks::from_now();
        let timers = Timers { ticks, wheel: Wheel::new(0), alarms: Arc::new(Alarms::new(ticks)) };
        let timers = NonNull::from(Box::leak(Box::new(timers)));
        WHEEL.set(timers.as_ptr());
        Self(timers)
    }

    fn timers(&self) -> &Timers {
        // SAFETY: leaked by `new`, freed by `drop`; only shared references are made.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for TimerSource {
    fn drop(&mut self) {
        WHEEL.set(ptr::null());
        // SAFETY: from `Box::leak`; no host of this worker is left that could use it.
        let timers = unsafe { Box::from_raw(self.0.as_ptr()) };
        timers.alarms.retire(wakers::wake);
    }
}

/// Makes these the timers of the calling kernel thread, and returns those that it had.
pub(super) fn exchange(timers: *const Timers) -> *const Timers {
    WHEEL.replace(timers)
}

/// True if a deadline of a host of the calling kernel thread's worker has passed. Async-signal-safe; not for
/// the root.
pub(crate) fn is_overdue() -> bool {
    // SAFETY: null or alive (invariant).
    let Some(timers) = (unsafe { WHEEL.get().as_ref() }) else { return false };
    timers.wheel.earliest().is_some_and(|tick| tick <= timers.ticks.passed())
}

/// The alarms of the calling kernel thread's worker; `None` on other threads, on a host that unwinds,
/// because its worker does not run until it has unwound, and while the worker is made or has ended.
pub(crate) fn alarms() -> Option<Arc<Alarms>> {
    if super::must_not_block() || !super::on_worker() {
        return None;
    }
    // SAFETY: null or alive (invariant).
    unsafe { WHEEL.get().as_ref() }.map(|timers| timers.alarms.clone())
}

impl Source for TimerSource {
    fn poll(&mut self) {
        let worker = Worker::current().expect("sources are polled on workers");
        let timers = self.timers();
        let (now, nanos) = timers.ticks.passed_with_nanos();
        timers.wheel.advance(now, |due| {
            let late = nanos.saturating_sub(Ticks::nanos_of(timers.wheel.now()));
            let late = late.try_into().unwrap_or(u64::MAX);
            worker.remote.measured.timer_late.add(late);
            worker.meter.late.set(late);
            match due {
                // SAFETY: a linked node's thread is in its blocking call (invariant).
                Due::Block(thread) => unsafe { worker.interrupt(thread, Woke::TimedOut) },
                // SAFETY: a linked node's thread is within its level (invariant).
                Due::Level(frame, thread) => unsafe { worker.cancel_level(frame.as_ref(), thread) },
            }
        });
        worker.meter.late.set(0);
        timers.alarms.ring(now, wakers::wake);
    }

    fn deadline(&self) -> Option<Instant> {
        let timers = self.timers();
        let next = [timers.wheel.next_expiry(), timers.alarms.next_expiry()].into_iter().flatten().min();
        next.and_then(|tick| timers.ticks.begin(tick))
    }

    fn helper(&self) -> Option<Helper> {
        let (alarms, ticks) = (self.timers().alarms.clone(), self.timers().ticks);
        Some(Helper::new(move || alarms.ring(ticks.passed(), wakers::wake)))
    }

    fn active(&self) -> bool {
        let timers = self.timers();
        timers.wheel.len() > 0 || timers.alarms.next_expiry().is_some()
    }
}

/// Blocks the running host of `worker` until its wake or the deadline.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn block_until(worker: &Worker, on: On, deadline: Instant) -> Woke {
    // SAFETY: invariant: set for as long as the worker has hosts.
    let timers = unsafe { &*WHEEL.get() };
    let node = Node::new(Due::Block(worker.running()));
    // SAFETY: the node is new, and is removed below before this frame ends; blocking does not unwind.
    unsafe { timers.wheel.insert(&node, timers.ticks.after(deadline)) };
    let limited = &worker.running_ref().is_limited;
    limited.set(true);
    let woke = worker.block(on);
    limited.set(false);
    // SAFETY: the node is in this wheel, or in none.
    unsafe { timers.wheel.remove(&node) };
    woke
}

/// Runs `inside`, which does not unwind, and cancels `frame`, a level of the running thread of `worker`, if
/// the deadline comes first.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn with_level<R>(
    worker: &Worker,
    frame: &Frame,
    deadline: Instant,
    inside: impl FnOnce() -> R,
) -> R {
    // SAFETY: invariant: set for as long as the worker has hosts.
    let timers = unsafe { &*WHEEL.get() };
    let node = Node::new(Due::Level(NonNull::from(frame), worker.running()));
    // SAFETY: the node is new, and is removed below before this frame ends; `inside` does not unwind.
    unsafe { timers.wheel.insert(&node, timers.ticks.after(deadline)) };
    let result = inside();
    // SAFETY: the node is in this wheel, or in none.
    unsafe { timers.wheel.remove(&node) };
    result
}
