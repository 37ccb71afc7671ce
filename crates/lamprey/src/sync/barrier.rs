//! The barrier: no thread passes before all have arrived.
//!
//! # Invariants
//! 1. `arrived` counts the threads that wait in the present `round`, and is less than `n`: the last thread
//!    begins the next round, in the section in which it arrives.
//! 2. A waiting thread has an [`Arrival`], whose drop takes the arrival back unless the round is over by
//!    then. So a wait that times out, is cancelled or dropped leaves no trace.
//!
//! The lock, the queue and how threads and futures wait in it: [`Gate`]. (Not the wait queue of the locks:
//! nothing is handed over here, and all waiters go at once, in any order.)
//!
//! # Checked by
//! `model::barrier` (loom, with a broken variant), `model::gate` (the gate), `tests/sync/barrier.rs`.

use crate::channel::gate::{Gate, GateFuture, Interrupted, Op, Section, WaitSpec, opaque};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::sync_shim::left_out;
use crate::time::{self, TimedOut};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
#[cfg(not(loom))]
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

const QUEUE: usize = 0;
const WAIT: WaitSpec = WaitSpec::new(QUEUE, Wait::Barrier);

/// Makes `n` threads wait for each other, repeatedly.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use lamprey::sync::Barrier;
///
/// lamprey::run(|| {
///     let barrier = Arc::new(Barrier::new(3));
///     let hosts: Vec<_> = (0..3)
///         .map(|_| {
///             let barrier = barrier.clone();
///             lamprey::spawn(move || barrier.wait().is_leader())
///         })
///         .collect();
///     let leaders = hosts.into_iter().map(|host| host.join().unwrap());
///     assert_eq!(leaders.filter(|&is_leader| is_leader).count(), 1);
/// });
/// ```
#[doc(alias = "CyclicBarrier")]
pub struct Barrier {
    n: usize,
    gate: Gate<BarrierState>,
}

struct BarrierState {
    arrived: usize,
    round: u64,
}

/// The result of [`Barrier::wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for exactly one of the threads that pass together: the last one to arrive.
    ///
    /// # Examples
    /// ```
    /// assert!(lamprey::sync::Barrier::new(1).wait().is_leader());
    /// ```
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

/// The arrival of a thread that has not passed yet.
struct Arrival<'a> {
    barrier: &'a Barrier,
    round: u64,
}

