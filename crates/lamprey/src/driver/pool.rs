//! The pools of kernel threads for calls that block or compute.
//!
//! A call is a record on the stack of the host that makes it. The host submits the record under the lock and
//! blocks until a pool thread has run it, so the closure may borrow from that stack. A cancelled host can
//! only withdraw a call that no thread has taken.
//!
//! Invariants (all under `state`)
//! * A [`PoolCall`] in `queue` or held by a pool thread belongs to exactly one blocked host, which is woken
//!   exactly once; the wake is the last access to the call.
//! * `idle` holds the pool threads that sleep, the latest last. The thread that removes one from it unparks
//!   it. The latest is taken first, so that under a light load the others stay asleep until they end.
//! * A call is queued only while there is a thread (`threads != 0`), and threads look at the queue before
//!   they sleep or end. A call that finds an idle thread unparks it; one that finds none starts a thread, or,
//!   if the pool is full, waits for a busy one. So no call is left behind.
//!
//! Nested calls cannot deadlock: [`block`] on a pool thread runs its closure in place.
//!
//! A call of a file may take for ever (the other end of a FIFO, a file server that is gone). So that such calls do not take
//! all threads, one that takes long while others wait does not count, nor does a look-up that nobody wants any more: `lookout`.
//!
//! The calls of futures are on the heap instead ([`block_async`]), because a future may be dropped at any
//! time.
//!
//! | file | content |
//! |---|---|
//! | `class` | which calls share a pool, the pools of a runtime, and their limits |
//! | `full` | [`PoolFull`], the error of calls that may be refused |
//! | `host` | the calls of hosts and OS threads |
//! | `future` | the calls of futures |
//! | `lookout` | which calls are held, and the threads in their place |
//! | `calls` | what programs call: [`block`], [`try_block`], [`block_timeout`], [`compute`] |
//! | `simulated` | the calls of a simulation |
//!
//! # Rejected
//! * One pool with shares for each class: as long as a class is short of its share, threads of the others must stay idle for it,
//!   which is what pools of their own are, with more rules.
//! * A bounded queue beside a line of threads that wait for room in it: whoever waits for room needs a place in that line,
//!   as large as one in the queue, and the hand-over from one to the other could lose a wake. The bound is a mark in the one line.
//!
//! # Checked by
//! `model::pool` (loom, with broken variants that it catches); `tests/io/pool.rs`, and `pool::tests`.

#[cfg(not(loom))]
mod calls;
mod class;
mod full;
mod future;
mod host;
#[cfg(not(loom))]
mod lookout;
#[cfg(not(loom))]
mod simulated;

use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::sched::affinity::unpinned;
#[cfg(not(loom))]
use crate::sched::stats::ThreadPoolStats;
use crate::sync_shim::{
    Cell, Condvar, Mutex, MutexGuard, Parker, has_passed, left_out, start_thread, thread_local,
};
use crate::time;

#[cfg(not(loom))]
pub(crate) use calls::block_in;
#[cfg(not(loom))]
pub use calls::{block, block_timeout, compute, try_block};
pub(crate) use class::{Class, Pools, current};
#[cfg(not(loom))]
pub(crate) use class::{Limits, MOST_THREADS, Shares, exchange, shares};
pub use full::PoolFull;
use future::Run;
pub use future::block_async;
#[cfg(not(loom))]
pub(crate) use future::{block_async_in, start};
#[cfg(not(loom))]
pub use future::{compute_async, try_block_async};
#[cfg(not(loom))]
use lookout::Lookout;

thread_local! {
    /// The address of the pool to which this pool thread belongs; null on other threads.
    static MEMBER_OF: Cell<*const PoolShared> = const { Cell::new(std::ptr::null()) };
}

/// True on a thread of any pool, that is, within [`block`] or [`compute`].
pub(crate) fn on_pool_thread() -> bool {
    !member_of().is_null()
}

fn member_of() -> *const PoolShared {
    MEMBER_OF.with(Cell::get)
}

/// The state that the threads of a pool and its callers share.
#[derive(Debug)]
pub(crate) struct PoolShared {
    class: Class,
    max: usize,
    /// How many calls may wait before [`try_block`] refuses.
    most_queued: usize,
    keep: Duration,
    state: Mutex<PoolState>,
    last_gone: Condvar,
    #[cfg(not(loom))]
    simulated: bool,
}

#[derive(Debug, Default)]
struct PoolState {
    queue: VecDeque<PoolCall>,
    idle: Vec<Parker>,
    threads: usize,
    closing: bool,
    #[cfg(not(loom))]
    lookout: Lookout,
    calls: u64,
    waited: u64,
    rejected: u64,
}

/// What a call does that finds no thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhenFull {
    Wait,
    /// It waits only if fewer wait than the pool's mark.
    Refuse,
}

/// What came of a call that was to be queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Submitted {
    /// A thread has been called for it.
    HandedOver,
    /// All threads are busy.
    Queued,
    /// There is no thread, and none can be started. Not queued.
    NoThread,
    /// Not queued.
    Full,
}

impl Submitted {
    fn is_queued(self) -> bool {
        matches!(self, Self::HandedOver | Self::Queued)
    }
}

/// A call that a pool thread runs once.
enum PoolCall {
    /// A [`Record`] of any type. Its host is blocked until it is woken, or has withdrawn the call.
    OfHost {
        record: NonNull<()>,
        run: unsafe fn(NonNull<()>),
    },
    OfFuture(Arc<dyn Run>),
}

// SAFETY: a host's call is run once, by one thread, while the host that owns the record is blocked; closure
// and result are `Send` by the bounds of `block`. A future's call is `Send` by the bound of `Run`.
unsafe impl Send for PoolCall {}

