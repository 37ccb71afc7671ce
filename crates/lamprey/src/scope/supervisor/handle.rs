//! The handle of a supervisor: sends orders to its loop, and waits for its end.

use super::roll::{AddError, Entry, Roll};
use super::team::Notice;
use super::{AnyError, Child, Restart};
use crate::channel::mailbox::Sender;
use crate::events::{FutureEvt, future_evt};
use crate::sched::{self, coop};
use crate::sync::IVar;
use crate::thread::{Builder, JoinError};
use crate::time::TimedOut;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Controls a running [`Supervisor`](super::Supervisor) from any thread.
///
/// # Examples
/// ```
/// use lamprey::scope::{Restart, Supervisor};
/// use std::time::Duration;
///
/// # lamprey::run(|| {
/// let supervisor = Supervisor::new()
///     .child("north", Restart::Always, || Ok(lamprey::sleep(Duration::MAX)))
///     .child("south", Restart::Always, || Ok(lamprey::sleep(Duration::MAX)));
/// let orders = supervisor.handle();
/// let host = lamprey::spawn(move || supervisor.run());
/// assert!(orders.cancel("north")); // "south" runs on
/// assert!(!orders.cancel("west")); // there is none
/// orders.stop();
/// assert!(host.join().unwrap().is_ok());
/// # });
/// ```
///
/// # Dropping
/// Has no effect: the supervisor runs on, also without any handle.
pub struct SupervisorHandle<E = AnyError> {
    pub(super) orders: Sender<Notice>,
    pub(super) roll: Arc<Roll<E>>,
    pub(super) over: IVar<()>,
}

impl<E> SupervisorHandle<E> {
    /// Adds a child, as [`Supervisor::child`](super::Supervisor::child) does, while the supervisor runs. It is the
    /// last one, for the strategy and when all are stopped, and its restarts count for the supervisor's limit. Once
    /// it has ended and is not to be started again, its name can be used again.
    ///
    /// A supervisor without children ends, unless it runs
    /// [until it is stopped](super::Supervisor::until_stopped). If it has not run yet, the child is started when it
    /// does.
    ///
    /// # Examples
    /// ```
    /// use lamprey::scope::{Restart, Supervisor};
    /// use lamprey::scope::supervisor::AddError;
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let supervisor = Supervisor::new().until_stopped();
    /// let orders = supervisor.handle();
    /// let host = lamprey::spawn(move || supervisor.run());
    /// let serve = || Ok(lamprey::sleep(Duration::MAX));
    /// orders.add("north", Restart::Always, serve).unwrap();
    /// assert_eq!(orders.add("north", Restart::Always, serve), Err(AddError::NameTaken("north".into())));
    /// assert_eq!(orders.children(), ["north"]);
    /// assert!(orders.cancel_and_join("north"));
    /// orders.add("north", Restart::Always, serve).unwrap();
    /// orders.stop();
    /// host.join().unwrap().unwrap();
    /// assert_eq!(orders.add("south", Restart::Always, serve), Err(AddError::Ended));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AddError`]. A child that was added while the supervisor was being stopped, or gave up, is dropped without
    /// having run.
    ///
    /// # Blocking
    /// Never: it does not wait for the start. May be called from hosts, parasites and OS threads.
    #[doc(alias = "start_child")]
    #[track_caller]
    pub fn add(
        &self,
        name: impl AsRef<str>,
        restart: Restart,
        body: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), AddError> {
        self.add_with(Builder::new(), name, restart, body)
    }

    /// Like [`add`](Self::add), with the stack size and worker of `builder`. The builder's name is not used.
    ///
    /// # Errors
    /// As [`add`](Self::add). A worker or stack size that the runtime does not have is reported as the child's
    /// [`NotStarted`](super::Failure::NotStarted), and the supervisor goes on without that child.
    ///
    /// # Blocking
    /// Never.
    #[track_caller]
    pub fn add_with(
        &self,
        builder: Builder,
        name: impl AsRef<str>,
        restart: Restart,
        body: impl Fn() -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), AddError> {
        self.roll.add(Child::new(builder, name.as_ref(), restart, Location::caller(), Box::new(body)))?;
        // An error means that the supervisor is over.
        let _ = self.orders.send(Notice::Added);
        Ok(())
    }

    /// Cancels one child, as [`JoinHandle::cancel`](crate::JoinHandle::cancel) does; it is not started again,
    /// whatever its [`Restart`], and the others run on. False if there is no child of this name: none was added, or it
    /// has ended and was not to be started again.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. May be called from hosts, parasites and OS threads.
    #[doc(alias = "terminate_child")]
    pub fn cancel(&self, name: &str) -> bool {
        coop::tried(self.cancel_entry(name).is_some(), |is_there| !is_there)
    }

