//! `Once`: one-time initialization by the first thread that needs it.
//!
//! # States (`Phase`)
//! ```text
//! New, Poisoned --begin--> Running --the code returns--> Done
//!                                  --it unwinds or its future is dropped--> Poisoned
//! ```
//! # Invariants
//! 1. Running belongs to one [`Running`], whose drop wakes all waiters.
//! 2. `done` is set after the code has returned, and before the phase is Done.
//!
//! The lock, the queue and how threads and futures wait in it: [`Gate`]. (Not `sync::line`: a thread that
//! waits for the end must not be queued in front of one that could run the code.)
//!
//! # Orderings
//! `done` is stored with Release and loaded with Acquire: a thread that sees it sees what the code did.
//!
//! # Checked by
//! `model::once` (loom, with a broken variant), `model::gate` (the gate), `tests/sync/once.rs`.

#[cfg(not(loom))]
mod lazy;
mod lock;
mod op;

#[cfg(not(loom))]
pub use lazy::{LazyLock, LazyLockForceFuture};
pub use lock::{OnceLock, OnceLockWaitFuture};

use self::op::{BeginFuture, BeginOp, EndedOp};
use super::order;
use crate::channel::gate::{Gate, GateFuture, Interrupted, Section, WaitSpec, named_future};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
#[cfg(not(loom))]
use crate::sync_shim::relax;
use crate::sync_shim::{AtomicBool, Ordering, left_out};
use crate::time;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::time::{Duration, Instant};

const QUEUE: usize = 0;
const WAIT: WaitSpec = WaitSpec::new(QUEUE, Wait::Once);

/// Runs code exactly once, however many threads call it; all of them return after it has run.
///
/// # Examples
/// ```
/// use lamprey::sync::Once;
/// static START: Once = Once::new();
///
/// lamprey::run(|| {
///     let hosts: Vec<_> = (0..3).map(|_| lamprey::spawn(|| START.call_once(|| println!("once")))).collect();
///     hosts.into_iter().for_each(|host| host.join().unwrap());
///     assert!(START.is_completed());
/// });
/// ```
pub struct Once {
    done: AtomicBool,
    gate: Gate<Phase>,
    order: order::Id,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    Poisoned,
    Done,
}

/// The argument of the code of [`Once::call_once_force`].
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// True if earlier code has panicked, or was cancelled.
    ///
    /// # Examples
    /// ```
    /// # let once = lamprey::sync::Once::new();
    /// once.call_once_force(|state| assert!(!state.is_poisoned()));
    /// ```
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// The right to run the code; its drop sets the final phase.
struct Running<'a> {
    once: &'a Once,
    state: OnceState,
    end: Cell<Phase>,
    is_tracked: bool,
}

/// The result of [`begin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    Run { poisoned: bool },
    Done,
    Poisoned,
}

impl Running<'_> {
    /// The code has returned: sets the end to Done.
    fn done(self) {
        self.end.set(Phase::Done);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.is_tracked {
            self.once.order.unlocked();
        }
        if self.end.get() == Phase::Done {
            // Release pairs with the Acquire load in `is_completed`; Relaxed is the broken variant that
            // `model::once` must refute.
            let order = if left_out!(OnceDone) { Ordering::Relaxed } else { Ordering::Release };
            self.once.done.store(true, order);
        }
        self.once.gate.with(|section| {
            *section.state = self.end.get();
            section.wake_all(QUEUE);
        });
    }
}

#[cold]
fn poisoned() -> ! {
    panic!("code that was to run once has panicked, or was cancelled; Once::call_once_force tries again")
}

#[cold]
fn unwinding() -> ! {
    panic!("a host that is unwinding must not wait for what another thread initialises")
}

impl Once {
    crate::sync_shim::const_fn! {
        /// A `Once` whose code has not run.
        ///
        /// # Examples
        /// See [`Once`].
        #[track_caller]
        pub const fn new() -> Self {
            Self { done: AtomicBool::new(false), gate: Gate::new(Phase::New), order: order::Id::new() }
        }
    }