impl PoolCall {
    fn run(self) {
        match self {
            // SAFETY: the call was taken out of the queue once, by the caller; its host is blocked until `run` wakes it.
            Self::OfHost { record, run } => unsafe { run(record) },
            Self::OfFuture(call) => call.run(),
        }
    }
}

impl fmt::Debug for PoolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolCall")
    }
}

impl PoolState {
    /// The threads that count against the limit.
    fn counted(&self) -> usize {
        #[cfg(not(loom))]
        return self.threads - self.lookout.held();
        #[cfg(loom)]
        self.threads
    }
}

impl PoolShared {
    fn new(class: Class, max: usize, most_queued: usize, keep: Duration) -> Self {
        Self {
            class,
            max: max.max(1),
            most_queued,
            keep,
            #[cfg(not(loom))]
            simulated: false,
            state: Mutex::new(PoolState::default()),
            last_gone: Condvar::new(),
        }
    }

    /// The most threads that it may have.
    #[cfg(not(loom))]
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// What it does now, and has done.
    #[cfg(not(loom))]
    pub(crate) fn stats(&self) -> ThreadPoolStats {
        let PoolState { queue, idle, threads, calls, waited, rejected, .. } = &*self.lock();
        let (threads, idle, queued) = (*threads as u64, idle.len() as u64, queue.len() as u64);
        ThreadPoolStats { threads, idle, queued, calls: *calls, waited: *waited, rejected: *rejected }
    }

    /// Takes a call back. False if a pool thread has taken it.
    fn withdraw(&self, is_it: impl Fn(&PoolCall) -> bool) -> bool {
        let mut state = self.lock();
        // From both ends at once: calls are withdrawn in the order in which they came, or the other way round.
        let mut both = state.queue.iter().zip(state.queue.iter().rev()).enumerate();
        let found = both.find(|(_, (front, back))| is_it(front) || is_it(back));
        let place = found.map(|(at, (front, _))| if is_it(front) { at } else { state.queue.len() - 1 - at });
        let call = place.and_then(|place| state.queue.remove(place));
        drop(state);
        // A future's call may be dropped here, and with it what the program owns.
        call.is_some()
    }

    /// Queues `call` and wakes or starts a thread for it.
    fn submit(self: &Arc<Self>, call: PoolCall, when_full: WhenFull) -> Submitted {
        #[cfg(not(loom))]
        if self.simulated {
            return self.submit_simulated(call, when_full);
        }
        let mut state = self.lock();
        if let Some(thread) = state.idle.pop() {
            state.queue.push_back(call);
            state.calls += 1;
            drop(state);
            thread.unpark();
            return Submitted::HandedOver;
        }
        // Started under the lock: only growth pays for it, and the count is always exact.
        let starts = state.counted() < self.max && self.start();
        if starts {
            state.threads += 1;
        }
        if state.threads == 0 {
            return Submitted::NoThread;
        }
        if !starts && when_full == WhenFull::Refuse && state.queue.len() >= self.most_queued {
            state.rejected += 1;
            return Submitted::Full;
        }
        state.queue.push_back(call);
        state.calls += 1;
        if starts {
            return Submitted::HandedOver;
        }
        state.waited += 1;
        #[cfg(not(loom))]
        self.look_out(&mut state);
        Submitted::Queued
    }

    fn start(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        start_thread(self.class.thread_name(), unpinned(move || shared.serve()))
    }

    /// Tells the threads to end when there is nothing left to do.
    fn close(&self) {
        let mut state = self.lock();
        state.closing = true;
        if left_out!(PoolClose) {
            state.idle.clear();
        }
        for thread in state.idle.drain(..) {
            thread.unpark();
        }
        #[cfg(not(loom))]
        state.lookout.close();
    }

    /// Waits until the threads have ended.
    #[cfg(loom)]
    fn await_end(&self) {
        let mut state = self.lock();
        while state.threads != 0 {
            state = self.last_gone.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The main loop of a pool thread.
    fn serve(self: Arc<Self>) {
        MEMBER_OF.with(|member_of| member_of.set(Arc::as_ptr(&self)));
        let mut state = self.lock();
        loop {
            while let Some(call) = state.queue.pop_front() {
                #[cfg(not(loom))]
                let running = state.lookout.begin(&call, self.class);
                drop(state);
                call.run();
                state = self.lock();
                #[cfg(not(loom))]
                state.lookout.end(running);
                if left_out!(PoolQueue) || state.counted() > self.max {
                    break;
                }
            }
            // Another thread has taken the place of one whose call was held.
            if state.closing || state.counted() > self.max {
                break;
            }
            let (guard, called) = self.rest(state);
            state = guard;
            if !called && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        if state.threads == 0 {
            self.last_gone.notify_all();
        }
    }

    /// Sleeps as an idle thread. False when no call has come for as long as idle threads are kept.
    fn rest<'a>(&'a self, mut state: MutexGuard<'a, PoolState>) -> (MutexGuard<'a, PoolState>, bool) {
        let me = Parker::of_current();
        let deadline = time::deadline(self.keep);
        state.idle.push(me.clone());
        loop {
            drop(state);
            match deadline {
                Some(at) => me.park_timeout(at.saturating_duration_since(Instant::now())),
                None => me.park(),
            }
            state = self.lock();
            let Some(place) = state.idle.iter().position(|other| other.is(&me)) else {
                return (state, true);
            };
            if deadline.is_some_and(has_passed) {
                state.idle.remove(place);
                return (state, false);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
