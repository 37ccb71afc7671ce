//! Supervisors: restart children that fail, and give up if they fail too often.

// A supervisor is a scope (`isolate`) whose body is a loop over one mailbox, which receives a notice of
// each child's end and the orders of `SupervisorHandle`s. One thread takes all decisions, so there are no
// locks.
//
// # Invariants
// 1. A child has at most one run at a time: it is started only when its previous run has been joined.
// 2. The notice of a run's end is in the mailbox before the run can be joined, and the mailbox is emptied
//    before any child is started. So a notice whose child is running belongs to that run; any other belongs
//    to a run that has been joined, and is ignored.
// 3. When `run` returns or unwinds, all children have been joined, the last one first.
//
// # Rejected
// * A choice over the children's `join_evt`: it polls every child whenever one of them ends.
// * One watcher thread per child: the mailbox costs nothing while no child ends.
// * Letting the scope cancel the children when the supervisor is cancelled: it would cancel all of them at
//   once.
//
// # Checked by
// `tests/scope/supervisor.rs`, `tests/scope/added.rs`. Reading order: this file, `policy`, `report`, `roll` (names, and
// children that are added while it runs), `team` (the loop).

mod handle;
mod policy;
mod report;
mod roll;
mod team;

pub use handle::SupervisorHandle;
pub use policy::{Backoff, Restart, Strategy};
pub use report::{Failure, Next, Report, SupervisorError};
pub use roll::AddError;

use self::roll::Roll;
use self::team::{Notice, Team};
use super::isolate;
use crate::cancel::shield;
use crate::channel::mailbox::{Receiver, Sender, mailbox};
use crate::sync::IVar;
use crate::thread::{Builder, Handle, ON_A_HOST, outside};
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Runs named children as hosts, and restarts them when they fail.
///
/// A child is [added](Self::child) with a closure that can be called again and a [`Restart`] policy. The
/// supervisor has
/// * a [`Strategy`]: which other children are restarted with one that failed (default: none);
/// * a [limit](Self::limit) on restarts per time (default: 3 in 5 seconds). When it is exceeded, the
///   supervisor stops all children, the last one first, and returns the failure;
/// * a [`Backoff`]: the delay before a restart (default: 100 ms, doubled each time up to 10 s).
///
/// Children may borrow what lives longer than the supervisor, as in a [`scope`](crate::scope()). Supervisors
/// nest: a child's closure can call another supervisor's `run`. Children can be added, cancelled and waited for while
/// it runs, by its [`handle`](Self::handle).
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
/// A service of three children. A child relies on those that were added before it, so it is restarted with
/// them; failures go to the service's own log:
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
    /// With their numbers.
    children: Vec<(usize, Child<'env, E>)>,
    /// It goes on when no child is left.
    stays: bool,
    strategy: Strategy,
    limit: (usize, Duration),
    backoff: Backoff,
    observer: Observer<'env, E>,
    orders: Sender<Notice>,
    notices: Receiver<Notice>,
    over: Over<E>,
}

/// Closes the roll and fills the variable when it is dropped: the supervisor is over.
struct Over<E>(IVar<()>, Arc<Roll<E>>);

impl<E> Drop for Over<E> {
    fn drop(&mut self) {
        self.1.close();
        let _ = self.0.put(()); // only this drop fills it
    }
}

/// The error type of [`Supervisor::new`]'s children: `?` and `into` convert any error to it.
pub type AnyError = Box<dyn Error + Send + Sync>;

/// Receives a report of each failure.
type Observer<'env, E> = Box<dyn FnMut(&Report<'_, E>) + Send + 'env>;

/// The constant part of a child.
struct Child<'env, E> {
    name: Arc<str>,
    restart: Restart,
    builder: Builder,
    site: &'static Location<'static>,
    body: Body<'env, E>,
}

type Body<'env, E> = Box<dyn Fn() -> Result<(), E> + Send + Sync + 'env>;

impl<'env, E> Child<'env, E> {
    fn new(
        builder: Builder,
        name: &str,
        restart: Restart,
        site: &'static Location<'static>,
        body: Body<'env, E>,
    ) -> Self {
        Self { name: name.into(), restart, builder: builder.name(name), site, body }
    }
}

impl Supervisor<'_> {
    /// A supervisor without children. Its children may fail with any error.
    pub fn new() -> Self {
        Self::typed()
    }
}