    /// Runs `code`, if no code has run yet. If another thread is running code, waits until that ends.
    ///
    /// # Examples
    /// See [`Once`].
    ///
    /// # Panics
    /// If earlier code panicked or was cancelled; if `code` panics; if another thread runs the code and the
    /// caller is a host that is unwinding, which must not wait. In debug builds, if `code` calls this
    /// recursively, which otherwise deadlocks.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here, without effect. A host that is cancelled in
    /// `code` poisons this `Once`, as a panic does.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[inline]
    #[track_caller]
    pub fn call_once(&self, code: impl FnOnce()) {
        if !self.is_over() {
            self.call(false, |_| code());
        }
    }

    /// Like [`call_once`](Self::call_once), but runs `code` even if earlier code panicked or was cancelled.
    ///
    /// # Examples
    /// ```
    /// let once = lamprey::sync::Once::new();
    /// let failed = std::panic::catch_unwind(|| once.call_once(|| panic!("not now")));
    /// assert!(failed.is_err());
    /// once.call_once_force(|state| assert!(state.is_poisoned()));
    /// assert!(once.is_completed());
    /// ```
    ///
    /// # Panics
    /// As for [`call_once`](Self::call_once), except for earlier code.
    ///
    /// # Cancellation
    /// As for [`call_once`](Self::call_once).
    ///
    /// # Blocking
    /// As for [`call_once`](Self::call_once).
    #[inline]
    #[track_caller]
    pub fn call_once_force(&self, code: impl FnOnce(&OnceState)) {
        if !self.is_over() {
            self.call(true, code);
        }
    }

    /// [`call_once`](Self::call_once) for async code: awaits the future that `code` returns, if no code has
    /// run yet.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let once = lamprey::sync::Once::new();
    /// lamprey::wait(once.call_once_async(|| async { lamprey::yield_now_async().await }));
    /// assert!(once.is_completed());
    /// # });
    /// ```
    ///
    /// # Panics
    /// If earlier code panicked or was cancelled, or the future does.
    ///
    /// # Cancellation
    /// Dropping the future while it waits has no effect. Dropping it while it awaits the future of `code`
    /// poisons this `Once`.
    ///
    /// # Blocking
    /// Never; the future is pending until then.
    pub async fn call_once_async<F: Future<Output = ()>>(&self, code: impl FnOnce() -> F) {
        if let Some(running) = self.begin_async(false).await {
            code().await;
            running.done();
        }
    }

