//! Why a join gives no result, and of which thread.

use crate::sched::block::CancelUnwind;
use crate::sched::info::ThreadInfo;
use crate::sched::panic::Panic;
use std::any::Any;
use std::fmt;
use std::io;

/// Why a thread has no result. Its text says which thread: host or parasite, number, name.
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
    /// It panicked: the payload, where it began, and [which thread](Panic::thread).
    Panicked(Panic),
    /// It was ended before it had a result: [cancelled](crate::JoinHandle::cancel), by its scope, or because
    /// its runtime was shut down.
    Cancelled(JoinedThread),
    /// It never ran, because no stack, or no memory, could be had for it.
    NoStack(NoStack),
    /// It had not finished, and the caller was unwinding from a panic, when a thread must not block. What
    /// becomes of it is what dropping its handle does.
    Unwinding(JoinedThread),
}

// An outcome of two words: every host has one in its join cell.
const _: () = assert!(size_of::<Result<(), JoinError>>() == 16);

/// What the system said when there was no stack, or no memory, for a thread, and which thread.
pub struct NoStack(Box<(io::Error, JoinedThread)>);

impl NoStack {
    /// The error of the system.
    pub fn error(&self) -> &io::Error {
        &self.0.0
    }

    /// The error of the system, without the thread.
    pub fn into_error(self) -> io::Error {
        self.0.0
    }

    /// Which thread never ran.
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
    /// Who it is. `None` where there was no thread any more, or never one.
    pub fn info(&self) -> Option<&ThreadInfo> {
        self.0.as_deref()
    }
}

impl JoinError {
    /// Of what a thread has unwound with: tells its cancellation from a panic.
    #[cold]
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Self {
        if payload.is::<CancelUnwind>() { Self::cancelled() } else { Self::Panicked(Panic::caught(payload)) }
    }

    #[cold]
    pub(crate) fn cancelled() -> Self {
        Self::Cancelled(JoinedThread(None))
    }

    #[cold]
    pub(crate) fn unwinding() -> Self {
        Self::Unwinding(JoinedThread(None))
    }

    #[cold]
    pub(crate) fn no_stack(error: io::Error) -> Self {
        Self::NoStack(NoStack(Box::new((error, JoinedThread(None)))))
    }

    /// The same, of this thread, if it was of none.
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

    /// The thread that has no result. `None` where there was no thread any more, or never one: a result that
    /// was asked for twice, a scope that could start nothing.
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