impl<'env, E: fmt::Display + Send + 'env> Supervisor<'env, E> {
    /// A supervisor without children. Its children fail with errors of type `E`, which the observer and the
    /// caller of `run` receive as such.
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
            stays: false,
            strategy: Strategy::OneForOne,
            limit: (3, Duration::from_secs(5)),
            backoff: Backoff::default(),
            observer: Box::new(|report| crate::bug::say!("{report}")),
            orders,
            notices,
            over: Over(IVar::new(), Arc::new(Roll::new())),
        }
    }

    /// Adds a child. Each start and restart calls `body` in a new host with this name.
    ///
    /// A run has failed if it panics or returns an `Err`. The panic hook prints its panics as usual.
    ///
    /// # Panics
    /// If there is already a child with this name.
    #[track_caller]
    pub fn child(
        self,
        name: impl AsRef<str>,
        restart: Restart,
        body: impl Fn() -> Result<(), E> + Send + Sync + 'env,
    ) -> Self {
        self.child_with(Builder::new(), name, restart, body)
    }

    /// Like [`child`](Self::child), with the stack size and worker of `builder`. The builder's name is not
    /// used.
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
        let child = Child::new(builder, name.as_ref(), restart, Location::caller(), Box::new(body));
        match self.over.1.enter(&child.name) {
            Ok(number) => self.children.push((number, child)),
            Err(error) => panic!("{error}"),
        }
        self
    }

    /// Lets [`run`](Self::run) go on when no child is left, until it is [stopped](SupervisorHandle::stop) or
    /// cancelled: for a supervisor whose children are [added](SupervisorHandle::add) while it runs.
    ///
    /// # Examples
    /// ```
    /// use lamprey::scope::{Restart, Supervisor};
    ///
    /// # lamprey::run(|| {
    /// let connections = Supervisor::new().until_stopped();
    /// let orders = connections.handle();
    /// let host = lamprey::spawn(move || connections.run());
    /// let (tx, rx) = lamprey::channel();
    /// orders.add("connection 1", Restart::Never, move || Ok(tx.send("hello")?)).unwrap();
    /// assert_eq!(rx.recv(), Ok("hello"));
    /// orders.stop();
    /// host.join().unwrap().unwrap();
    /// # });
    /// ```
    pub fn until_stopped(mut self) -> Self {
        self.stays = true;
        self
    }

    /// Sets which children are restarted with one that failed.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Allows at most `restarts` restarts, of all children together, within any `window`; at the next one the
    /// supervisor gives up. Restarting several children because of one failure counts once.
    ///
    /// If the [`Backoff`] delays grow longer than `window` divided by `restarts`, the supervisor never gives
    /// up.
    pub fn limit(mut self, restarts: usize, window: Duration) -> Self {
        self.limit = (restarts, window);
        self
    }

    /// Sets the delay before a restart.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Calls `observer`, on the supervisor's thread, with a report of each failure of a child. The default
    /// observer prints a line on standard error. While it runs no child ends or starts anew: one that waits for the end of
    /// another child, as [`SupervisorHandle::cancel_and_join`](super::SupervisorHandle::cancel_and_join) does, waits for ever.
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

    /// A handle that controls the supervisor while it runs, and can add children.
    #[must_use]
    pub fn handle(&self) -> SupervisorHandle<E> {
        SupervisorHandle { orders: self.orders.clone(), roll: self.over.1.clone(), over: self.over.0.clone() }
    }

    /// Starts the children, in the order in which they were added, and returns when all of them have ended
    /// and none is to be restarted (or, with [`until_stopped`](Self::until_stopped), when it is stopped).
    ///
    /// Each child has begun to run when the next is started. Create what must be *ready* before another child
    /// starts before the supervisor, and let the children borrow it.
    ///
    /// # Errors
    /// [`SupervisorError`] if the supervisor has given up: more restarts than the [limit](Self::limit)
    /// allows, or a child could not be started (its [`Builder`] asks for a worker or a stack size that the
    /// runtime does not have). All children have ended.
    ///
    /// # Panics
    /// Outside of a host; with the panic of the [observer](Self::on_failure). All children have ended.
    ///
    /// # Cancellation
    /// Cancels the children one after the other, the last one first, waits for the end of each, and unwinds;
    /// also during the delay before a restart. A child that never unwinds (see [`scope`](crate::scope()))
    /// keeps the supervisor, and the children before it, from ending.
    ///
    /// # Blocking
    /// The host switches away. In a destructor while a host unwinds no child can be started, which is
    /// returned as the error.
    #[must_use = "if the supervisor has given up, that is an error"]
    #[track_caller]
    pub fn run(self) -> Result<(), SupervisorError<E>> {
        let Some(runtime) = Handle::current() else { outside("Supervisor::run", ON_A_HOST) };
        // Locals are dropped in reverse order: `over` last.
        let Self { over, children, stays, strategy, limit, backoff, observer, orders, notices } = self;
        let plan = Plan { stays, strategy, limit, backoff };
        let roll = &*over.1;
        isolate(|scope| {
            let mut team = Team::new(scope, runtime, roll, plan, observer, orders, notices);
            team.admit(children);
            // A cancellation is caught here and resumed after the children have ended in order.
            let over = catch_unwind(AssertUnwindSafe(|| team.supervise()));
            shield(|| team.stop());
            over.unwrap_or_else(|payload| resume_unwind(payload))
        })
    }
}

/// The constant part of a running supervisor.
struct Plan {
    stays: bool,
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
        let names: Vec<_> = self.children.iter().map(|(_, child)| &child.name).collect();
        f.debug_struct("Supervisor").field("children", &names).finish_non_exhaustive()
    }
}