    /// True once the code has returned. All its effects are then visible.
    ///
    /// # Examples
    /// See [`Once`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_completed(&self) -> bool {
        coop::looked(self.is_over(), |is_over| !is_over)
    }

    /// [`is_completed`](Self::is_completed), which never gives way.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_over(&self) -> bool {
        // Acquire pairs with the Release store in `Running`'s drop.
        self.done.load(Ordering::Acquire)
    }

    /// Waits until the code of another call has returned. Runs no code itself.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # lamprey::run(|| {
    /// let once = Arc::new(lamprey::sync::Once::new());
    /// let theirs = once.clone();
    /// lamprey::spawn(move || theirs.call_once(|| {}));
    /// once.wait();
    /// assert!(once.is_completed());
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the code panics or is cancelled, or if the caller is a host that is unwinding and would have to
    /// wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here and has changed nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) {
        match self.wait_until(None) {
            Ok(()) => {}
            Err(Interrupted::Unwinding) => unwinding(),
            Err(Interrupted::TimedOut) => crate::bug::bug!("a wait for a Once without a deadline timed out"),
        }
    }

    /// [`wait`](Self::wait) for `timeout` at most; returns whether the code has run.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// assert!(!lamprey::sync::Once::new().wait_timeout(Duration::from_millis(1)));
    /// ```
    ///
    /// # Panics
    /// If the code panics or is cancelled.
    ///
    /// # Cancellation
    /// As for [`wait`](Self::wait).
    ///
    /// # Blocking
    /// As for [`wait`](Self::wait). A host that is unwinding does not wait.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.wait_until(time::deadline(timeout)).is_ok()
    }

    /// [`wait`](Self::wait) for async code.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let once = lamprey::sync::Once::new();
    /// once.call_once(|| {});
    /// lamprey::wait(once.wait_async());
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the code panics or is cancelled.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending until then.
    pub fn wait_async(&self) -> OnceWaitFuture<'_> {
        OnceWaitFuture(self.gate.future(WAIT, EndedOp { force: false }))
    }

    /// [`wait`](Self::wait) as an event.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// let once = lamprey::sync::Once::new();
    /// let ran = once.wait_evt().wrap(|()| true);
    /// assert!(!choose((ran, timeout(Duration::from_millis(1)).wrap(|()| false))).sync());
    /// ```
    ///
    /// # Panics
    /// If the code panics or is cancelled.
    #[cfg(not(loom))]
    pub fn wait_evt(&self) -> FutureEvt<OnceWaitFuture<'_>> {
        future_evt(self.wait_async())
    }

    #[cold]
    #[track_caller]
    fn call(&self, force: bool, code: impl FnOnce(&OnceState)) {
        match self.begin(force) {
            Ok(Some(running)) => {
                code(&running.state);
                running.done();
            }
            Ok(None) => {}
            Err(_) => unwinding(),
        }
    }

    /// Acquires the right to run the code, if it has not run; waits while another thread runs it.
    ///
    /// # Errors
    /// If it would have to wait and must not.
    #[track_caller]
    fn begin(&self, force: bool) -> Result<Option<Running<'_>>, Interrupted> {
        let site = Location::caller();
        self.order.before_code(site);
        let turn = self.gate.wait(WAIT, None, |section| begin(section, force))?;
        let running = self.running(turn, true);
        if running.is_some() {
            self.order.locked(site);
        }
        Ok(running)
    }

    /// The async form of [`begin`](Self::begin).
    fn begin_async(&self, force: bool) -> BeginFuture<'_> {
        BeginFuture { once: self, turn: self.gate.future(WAIT, BeginOp { force }) }
    }

    fn running(&self, turn: Begin, is_tracked: bool) -> Option<Running<'_>> {
        match turn {
            Begin::Run { poisoned } => Some(Running {
                once: self,
                state: OnceState { poisoned },
                end: Cell::new(Phase::Poisoned),
                is_tracked,
            }),
            Begin::Done => None,
            Begin::Poisoned => poisoned(),
        }
    }

    /// [`begin`](Self::begin) with `force`, if all code only writes a value: spins while another thread
    /// writes, instead of blocking.
    #[cfg(not(loom))]
    fn begin_at_once(&self) -> Option<Running<'_>> {
        let mut spins = 0;
        loop {
            match self.gate.with(|section| begin(section, true)) {
                Some(turn) => return self.running(turn, false),
                None => relax(&mut spins),
            }
        }
    }

    /// Waits until code has returned; failed runs before that do not end the wait.
    fn wait_for_success_async(&self, reason: Wait) -> GateFuture<'_, Phase, EndedOp> {
        self.gate.future(WaitSpec::new(QUEUE, reason), EndedOp { force: true })
    }

    /// Waits until code has returned; failed runs before that do not end the wait.
    fn wait_for_success(&self, reason: Wait, deadline: Option<Instant>) -> Result<(), Interrupted> {
        coop::turn();
        if self.is_over() {
            return Ok(());
        }
        self.gate.wait(WaitSpec::new(QUEUE, reason), deadline, |section| ended(section, true)).map(drop)
    }

    /// Waits until the code has returned or failed.
    fn wait_until(&self, deadline: Option<Instant>) -> Result<(), Interrupted> {
        coop::turn();
        if self.is_over() {
            return Ok(());
        }
        if !self.gate.wait(WAIT, deadline, |section| ended(section, false))? {
            poisoned();
        }
        Ok(())
    }
}

/// Starts the code, unless another thread runs it.
fn begin(section: &mut Section<'_, Phase>, force: bool) -> Option<Begin> {
    let turn = match *section.state {
        Phase::Running => return None,
        Phase::Done => Begin::Done,
        Phase::Poisoned if !force => Begin::Poisoned,
        phase => Begin::Run { poisoned: phase == Phase::Poisoned },
    };
    if let Begin::Run { .. } = turn {
        *section.state = Phase::Running;
    }
    Some(turn)
}

/// Whether the code succeeded, if it has ended. With `force`, a failure does not count as the end.
fn ended(section: &mut Section<'_, Phase>, force: bool) -> Option<bool> {
    match *section.state {
        Phase::Done => Some(true),
        Phase::Poisoned if !force => Some(false),
        _ => None,
    }
}

named_future! {
    /// The future of [`Once::wait_async`].
    OnceWaitFuture<'a>(Phase, EndedOp) -> (), |succeeded| if !succeeded { poisoned() }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.gate.with(|section| *section.state);
        f.debug_struct("Once").field("phase", &phase).finish()
    }
}
