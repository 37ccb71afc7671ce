//! Once: code that runs one time, whoever comes first.
//!
//! # States (`Phase`)
//! ```text
//! New, Poisoned --begin--> Running --the code returns--> Done
//!                                  --it unwinds or its future is dropped--> Poisoned
//! ```
//! # Invariants
//! 1. Running belongs to one [`Running`]; whoever drops that wakes all who wait here.
//! 2. `done` is set before the phase is Done, and after all that the code did.
//!
//! The lock, the queue and how threads and futures wait in it: [`Gate`]. (Not the line of the locks: who
//! waits for the end must not stand before who would bring it about.)
//!
//! # Orderings
//! `done` is set Release and looked at Acquire: who sees it sees what the code did.
//!
//! # Checked by
//! `model::once` (loom, with a broken variant), `model::gate` (the gate), `tests/sync/once.rs`.

#[cfg(not(loom))]
mod lazy;
mod lock;

#[cfg(not(loom))]
pub use lazy::LazyLock;
pub use lock::OnceLock;

use super::order;
use crate::channel::gate::{Gate, Interrupted, Place, Section};
#[cfg(not(loom))]
use crate::events::{FutureEvt, future_evt};
use crate::sched::Wait;
use crate::sync_shim::{AtomicBool, Ordering, left_out};
use crate::time;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::time::{Duration, Instant};

const QUEUE: usize = 0;
const WAIT: Place = Place::new(QUEUE, Wait::Once);

/// Runs code one time only, however many threads ask for it; all of them go on when it has been run.
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

/// What the code of [`Once::call_once_force`] is told.
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// True if code that was to run once has panicked, or was cancelled.
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

/// The right to run the code, and the duty to say how it ended.
struct Running<'a> {
    once: &'a Once,
    state: OnceState,
    end: Cell<Phase>,
    is_tracked: bool,
}

/// What whoever asks for the code is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Run { poisoned: bool },
    Done,
    Poisoned,
}

impl Running<'_> {
    /// The code has returned.
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
            // Release pairs with the Acquire load in `is_completed`; Relaxed is what the model `once` must
            // refute.
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
        /// One whose code has not been run.
        ///
        /// # Examples
        /// See [`Once`].
        pub const fn new() -> Self {
            Self { done: AtomicBool::new(false), gate: Gate::new(Phase::New), order: order::Id::new() }
        }
    }

    /// Runs `code`, if none has been run here. If another thread is at it, waits until that is done.
    ///
    /// # Examples
    /// See [`Once`].
    ///
    /// # Panics
    /// If earlier code panicked or was cancelled; if `code` does; if another thread is at it and the caller
    /// is a host that is unwinding, which must not wait. In debug builds, if `code` itself comes here again,
    /// which otherwise waits for ever.
    ///
    /// # Cancellation
    /// A host that is cancelled while it waits unwinds from here and has changed nothing. One that is
    /// cancelled in `code` leaves this poisoned, as a panic does.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    #[inline]
    #[track_caller]
    pub fn call_once(&self, code: impl FnOnce()) {
        if !self.is_completed() {
            self.call(false, |_| code());
        }
    }

    /// As [`call_once`](Self::call_once), and runs `code` also if earlier code panicked or was cancelled.
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
    /// As [`call_once`](Self::call_once), but for the earlier code.
    ///
    /// # Cancellation
    /// As for [`call_once`](Self::call_once).
    ///
    /// # Blocking
    /// As for [`call_once`](Self::call_once).
    #[inline]
    #[track_caller]
    pub fn call_once_force(&self, code: impl FnOnce(&OnceState)) {
        if !self.is_completed() {
            self.call(true, code);
        }
    }

    /// [`call_once`](Self::call_once) for async code: awaits the future that `code` makes, if none has been
    /// run here.
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
    /// Dropped while it waits, it has changed nothing. Dropped while it awaits what `code` gave, it leaves
    /// this poisoned.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile.
    pub async fn call_once_async<F: Future<Output = ()>>(&self, code: impl FnOnce() -> F) {
        if let Some(running) = self.begin_async(false).await {
            code().await;
            running.done();
        }
    }

    /// True once code has run to its end here. All that it did is visible then.
    ///
    /// # Examples
    /// See [`Once`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_completed(&self) -> bool {
        // Acquire pairs with the Release store in `Running`'s drop.
        self.done.load(Ordering::Acquire)
    }

    /// Waits until code has run to its end here. Nothing is run by this.
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
    /// If the code panics or is cancelled, or if it would have to wait on a host that is unwinding.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here and has changed nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) {
        match self.wait_until(false, None) {
            Ok(()) => {}
            Err(Interrupted::Unwinding) => unwinding(),
            Err(Interrupted::TimedOut) => crate::bug::bug!("a wait for a Once without a deadline timed out"),
        }
    }

    /// As [`wait`](Self::wait), for `timeout` at most: whether the code has run.
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
        self.wait_until(false, time::deadline(timeout)).is_ok()
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
    /// Never; the future is pending meanwhile.
    pub async fn wait_async(&self) {
        if !self.gate.future(WAIT, |section| ended(section, false)).await {
            poisoned();
        }
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
    pub fn wait_evt(&self) -> FutureEvt<impl Future<Output = ()> + use<'_>> {
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

    /// The right to run the code, if it has not been run; waits for whoever is at it.
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

    /// As [`begin`](Self::begin).
    async fn begin_async(&self, force: bool) -> Option<Running<'_>> {
        if self.is_completed() {
            return None;
        }
        let turn = self.gate.future(WAIT, move |section| begin(section, force)).await;
        self.running(turn, false)
    }

    fn running(&self, turn: Turn, is_tracked: bool) -> Option<Running<'_>> {
        match turn {
            Turn::Run { poisoned } => Some(Running {
                once: self,
                state: OnceState { poisoned },
                end: Cell::new(Phase::Poisoned),
                is_tracked,
            }),
            Turn::Done => None,
            Turn::Poisoned => poisoned(),
        }
    }

    /// Waits until code has run to its end, whoever fails before.
    async fn wait_for_success_async(&self) {
        self.gate.future(WAIT, |section| ended(section, true)).await;
    }

    /// Waits for the end of the code; with `force`, for its success.
    fn wait_until(&self, force: bool, deadline: Option<Instant>) -> Result<(), Interrupted> {
        if self.is_completed() {
            return Ok(());
        }
        if !self.gate.wait(WAIT, deadline, |section| ended(section, force))? {
            poisoned();
        }
        Ok(())
    }
}

/// Begins, if nobody is at it.
fn begin(section: &mut Section<'_, Phase>, force: bool) -> Option<Turn> {
    let turn = match *section.state {
        Phase::Running => return None,
        Phase::Done => Turn::Done,
        Phase::Poisoned if !force => Turn::Poisoned,
        phase => Turn::Run { poisoned: phase == Phase::Poisoned },
    };
    if let Turn::Run { .. } = turn {
        *section.state = Phase::Running;
    }
    Some(turn)
}

/// Whether it ended well, if it has ended. With `force`, a failure is not the end.
fn ended(section: &mut Section<'_, Phase>, force: bool) -> Option<bool> {
    match *section.state {
        Phase::Done => Some(true),
        Phase::Poisoned if !force => Some(false),
        _ => None,
    }
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