impl Arrival<'_> {
    /// Takes the arrival back; false if the round is over.
    fn take_back(&self) -> bool {
        self.barrier.gate.with(|section| {
            let is_present = section.state.round == self.round;
            section.state.arrived -= usize::from(is_present && !left_out!(BarrierGoes));
            is_present
        })
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

impl Barrier {
    crate::sync_shim::const_fn! {
        /// A barrier for `n` threads; 0 means 1.
        ///
        /// # Examples
        /// ```
        /// static START: lamprey::sync::Barrier = lamprey::sync::Barrier::new(2);
        /// ```
        #[track_caller]
        pub const fn new(n: usize) -> Self {
            Self { n, gate: Gate::new(BarrierState { arrived: 0, round: 0 }) }
        }
    }

    /// Waits until all threads have arrived. The barrier is then ready for the next round.
    ///
    /// # Examples
    /// See [`Barrier`].
    ///
    /// # Panics
    /// If the caller is a host that is unwinding from a panic, which must not wait, and is not the last to
    /// arrive.
    ///
    /// # Cancellation
    /// The commit point is the arrival of the last thread. A host that is cancelled before that takes its
    /// arrival back and unwinds from here; the others wait for another thread. A host that is cancelled later
    /// unwinds from here too, but counts as arrived.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) -> BarrierWaitResult {
        self.wait_until(None).unwrap_or_else(|interrupted| match interrupted {
            Interrupted::Unwinding => panic!("a host that is unwinding must not wait at a barrier"),
            Interrupted::TimedOut => crate::bug::bug!("a wait at a barrier without a deadline timed out"),
        })
    }

    /// [`wait`](Self::wait) for `timeout` at most.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// let barrier = lamprey::sync::Barrier::new(2);
    /// assert!(barrier.wait_timeout(Duration::from_millis(1)).is_err());
    /// ```
    ///
    /// # Errors
    /// If not all threads have arrived by then; this arrival is taken back. Also where [`wait`](Self::wait)
    /// panics.
    ///
    /// # Cancellation
    /// As for [`wait`](Self::wait).
    ///
    /// # Blocking
    /// As for [`wait`](Self::wait).
    pub fn wait_timeout(&self, timeout: Duration) -> Result<BarrierWaitResult, TimedOut> {
        self.wait_until(time::deadline(timeout)).map_err(|_| TimedOut)
    }

    /// [`wait`](Self::wait) for async code. The first poll counts as the arrival.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let barrier = std::sync::Arc::new(lamprey::sync::Barrier::new(2));
    /// let theirs = barrier.clone();
    /// let other = lamprey::parasite(async move { theirs.wait_async().await.is_leader() });
    /// assert!(barrier.wait().is_leader());
    /// assert!(!other.join().unwrap());
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Dropped before all threads have arrived, the future takes its arrival back. Dropped after that but
    /// before the poll that returns the result, it counts as arrived.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub fn wait_async(&self) -> BarrierWaitFuture<'_> {
        BarrierWaitFuture { barrier: Some(self), passed: None, arrival: None }
    }

    /// [`wait`](Self::wait) as an event. It arrives when a thread begins to wait for the event.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// # lamprey::run(|| {
    /// let barrier = lamprey::sync::Barrier::new(2);
    /// let passed = choose((
    ///     barrier.wait_evt().wrap(|_| true),
    ///     timeout(Duration::from_millis(1)).wrap(|()| false),
    /// ));
    /// assert!(!passed.sync());
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If another event is chosen, the arrival is taken back, unless all threads have arrived by then. In
    /// that case it counts, although another event was chosen.
    #[cfg(not(loom))]
    pub fn wait_evt(&self) -> FutureEvt<BarrierWaitFuture<'_>> {
        future_evt(self.wait_async())
    }

    /// [`wait_evt`](Self::wait_evt) that owns a handle of the barrier, so that a function can return it.
    #[cfg(not(loom))]
    pub fn wait_owned_evt(
        self: &Arc<Self>,
    ) -> FutureEvt<impl Future<Output = BarrierWaitResult> + Send + use<>> {
        let barrier = self.clone();
        future_evt(async move { barrier.wait_async().await })
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<BarrierWaitResult, Interrupted> {
        coop::turn();
        let Some(arrival) = self.arrive() else { return Ok(BarrierWaitResult(true)) };
        let round = arrival.round;
        let waited = self.gate.wait(WAIT, deadline, |section| (section.state.round != round).then_some(()));
        let has_left = waited.is_err() && arrival.take_back();
        // Nothing left for its drop: the arrival was taken back, or the thread has passed.
        std::mem::forget(arrival);
        if has_left { waited.map(|()| BarrierWaitResult(false)) } else { Ok(BarrierWaitResult(false)) }
    }

    /// Arrives; `None` for the last thread.
    fn arrive(&self) -> Option<Arrival<'_>> {
        let round = self.gate.with(|section| {
            let state = &mut section.state;
            state.arrived += 1;
            if state.arrived < self.n {
                return Some(state.round);
            }
            (state.arrived, state.round) = (0, state.round + 1);
            section.wake_all(QUEUE);
            None
        })?;
        Some(Arrival { barrier: self, round })
    }
}

/// Whether the round of that number is over.
struct PassedOp(u64);

impl Op<BarrierState> for PassedOp {
    type Output = ();

    fn attempt(&mut self, section: &mut Section<'_, BarrierState>) -> Option<()> {
        (section.state.round != self.0).then_some(())
    }
}

/// The future of [`Barrier::wait_async`].
#[must_use = "a future does nothing until it is awaited"]
pub struct BarrierWaitFuture<'a> {
    /// `None` once it has returned.
    barrier: Option<&'a Barrier>,
    /// `Some` from the first poll on. Dropped before the arrival.
    passed: Option<GateFuture<'a, BarrierState, PassedOp>>,
    arrival: Option<Arrival<'a>>,
}

impl Future for BarrierWaitFuture<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        // SAFETY: of the fields the future in `passed` alone is pinned; once it is there it is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(barrier) = this.barrier else {
            panic!("a barrier's future was polled after it had returned")
        };
        if this.passed.is_none() {
            coop::turn();
            let Some(arrival) = barrier.arrive() else {
                this.barrier = None;
                return Poll::Ready(BarrierWaitResult(true));
            };
            this.passed = Some(barrier.gate.future(WAIT, PassedOp(arrival.round)));
            this.arrival = Some(arrival);
        }
        if let Some(passed) = &mut this.passed {
            // SAFETY: pinned with the whole: nothing moves it out, and there is no `Drop`.
            ready!(unsafe { Pin::new_unchecked(passed) }.poll(cx));
        }
        this.barrier = None;
        this.arrival = None;
        Poll::Ready(BarrierWaitResult(false))
    }
}

opaque!(BarrierWaitFuture<'a>);

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = self.gate.with(|section| section.state.arrived);
        f.debug_struct("Barrier").field("n", &self.n).field("arrived", &arrived).finish()
    }
}
