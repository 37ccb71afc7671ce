//! What is left of a panic that has ended a thread, and what a runtime or a scope does about one that nobody
//! joins.

#[cfg(not(loom))]
use super::worker::Worker;
use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

/// A panic that has left a thread's closure or future: its payload, and where it began. It is used like its
/// payload: `is` and `downcast_ref` of [`Any`](std::any::Any) are there by `Deref`.
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
pub struct Panic(Box<Inner>);

struct Inner {
    payload: Box<dyn Any + Send>,
    origin: Option<Origin>,
}

/// Noted by the panic hook, on the stack that panics.
struct Origin {
    /// The thread's number, so that what one left behind is not taken for another's.
    id: u64,
    location: String,
    backtrace: Backtrace,
}

/// What becomes of a panic that nobody joins: the handle was dropped, or is dropped unjoined. (If that is
/// outside of the runtime, on an OS thread, it is only reported.)
///
/// Of a runtime ([`RuntimeBuilder::panics`](crate::RuntimeBuilder::panics)) the default is
/// [`Report`](Self::Report), of a [`scope`](crate::scope()) it is [`Propagate`](Self::Propagate).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Panics {
    /// It is reported on standard error, and all else goes on.
    Report,
    /// All other threads of the runtime, or the scope, are cancelled; [`Runtime::run`](crate::Runtime::run),
    /// or `scope`, then panics with the payload. Of several panics the first counts, the others are reported.
    Propagate,
    /// It is reported, and ends the process.
    Abort,
}

thread_local! {
    /// The latest panic of this kernel thread. While a thread unwinds nobody else runs on its kernel thread.
    static LATEST: RefCell<Option<Origin>> = const { RefCell::new(None) };
}

impl Panic {
    /// Of a payload that has just been caught on the calling thread.
    #[cold]
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Self {
        let latest = LATEST.try_with(RefCell::take).ok().flatten();
        let origin = latest.filter(|origin| Some(origin.id) == running_id());
        Self(Box::new(Inner { payload, origin }))
    }

    /// The payload, for whom the panic goes on elsewhere.
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.0.payload
    }

    /// Panics with the payload; the panic hook is not called again.
    pub fn resume(self) -> ! {
        if let Some(mut origin) = self.0.origin
            && let Some(id) = running_id()
        {
            origin.id = id; // where it began stays with it
            let _ = LATEST.try_with(|latest| latest.replace(Some(origin)));
        }
        std::panic::resume_unwind(self.0.payload)
    }

    /// The text of the panic, if its payload is one.
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

    /// The stack where it was raised. As std's, it is captured only if `RUST_BACKTRACE` or
    /// `RUST_LIB_BACKTRACE` is set. If the thread raised and caught other panics while it unwound, it is that
    /// of the latest.
    pub fn backtrace(&self) -> Option<&Backtrace> {
        self.0.origin.as_ref().map(|origin| &origin.backtrace)
    }
}

impl Deref for Panic {
    type Target = dyn Any + Send;

    fn deref(&self) -> &Self::Target {
        &*self.0.payload
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

fn running_id() -> Option<u64> {
    // The threads of the checker have no numbers.
    #[cfg(loom)]
    return None;
    #[cfg(not(loom))]
    Worker::current().map(|worker| worker.running_ref().label.id.get())
}

/// Puts a hook in front of the program's, once, that says whose a panic is, and notes where it begins.
pub(crate) fn install_hook() {
    static INSTALLED: Mutex<bool> = Mutex::new(false);
    if std::thread::panicking() {
        return; // hooks cannot be changed now; the next runtime does it
    }
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *installed, true) {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            note(info);
            name_who_panics();
            before(info);
        }));
    }
}

/// The hook before this one, std's as a rule, knows the kernel thread only.
fn name_who_panics() {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current().filter(|worker| !worker.is_on_root()) {
        let mut who = String::new();
        // A `String` takes everything.
        let _ = worker.running_ref().describe(&mut who);
        crate::bug::say!("a panic in {who}:");
    }
}

fn note(info: &PanicHookInfo<'_>) {
    let (Some(id), Some(location)) = (running_id(), info.location()) else { return };
    let origin = Origin { id, location: location.to_string(), backtrace: Backtrace::capture() };
    // A thread-local that is gone, or a panic while it is changed: nothing is noted.
    let _ = LATEST.try_with(|latest| latest.try_borrow_mut().map(|mut latest| latest.replace(origin)));
}
