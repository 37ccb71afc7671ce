//! Failures of children, and the supervisor's reports of them.

use crate::thread::Panic;
use std::fmt;
use std::io;
use std::time::Duration;

/// How a child has failed.
#[non_exhaustive]
pub enum Failure<E> {
    /// It returned this error.
    Failed(E),
    /// It panicked.
    Panicked(Panic),
    /// It never ran: its stack could not be allocated, or the worker or stack size in its
    /// [`Builder`](crate::Builder) is invalid.
    NotStarted(io::Error),
    /// It returned `Ok`, but its policy is [`Always`](super::Restart::Always).
    Ended,
}

/// What the supervisor does with a child that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// It is restarted after this delay, together with the children that the [`Strategy`](super::Strategy)
    /// selects.
    RestartsIn(Duration),
    /// It is not restarted.
    StaysEnded,
    /// It failed while it was being stopped, because of another child or together with all children.
    WasStopped,
    /// The supervisor stops all children and returns the failure.
    GivesUp,
}

/// The argument of the observer that [`Supervisor::on_failure`](super::Supervisor::on_failure) sets.
#[non_exhaustive]
pub struct Report<'a, E> {
    /// The child's name.
    pub child: &'a str,
    /// How it failed.
    pub failure: &'a Failure<E>,
    /// What the supervisor does about it.
    pub next: Next,
}

/// A supervisor has given up.
///
/// # Examples
/// ```
/// use lamprey::scope::{Backoff, Restart, Supervisor};
/// use std::time::Duration;
///
/// # lamprey::run(|| {
/// let error = Supervisor::new()
///     .limit(2, Duration::from_secs(60))
///     .backoff(Backoff::new(Duration::ZERO))
///     .child("disk", Restart::Always, || Err("full".into()))
///     .run()
///     .unwrap_err();
/// assert_eq!(error.child(), "disk");
/// assert_eq!(error.to_string(), "child `disk` of a supervisor failed: full; it is given up (2 restarts within 60s)");
/// # });
/// ```
pub struct SupervisorError<E> {
    pub(super) child: String,
    pub(super) failure: Failure<E>,
    pub(super) restarts: usize,
    pub(super) window: Duration,
}

impl<E> SupervisorError<E> {
    /// The name of the child that failed last.
    pub fn child(&self) -> &str {
        &self.child
    }

    /// How it failed.
    pub fn failure(&self) -> &Failure<E> {
        &self.failure
    }

    /// How it failed, by value, to pass on the error or the panic.
    pub fn into_failure(self) -> Failure<E> {
        self.failure
    }

    /// The number of restarts, of all children, within the window of the limit.
    pub fn restarts(&self) -> usize {
        self.restarts
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Panicked(panic) => write!(f, "panicked: {panic}"),
            Self::NotStarted(error) => write!(f, "could not be started: {error}"),
            Self::Ended => f.write_str("ended, but is to run always"),
        }
    }
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RestartsIn(delay) if delay.is_zero() => f.write_str("it is started again at once"),
            Self::RestartsIn(delay) => write!(f, "it is started again in {delay:?}"),
            Self::StaysEnded => f.write_str("it is not started again"),
            Self::WasStopped => f.write_str("it was being stopped"),
            Self::GivesUp => f.write_str("it is given up"),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Report<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "child `{}` of a supervisor {}; {}", self.child, self.failure, self.next)
    }
}

impl<E: fmt::Display> fmt::Display for SupervisorError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = Report { child: &self.child, failure: &self.failure, next: Next::GivesUp };
        write!(f, "{report} ({} restarts within {:?})", self.restarts, self.window)
    }
}

impl<E: fmt::Display> fmt::Debug for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({self})")
    }
}

impl<E: fmt::Display> fmt::Debug for Report<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Report({self})")
    }
}

impl<E: fmt::Display> fmt::Debug for SupervisorError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SupervisorError({self})")
    }
}

impl<E: fmt::Display> std::error::Error for SupervisorError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.failure {
            Failure::NotStarted(error) => Some(error),
            _ => None,
        }
    }
}
