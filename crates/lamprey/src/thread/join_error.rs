//! Why a join returns no result, and for which thread.

use crate::sched::block::CancelUnwind;
use crate::sched::info::ThreadInfo;
use crate::sched::panic::Panic;
use std::any::Any;
use std::fmt;
use std::io;

/// Why a thread has no result. The message names the thread: host or parasite, number, name.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let host = lamprey::Builder::new().name("reader").spawn(|| lamprey::sleep(std::time::Duration::MAX))?;
/// let id = host.id();
/// let error = host.cancel_and_join().unwrap_err();
/// assert_eq!(error.to_string(), format!("host {id} `reader` was cancelled"));
/// assert_eq!(error.thread().unwrap().id(), id);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
pub enum JoinError {
    /// It panicked: the payload, the location, and [the thread](Panic::thread).
    Panicked(Panic),
    /// It was cancelled before it had a result: by [`cancel`](crate::JoinHandle::cancel), by its scope, or
    /// because its runtime was shut down.
    Cancelled(JoinedThread),
    /// It never ran, because its stack or its memory could not be allocated.
    NoStack(NoStack),
    /// It had not finished, and the caller was unwinding from a panic and must not block. The thread is
    /// treated as if its handle had been dropped.
    Unwinding(JoinedThread),
}

// Every host's join cell holds an outcome, so it is kept at two words.
const _: () = assert!(size_of::<Result<(), JoinError>>() == 16);

/// The system's error when a thread's stack or memory could not be allocated, and the thread.
pub struct NoStack(Box<(io::Error, JoinedThread)>);

impl NoStack {
    /// The system's error.
    pub fn error(&self) -> &io::Error {
        &self.0.0
    }

    /// The system's error, without the thread.
    pub fn into_error(self) -> io::Error {
        self.0.0
    }

    /// The thread that never ran.
    pub fn thread(&self) -> Option<&ThreadInfo> {
        self.0.1.info()
    }
}

impl fmt::Debug for NoStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoStack").field("error", self.error()).field("thread", &self.0.1).finish()
    }
}

/// The thread that a [`JoinError`] is about.
#[derive(Clone, Default)]
pub struct JoinedThread(Option<Box<ThreadInfo>>);

impl JoinedThread {
    /// The thread's info. `None` if there was no thread, or it was already gone.
    pub fn info(&self) -> Option<&ThreadInfo> {
        self.0.as_deref()
    }
}

impl JoinError {
    /// The error for a thread's unwind payload: distinguishes cancellation from a panic.
    #[cold]
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Self {
        if payload.is::<CancelUnwind>() { Self::cancelled() } else { Self::Panicked(Panic::caught(payload)) }
    }

    #[cold]
    pub(crate) fn cancelled() -> Self {
        Self::Cancelled(JoinedThread(None))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn cancelled_of(thread: ThreadInfo) -> Self {
        Self::Cancelled(JoinedThread(Some(Box::new(thread))))
    }

    #[cold]
    pub(crate) fn unwinding() -> Self {
        Self::Unwinding(JoinedThread(None))
    }

    #[cold]
    pub(crate) fn no_stack(error: io::Error) -> Self {
        Self::NoStack(NoStack(Box::new((error, JoinedThread(None)))))
    }

    /// Adds the thread, if the error has none yet.
    #[cold]
    #[inline(never)]
    pub(crate) fn of(mut self, thread: impl FnOnce() -> ThreadInfo) -> Self {
        if self.thread().is_none() {
            match &mut self {
                Self::Panicked(panic) => panic.set_thread(thread()),
                Self::NoStack(refused) => refused.0.1 = JoinedThread(Some(Box::new(thread()))),
                Self::Cancelled(of) | Self::Unwinding(of) => of.0 = Some(Box::new(thread())),
            }
        }
        self
    }

    pub(crate) fn of_maybe(self, thread: Option<ThreadInfo>) -> Self {
        match thread {
            Some(thread) => self.of(|| thread),
            None => self,
        }
    }

    /// The thread that has no result. `None` if there was no thread, or it was already gone: a parasite that
    /// was over at once, a scope that could not start any.
    pub fn thread(&self) -> Option<&ThreadInfo> {
        match self {
            Self::Panicked(panic) => panic.thread(),
            Self::NoStack(refused) => refused.thread(),
            Self::Cancelled(of) | Self::Unwinding(of) => of.info(),
        }
    }
}

/// The thread's kind, number and name.
struct Who<'a>(Option<&'a ThreadInfo>);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(info) => write!(f, "{info}"),
            None => f.write_str("the thread"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = Who(self.thread());
        match self {
            Self::Panicked(panic) => write!(f, "{who} panicked: {panic}"),
            Self::Cancelled(_) => write!(f, "{who} was cancelled"),
            Self::NoStack(refused) => {
                write!(f, "{who} never ran, no stack or memory was left for it: {}", refused.error())
            }
            Self::Unwinding(_) => write!(f, "the caller is unwinding and must not wait for {who}"),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl fmt::Debug for JoinedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Who(self.info()))
    }
}

impl std::error::Error for JoinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoStack(refused) => Some(refused.error()),
            _ => None,
        }
    }
}
