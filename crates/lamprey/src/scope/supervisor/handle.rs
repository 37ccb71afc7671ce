//! The handle of a supervisor: sends orders to its loop, and waits for its end.

use super::team::Notice;
use crate::channel::mailbox::Sender;
use crate::events::{FutureEvt, future_evt};
use crate::sched::{self, coop};
use crate::sync::IVar;
use crate::thread::JoinError;
use crate::time::TimedOut;
use std::fmt;
use std::future::{Future, IntoFuture};
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
#[derive(Clone)]
pub struct SupervisorHandle {
    pub(super) orders: Sender<Notice>,
    pub(super) names: Arc<[Arc<str>]>,
    pub(super) over: IVar<()>,
}

impl SupervisorHandle {
    /// Cancels one child, as [`JoinHandle::cancel`](crate::JoinHandle::cancel) does; it is not started again,
    /// whatever its [`Restart`](super::Restart), and the others run on. False if no child had this name when
    /// the handle was created.
    ///
    /// # Blocking
    /// Never: it does not wait for the end. May be called from hosts, parasites and OS threads.
    pub fn cancel(&self, name: &str) -> bool {
        let child = self.names.iter().position(|known| **known == *name);
        // An error means that the supervisor is over, and the child with it.
        child.inspect(|&child| drop(self.orders.send(Notice::Cancel { child }))).is_some()
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
    pub fn join_evt(&self) -> FutureEvt<impl Future<Output = Result<(), JoinError>> + Send + use<>> {
        let over = self.over.clone();
        future_evt(async move {
            over.get_async().await;
            Ok(())
        })
    }

    /// True once the supervisor has ended, so that [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        coop::tried(self.is_over(), |is_over| !is_over)
    }

    fn is_over(&self) -> bool {
        self.over.try_get_ref().is_some()
    }
}

/// The awaitable form of [`join`](SupervisorHandle::join).
impl IntoFuture for SupervisorHandle {
    type Output = Result<(), JoinError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.over.get_async().await;
            Ok(())
        })
    }
}

impl fmt::Debug for SupervisorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorHandle").field("children", &self.names).finish_non_exhaustive()
    }
}
