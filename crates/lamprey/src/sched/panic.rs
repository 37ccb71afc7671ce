//! [`Panic`], the payload and origin of a panic that has ended a thread, and [`Panics`], what a runtime or
//! scope does about one that is not joined.

#[cfg(not(loom))]
use super::info::ThreadInfo;
use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt;

/// A panic that has left a thread's closure or future: its payload, and where it began.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let host = lamprey::spawn(|| {
///     std::panic::panic_any("no bread".to_owned());
/// });
/// let Err(lamprey::JoinError::Panicked(panic)) = host.join() else { unreachable!() };
/// assert_eq!(panic.message(), "no bread");
/// assert_eq!(panic.downcast_ref::<String>().unwrap(), "no bread");
/// assert!(panic.location().unwrap().contains(".rs:"));
/// # });
/// ```
pub struct Panic(pub(super) Box<Inner>);

// SAFETY: by a shared reference only the type of the payload can be seen (`is`), and the payload itself if it is `Sync`
// (`downcast_ref`); everything else in it is `Sync`.
unsafe impl Sync for Panic {}

pub(super) struct Inner {
    pub(super) payload: Box<dyn Any + Send>,
    pub(super) origin: Option<Origin>,
    #[cfg(not(loom))]
    pub(super) thread: Option<ThreadInfo>,
}

/// Where a panic began; noted by the panic hook, on the stack that panics.
pub(super) struct Origin {
    /// The id of the thread, so that the note of one thread is not taken for another's.
    pub(super) id: u64,
    pub(super) location: String,
    pub(super) backtrace: Backtrace,
    /// The hook has printed which thread panics.
    pub(super) is_named: bool,
}

/// What a runtime or scope does about a panic that is not joined, because the handle was dropped or is
/// dropped unjoined. (If it is dropped outside of the runtime, on an OS thread, the panic is only reported.)
///
/// For a runtime ([`RuntimeBuilder::panics`](crate::RuntimeBuilder::panics)) the default is
/// [`Report`](Self::Report), for a [`scope`](crate::scope()) it is [`Propagate`](Self::Propagate).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Panics {
    /// It is reported on standard error; all other threads continue.
    Report,
    /// All other threads of the runtime, or the scope, are cancelled; [`Runtime::run`](crate::Runtime::run),
    /// or `scope`, then panics with the payload. Of several panics the first counts, the others are reported.
    Propagate,
    /// It is reported, and ends the process.
    Abort,
}

impl Panic {
    /// What a runtime ends with that finds its program wrong: no thread has panicked.
    #[cfg(not(loom))]
    pub(super) fn of_runtime(message: String) -> Self {
        Self(Box::new(Inner { payload: Box::new(message), origin: None, thread: None }))
    }

    /// The payload, to resume the panic with.
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.0.payload
    }

    /// True if the payload is of this type.
    pub fn is<T: Any>(&self) -> bool {
        self.0.payload.is::<T>()
    }

    /// The payload, if it is of this type. One that is not `Sync` can only be taken: by [`into_payload`](Self::into_payload).
    pub fn downcast_ref<T: Any + Sync>(&self) -> Option<&T> {
        self.0.payload.downcast_ref()
    }

    /// The message of the panic, if its payload is a string.
    pub fn message(&self) -> &str {
        let text = self.downcast_ref::<&str>().copied();
        text.or_else(|| self.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(a payload without text)")
    }

    /// Where it was raised: file, line, column. `None` if it was raised by
    /// [`resume_unwind`](std::panic::resume_unwind), or if the program has replaced the panic hook after its
    /// first runtime was built.
    pub fn location(&self) -> Option<&str> {
        self.0.origin.as_ref().map(|origin| &*origin.location)
    }

    /// Which thread it has ended, if it was joined.
    #[cfg(not(loom))]
    pub fn thread(&self) -> Option<&ThreadInfo> {
        self.0.thread.as_ref()
    }

    /// True if it has been printed which thread it is in: a panic hook prints the rest.
    #[cfg(not(loom))]
    pub(crate) fn is_named(&self) -> bool {
        self.0.origin.as_ref().is_some_and(|origin| origin.is_named)
    }

    #[cfg(not(loom))]
    pub(crate) fn set_thread(&mut self, thread: ThreadInfo) {
        self.0.thread = Some(thread);
    }

    /// The stack where it was raised. As in `std`, it is captured only if `RUST_BACKTRACE` or
    /// `RUST_LIB_BACKTRACE` is set. If the thread raised and caught other panics while it unwound, it is the
    /// stack of the latest.
    pub fn backtrace(&self) -> Option<&Backtrace> {
        self.0.origin.as_ref().map(|origin| &origin.backtrace)
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panic").field("message", &self.message()).field("location", &self.location()).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            Some(location) => write!(f, "{} (at {location})", self.message()),
            None => f.write_str(self.message()),
        }
    }
}
