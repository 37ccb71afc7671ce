//! Supervisors: children that are started again when they fail, and somebody who gives up if that does not
//! help.
//!
//! A supervisor is a scope ([`isolate`]) whose body is a loop over one mailbox: every child's end comes
//! there, and every order of a [`SupervisorHandle`]. All decisions are taken by that one thread, so there is
//! nothing to lock.
//!
//! # Invariants
//! 1. A child runs at most once at a time: it is started only when its last run has been joined.
//! 2. The notice of a run's end is in the mailbox before the run can be joined, and the mailbox is emptied
//!    before anybody is started. So one that finds its child running is of that run; any other is of a run
//!    that has been joined, and counts for nothing.
//! 3. When [`run`](Supervisor::run) is left, however that is, all children have been joined, the last one
//!    first.
//!
//! # Rejected
//! * A choice over the children's `join_evt`: it looks at each child whenever one of them ends.
//! * A thread that watches each child: the mailbox costs nothing while nobody ends.
//! * Letting the scope cancel the children when the supervisor is cancelled: it would cancel all of them at
//!   once.
//!
//! # Checked by
//! `tests/scope/supervisor.rs`. Reading order: this file, `policy`, `report`, `team` (the loop).

mod handle;
mod policy;
mod report;
mod team;

pub use handle::SupervisorHandle;
pub use policy::{Backoff, Restart, Strategy};
pub use report::{Failure, Next, Report, SupervisorError};

use self::team::{Notice, Team};
use super::isolate;
use crate::cancel::shield;
use crate::channel::mailbox::{Receiver, Sender, mailbox};
use crate::sync::IVar;
use crate::thread::{Builder, Handle};
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Runs named children as hosts, and starts them again when they fail.
///
/// What a child is, is said when it is [added](Self::child): a closure that can be called again, and a
/// [`Restart`]. The supervisor has
/// * a [`Strategy`]: who else is started again with one that failed (default: nobody);
/// * a [limit](Self::limit): how many restarts within what time are too many (default: more than 3 in 5
///   seconds). Then it stops all children, the last one first, and returns the failure;
/// * a [`Backoff`]: how long it waits before a restart (default: 100 ms, doubled each time up to 10 s).
///
/// Children may borrow what lives longer than the supervisor, as those of a [`scope`](crate::scope()).
/// Supervisors nest: one's `run` is the closure of another's child.
///
/// # Dropping
/// A supervisor that has not [run](Self::run) starts nothing.
///
/// # Examples
/// ```
/// use lamprey::scope::{Restart, Supervisor};
/// use std::sync::atomic::{AtomicU32, Ordering};
/// # use lamprey::scope::Backoff;
/// # use std::time::Duration;
///
/// # lamprey::run(|| {
/// let attempts = AtomicU32::new(0);
/// let ended = Supervisor::new()
/// #   .backoff(Backoff::new(Duration::from_millis(1)))
///     .child("connection", Restart::OnFailure, || match attempts.fetch_add(1, Ordering::Relaxed) {
///         0 => Err("refused".into()),
///         1 => panic!("a bug"),
///         _ => Ok(()),
///     })
///     .run();
/// assert!(ended.is_ok());
/// assert_eq!(attempts.load(Ordering::Relaxed), 3);
/// # });
/// ```
/// A service of three children. Those that were added after one that failed rely on it, so they are started
/// again with it; what failed goes to the service's own log:
/// ```
/// use lamprey::scope::{Backoff, Restart, Strategy, Supervisor};
/// use lamprey::sync::Mutex;
/// use std::time::Duration;
///
/// lamprey::run(|| {
///     let (rows, input) = lamprey::bounded(10);
///     (1..=10).for_each(|row| rows.send(row).unwrap());
///     drop(rows);
///     let (store, mut log) = (Mutex::new(Vec::new()), Vec::new());
///
///     let supervisor = Supervisor::new()
///         .strategy(Strategy::RestForOne)
///         .limit(5, Duration::from_secs(60))
///         .backoff(Backoff::new(Duration::from_millis(1)))
///         .on_failure(|report| log.push(report.to_string()));
///     let orders = supervisor.handle();
///     supervisor
///         // Runs until it is cancelled.
///         .child("heartbeat", Restart::Always, || Ok(lamprey::sleep(Duration::MAX)))
///         .child("importer", Restart::OnFailure, || {
///             for row in &input {
///                 if row == 5 {
///                     return Err("row 5 is broken".into()); // the next run begins with row 6
///                 }
///                 store.lock().unwrap().push(row);
///             }
///             Ok(())
///         })
///         .child("closer", Restart::OnFailure, || {
///             while store.lock().unwrap().len() < 9 {
///                 lamprey::yield_now();
///             }
///             orders.stop(); // the service has done its work
///             Ok(())
///         })
///         .run()
///         .unwrap();
///
///     assert_eq!(*store.lock().unwrap(), [1, 2, 3, 4, 6, 7, 8, 9, 10]);
///     assert!(log.len() == 1 && log[0].contains("row 5 is broken"), "{log:?}");
/// });
/// ```
#[doc(alias = "restart")]
#[doc(alias = "one_for_one")]
#[must_use = "a supervisor does nothing before `run`"]
pub struct Supervisor<'env, E = AnyError> {
    children: Vec<Child<'env, E>>,
    strategy: Strategy,
    limit: (usize, Duration),
    backoff: Backoff,
    observer: Observer<'env, E>,
    orders: Sender<Notice>,
    notices: Receiver<Notice>,
    over: Over,
}