    /// [Cancels](Self::cancel) one child, and waits until it has ended and its closure has been dropped: its name can
    /// be used again then. False, at once, if there is no child of this name.
    ///
    /// # Panics
    /// If the caller is a host that is unwinding from a panic, which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the child has been cancelled. So a child can do this to itself.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn cancel_and_join(&self, name: &str) -> bool {
        let left = self.cancel_entry(name);
        coop::tried(left.as_ref().map(IVar::get_ref).is_some(), |was_there| !was_there)
    }

    /// Cancels a child; what is filled when it has ended.
    fn cancel_entry(&self, name: &str) -> Option<IVar<()>> {
        let Entry { child, left } = self.roll.find(name)?;
        // An error means that the supervisor is over, and the child with it.
        let _ = self.orders.send(Notice::Cancel { child });
        Some(left)
    }

    /// The names of the children that run, or are to be started (again), in the order in which they were added.
    ///
    /// # Blocking
    /// Never.
    pub fn children(&self) -> Vec<String> {
        coop::look();
        self.roll.names().iter().map(|name| name.as_ref().to_owned()).collect()
    }

    /// Stops all children, the last one first. Then [`run`](super::Supervisor::run) returns `Ok`. If `run`
    /// has not been called yet, it will start no child.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. May be called from hosts, parasites and OS threads.
    pub fn stop(&self) {
        // An error means that the supervisor is over.
        let _ = self.orders.send(Notice::Stop);
    }

    /// Waits until the supervisor has ended: [`run`](super::Supervisor::run) has joined all children and is
    /// about to return, or the supervisor was dropped without running. The result is returned by `run` only.
    ///
    /// A child that waits for its own supervisor blocks until it is cancelled.
    ///
    /// # Examples
    /// ```
    /// use lamprey::scope::{Restart, Supervisor};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| {
    /// let supervisor =
    ///     Supervisor::new().child("clock", Restart::Always, || Ok(lamprey::sleep(Duration::MAX)));
    /// let orders = supervisor.handle();
    /// let host = lamprey::spawn(move || supervisor.run());
    /// assert!(orders.join_timeout(Duration::from_millis(1)).is_err(), "it runs");
    /// orders.stop();
    /// orders.join().unwrap();
    /// assert!(orders.is_finished());
    /// # host.join().unwrap().unwrap();
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`JoinError::Unwinding`] only.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here; the supervisor runs on.
    ///
    /// # Blocking
    /// A host switches away; an OS thread parks.
    pub fn join(&self) -> Result<(), JoinError> {
        if self.is_over() || !sched::must_not_block() {
            self.over.get_ref();
            return Ok(());
        }
        Err(JoinError::unwinding())
    }

    /// Like [`join`](Self::join), but waits at most `timeout`.
    ///
    /// # Errors
    /// [`TimedOut`] if it has not ended by then. Within the `Ok`, as [`join`](Self::join).
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    ///
    /// # Blocking
    /// As [`join`](Self::join).
    pub fn join_timeout(&self, timeout: Duration) -> Result<Result<(), JoinError>, TimedOut> {
        if !self.is_over() && sched::must_not_block() {
            return Ok(Err(JoinError::unwinding()));
        }
        self.over.get_ref_timeout(timeout).map(|()| Ok(())).ok_or(TimedOut)
    }

    /// [`join`](Self::join) as an event. Async code can `.await` the handle, or this event.
    pub fn join_evt(&self) -> FutureEvt<impl Future<Output = Result<(), JoinError>> + Send + use<E>> {
        let over = self.over.clone();
        future_evt(async move {
            over.get_async().await;
            Ok(())
        })
    }

    /// True once the supervisor has ended, so that [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        coop::look();
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.over.try_get_ref().is_some()
    }
}

/// The awaitable form of [`join`](SupervisorHandle::join).
impl<E> IntoFuture for SupervisorHandle<E> {
    type Output = Result<(), JoinError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let over = self.over;
        Box::pin(async move {
            over.get_async().await;
            Ok(())
        })
    }
}

// Not derived: that would ask for `E: Clone`.
impl<E> Clone for SupervisorHandle<E> {
    fn clone(&self) -> Self {
        Self { orders: self.orders.clone(), roll: self.roll.clone(), over: self.over.clone() }
    }
}

impl<E> fmt::Debug for SupervisorHandle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorHandle").field("children", &self.roll.names()).finish_non_exhaustive()
    }
}
