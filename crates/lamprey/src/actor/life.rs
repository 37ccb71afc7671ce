//! One run of an actor, how it ends, who is told.
//!
//! # Invariants
//! 1. A run has ended when its `ended` is full: filled once, by [`Run::end`]. It is filled before the run's links are
//!    taken; and [`link`] looks at it after it has entered the link. So of two that end and are linked at the same
//!    time, each is told.
//! 2. The lock of one run is held at a time, and nothing is called within it.
//! 3. A link is between two runs, not between two actors: it ends with either. An actor that is started again has no
//!    links.

use crate::events::{FutureEvt, future_evt};
use crate::queue::swept::Swept;
use crate::sched::coop;
use crate::scope::CancelToken;
use crate::sync::IVar;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::thread::Panic;
use crate::time::TimedOut;
use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// How an actor has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// Its function has returned.
    Returned,
    /// Its function has returned an error, whose text this is ([`Inbox::supervised`](super::Inbox::supervised)).
    Failed(Arc<str>),
    /// It panicked; the message and where. The payload goes to whoever joins its host.
    Panicked(Arc<str>),
    /// It was cancelled: by [`Address::cancel`](super::Address::cancel), with its host, or with its runtime.
    Cancelled,
    /// An actor that it was [linked](super::Address::link) to has ended.
    Linked,
    /// Its inbox was dropped before it had run: it was cancelled before it had started, or could not be started.
    NotRun,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned => f.write_str("it returned"),
            Self::Failed(error) => write!(f, "it failed: {error}"),
            Self::Panicked(panic) => write!(f, "it panicked: {panic}"),
            Self::Cancelled => f.write_str("it was cancelled"),
            Self::Linked => f.write_str("an actor that it was linked to has ended"),
            Self::NotRun => f.write_str("it has never run"),
        }
    }
}

/// The error of a [supervised](super::Inbox::supervised) actor that ended because an actor that it was
/// [linked](super::Address::link) to has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked;

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ended::Linked.fmt(f)
    }
}

impl Error for Linked {}

/// One run of an actor.
pub(super) struct Run {
    pub(super) token: CancelToken,
    /// Why the token was cancelled; the first reason counts.
    reason: OnceLock<Ended>,
    ended: IVar<Ended>,
    links: Mutex<Swept<Weak<Run>>>,
}

impl Run {
    fn new() -> Arc<Self> {
        let (token, reason) = (CancelToken::new(), OnceLock::new());
        Arc::new(Self { token, reason, ended: IVar::new(), links: Mutex::new(Swept::new()) })
    }

    fn links(&self) -> MutexGuard<'_, Swept<Weak<Self>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_ended(&self) -> bool {
        // Not `try_get_ref`, which may give way: callers have a lock.
        self.ended.is_full()
    }

    /// Cancels it; does nothing if it has ended.
    pub(super) fn cancel(&self, reason: Ended) {
        let _ = self.reason.set(reason); // an error: it is being cancelled already
        self.token.cancel();
    }

    /// Why it was cancelled through its token.
    pub(super) fn reason(&self) -> Ended {
        self.reason.get().cloned().unwrap_or(Ended::Cancelled)
    }

    /// It has ended: tells who watches, and ends those that are linked to it.
    pub(super) fn end(&self, how: Ended) {
        let _ = self.ended.put(how); // an error: it has ended before
        let linked = self.links().take();
        linked.iter().filter_map(Weak::upgrade).for_each(|run| run.cancel(Ended::Linked));
    }
}

/// Links two runs.
pub(super) fn link(one: &Arc<Run>, other: &Arc<Run>) {
    if Arc::ptr_eq(one, other) {
        return;
    }
    for (from, to) in [(one, other), (other, one)] {
        // The weak ends have no destructor but their own; still they are dropped after the lock.
        let mut links = from.links();
        let over = links.push(Arc::downgrade(to), |run| run.upgrade().is_none_or(|run| run.has_ended()));
        drop(links);
        drop(over);
        if from.has_ended() {
            to.cancel(Ended::Linked);
        }
    }
}

/// An actor over all its runs: the one that is, or is to be, or was the last.
pub(super) struct Being(Mutex<Current>);

struct Current {
    run: Arc<Run>,
    /// Its body has been called.
    has_begun: bool,
}

impl Being {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Current { run: Run::new(), has_begun: false }))
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn run(&self) -> Arc<Run> {
        self.current().run.clone()
    }

    /// The run that begins: the one that was waited for, or after that one a new one. `None` within a run.
    pub(super) fn begin(&self) -> Option<Arc<Run>> {
        let mut current = self.current();
        if current.run.has_ended() {
            *current = Current { run: Run::new(), has_begun: false };
        }
        (!std::mem::replace(&mut current.has_begun, true)).then(|| current.run.clone())
    }
}

/// How a panic is told.
pub(super) fn panicked(panic: &Panic) -> Ended {
    Ended::Panicked(panic.to_string().into())
}

/// Waits for the end of an actor, of the run that was there when [`Address::monitor`](super::Address::monitor) was
/// called. Clones watch the same run.
///
/// # Examples
/// ```
/// use lamprey::actor::{self, Ended, Inbox};
/// use lamprey::event::{Event, choose};
///
/// # lamprey::run(|| {
/// let (divider, host) = actor::spawn(|inbox: &mut Inbox<u32>| inbox.iter().map(|n| 100 / n).sum::<u32>());
/// let monitor = divider.monitor();
/// divider.tell(5).unwrap();
/// assert_eq!(monitor.try_wait(), None);
/// divider.tell(0).unwrap();
/// let Ended::Panicked(message) = monitor.wait() else { panic!() };
/// assert!(message.starts_with("attempt to divide by zero"));
/// assert!(host.join().is_err());
/// assert!(matches!(monitor.wait_evt().sync(), Ended::Panicked(_))); // it stays so
/// # });
/// ```
///
/// # Dropping
/// Has no effect on the actor. A monitor does not keep it alive.
#[derive(Clone)]
pub struct Monitor(IVar<Ended>);

impl Monitor {
    pub(super) fn new(run: &Run) -> Self {
        Self(run.ended.clone())
    }

    /// Waits until the actor has ended.
    ///
    /// # Panics
    /// If it runs, and the caller is a host that is unwinding from a panic, which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn wait(&self) -> Ended {
        self.0.get()
    }

    /// [`wait`](Self::wait) for async code. A monitor can also be awaited itself.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub async fn wait_async(&self) -> Ended {
        self.0.get_async().await
    }

    /// [`wait`](Self::wait) as an event.
    pub fn wait_evt(&self) -> FutureEvt<impl Future<Output = Ended> + Send + use<>> {
        let ended = self.0.clone();
        future_evt(async move { ended.get_async().await })
    }

    /// [`wait`](Self::wait), at most `timeout`.
    ///
    /// # Errors
    /// [`TimedOut`] if the actor has not ended by then.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Ended, TimedOut> {
        self.0.get_timeout(timeout).ok_or(TimedOut)
    }

    /// How the actor has ended, if it has.
    pub fn try_wait(&self) -> Option<Ended> {
        coop::look();
        self.0.try_get()
    }
}

/// The awaitable form of [`wait`](Monitor::wait).
impl IntoFuture for Monitor {
    type Output = Ended;
    type IntoFuture = Pin<Box<dyn Future<Output = Ended> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.0.get_async().await })
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Monitor").field(&self.try_wait()).finish()
    }
}