/// Says that the supervisor is over when it is dropped.
struct Over(IVar<()>);

impl Drop for Over {
    fn drop(&mut self) {
        let _ = self.0.put(()); // the only one
    }
}

/// What children of [`Supervisor::new`] fail with: whatever `?` and `into` make an error of.
pub type AnyError = Box<dyn Error + Send + Sync>;

/// What is told of each failure.
type Observer<'env, E> = Box<dyn FnMut(&Report<'_, E>) + Send + 'env>;

/// What does not change of a child.
struct Child<'env, E> {
    name: Arc<str>,
    restart: Restart,
    builder: Builder,
    site: &'static Location<'static>,
    body: Box<dyn Fn() -> Result<(), E> + Send + Sync + 'env>,
}

impl Supervisor<'_> {
    /// A supervisor without children, which may fail with any error.
    pub fn new() -> Self {
        Self::typed()
    }
}

impl<'env, E: fmt::Display + Send + 'env> Supervisor<'env, E> {
    /// A supervisor without children, which fail with errors of the type `E`: then the observer and the
    /// caller of `run` get these as they are.
    ///
    /// # Examples
    /// ```
    /// use lamprey::scope::supervisor::Failure;
    /// use lamprey::scope::{Restart, Supervisor};
    /// # lamprey::run(|| {
    /// #[derive(Debug, PartialEq)]
    /// struct Jam(u32);
    /// # impl std::fmt::Display for Jam {
    /// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    /// #         write!(f, "jam in tray {}", self.0)
    /// #     }
    /// # }
    /// let mut trays = Vec::new();
    /// Supervisor::typed()
    ///     .on_failure(|report| {
    ///         if let Failure::Failed(Jam(tray)) = report.failure {
    ///             trays.push(*tray);
    ///         }
    ///     })
    ///     .child("printer", Restart::Never, || Err(Jam(2)))
    ///     .run()
    ///     .unwrap();
    /// assert_eq!(trays, [2]);
    /// # });
    /// ```
    pub fn typed() -> Self {
        let (orders, notices) = mailbox();
        Self {
            children: Vec::new(),
            strategy: Strategy::OneForOne,
            limit: (3, Duration::from_secs(5)),
            backoff: Backoff::default(),
            observer: Box::new(|report| crate::bug::say!("{report}")),
            orders,
            notices,
            over: Over(IVar::new()),
        }
    }

    /// Adds a child: `body` is called to start it, in a host with this name, and called again to restart it.
    ///
    /// It has failed if it panics or returns an `Err`. The panic hook prints its panics as any other.
    ///
    /// # Panics
    /// If there is a child with this name.
    #[track_caller]
    pub fn child(
        self,
        name: impl AsRef<str>,
        restart: Restart,
        body: impl Fn() -> Result<(), E> + Send + Sync + 'env,
    ) -> Self {
        self.child_with(Builder::new(), name, restart, body)
    }

    /// As [`child`](Self::child), with a stack size or a place of its own. The builder's name is not used.
    ///
    /// # Panics
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn child_with(
        mut self,
        builder: Builder,
        name: impl AsRef<str>,
        restart: Restart,
        body: impl Fn() -> Result<(), E> + Send + Sync + 'env,
    ) -> Self {
        let name: Arc<str> = name.as_ref().into();
        let is_taken = self.children.iter().any(|child| child.name == name);
        assert!(!is_taken, "the supervisor has a child `{name}` already; give each a name of its own");
        let builder = builder.name(&name);
        self.children.push(Child { name, restart, builder, site: Location::caller(), body: Box::new(body) });
        self
    }

    /// Who is started again with a child that failed.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// At most so many restarts, of all children together, within any `window`; at the next one the
    /// supervisor gives up. A restart of several children for one that failed counts once.
    ///
    /// With a [`Backoff`] that soon takes longer than `window` divided by `restarts` it never gives up.
    pub fn limit(mut self, restarts: usize, window: Duration) -> Self {
        self.limit = (restarts, window);
        self
    }

    /// How long to wait before a restart.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Calls `observer`, on the supervisor's thread, for each failure of a child, and with what will be done
    /// about it. By default it is a line on standard error.
    ///
    /// # Examples
    /// ```
    /// # use lamprey::scope::{Backoff, Restart, Supervisor};
    /// # lamprey::run(|| {
    /// let mut log = Vec::new();
    /// let ended = Supervisor::new()
    ///     .on_failure(|report| log.push(report.to_string()))
    ///     .child("printer", Restart::Never, || Err("no paper".into()))
    ///     .run();
    /// assert!(ended.is_ok());
    /// assert_eq!(log, ["child `printer` of a supervisor failed: no paper; it is not started again"]);
    /// # });
    /// ```
    pub fn on_failure(mut self, observer: impl FnMut(&Report<'_, E>) + Send + 'env) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Gives orders while it runs, to the children that have been added before.
    #[must_use]
    pub fn handle(&self) -> SupervisorHandle {
        let names = self.children.iter().map(|child| child.name.clone()).collect();
        SupervisorHandle { orders: self.orders.clone(), names, over: self.over.0.clone() }
    }

    /// Starts the children, in the order in which they were added, and returns when all of them have ended
    /// and none is to be started again.
    ///
    /// Each child has begun to run when the next is started; what must be *ready* before another starts is
    /// best made before the supervisor, and lent to the children.
    ///
    /// # Errors
    /// [`SupervisorError`] if the supervisor has given up: more restarts than the [limit](Self::limit)
    /// allows, or a child could not be started at all (its [`Builder`] asks for what the runtime has not).
    /// All children have ended.
    ///
    /// # Panics
    /// Outside of a host; with the panic of the [observer](Self::on_failure). All children have ended.
    ///
    /// # Cancellation
    /// Cancels the children one after the other, the last one first, waits for the end of each, and unwinds.
    /// Waiting for a restart is no obstacle. A child that cannot be ended (see [`scope`](crate::scope()))
    /// keeps the supervisor, and the children before it, from ending.
    ///
    /// # Blocking
    /// The host switches away. In a destructor while a host unwinds nothing can be started, and that is the
    /// error.
    #[must_use = "if the supervisor has given up, that is an error"]
    #[track_caller]
    pub fn run(self) -> Result<(), SupervisorError<E>> {
        let Some(runtime) = Handle::current() else {
            panic!(
                "Supervisor::run was called outside of a host: call it within lamprey::run, or on a host that a runtime's Handle spawns"
            )
        };
        // The first name is dropped last.
        let Self { over: _over, children, strategy, limit, backoff, observer, orders, notices } = self;
        let plan = Plan { children, strategy, limit, backoff };
        isolate(|scope| {
            let mut team = Team::new(scope, runtime, &plan, observer, orders, notices);
            // A cancellation is caught here, so that the children end in order, and goes on after that.
            let over = catch_unwind(AssertUnwindSafe(|| team.supervise()));
            shield(|| team.stop());
            over.unwrap_or_else(|payload| resume_unwind(payload))
        })
    }
}

/// What does not change of a supervisor while it runs.
struct Plan<'env, E> {
    children: Vec<Child<'env, E>>,
    strategy: Strategy,
    limit: (usize, Duration),
    backoff: Backoff,
}

impl<'env, E: fmt::Display + Send + 'env> Default for Supervisor<'env, E> {
    fn default() -> Self {
        Self::typed()
    }
}

impl<E> fmt::Debug for Supervisor<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.children.iter().map(|child| &child.name).collect();
        f.debug_struct("Supervisor").field("children", &names).finish_non_exhaustive()
    }
}
