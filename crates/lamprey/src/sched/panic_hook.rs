//! The panic hook that notes where a panic began, in front of the program's hook; [`Panic::caught`] takes the
//! note up where the panic is caught.

use super::panic::{Inner, Origin, Panic};
#[cfg(not(loom))]
use super::worker::Worker;
use crate::sync_shim::watched::Mutex;
use std::any::Any;
use std::backtrace::Backtrace;
#[cfg(not(loom))]
use std::cell::Cell;
use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::PoisonError;

thread_local! {
    /// The latest panic of this kernel thread. While a thread unwinds, no other runs on its kernel thread.
    static LATEST: RefCell<Option<Origin>> = const { RefCell::new(None) };
}

#[cfg(not(loom))]
std::thread_local! {
    /// The hook prints nothing of this kernel thread's panics.
    static HUSHED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, which does not unwind; of panics in it nothing is printed.
#[cfg(not(loom))]
pub(crate) fn hushed<R>(f: impl FnOnce() -> R) -> R {
    install_hook();
    with_hush(true, f)
}

/// As [`hushed`], if `is_hushed`.
#[cfg(not(loom))]
pub(crate) fn with_hush<R>(is_hushed: bool, f: impl FnOnce() -> R) -> R {
    let before = HUSHED.replace(is_hushed);
    let result = f();
    HUSHED.set(before);
    result
}

#[cfg(not(loom))]
crate::memory::lasting::lasting_local! {
    /// Where and on which thread the first panic of a hushed piece of code was.
    static FIRST: RefCell<Option<String>> = RefCell::new(None);
}

/// Where, and on which thread, the first panic was since the last call, in [`hushed`] code of this kernel thread.
#[cfg(not(loom))]
pub(crate) fn take_first() -> Option<String> {
    FIRST.with(RefCell::take)
}

#[cfg(not(loom))]
fn remember(info: &PanicHookInfo<'_>) {
    let Some(place) = info.location() else { return };
    let mut text = format!("at {place}");
    if let Some(worker) = Worker::current().filter(|worker| !worker.is_on_root()) {
        text.push_str(", on ");
        // Writing to a `String` cannot fail.
        let _ = worker.running_ref().describe(&mut text);
    }
    FIRST.with(|first| _ = first.borrow_mut().get_or_insert(text));
}

/// True within [`hushed`].
#[cfg(not(loom))]
pub(crate) fn is_hushed() -> bool {
    HUSHED.get()
}

impl Panic {
    /// A panic with a payload that has just been caught on the calling thread.
    #[cold]
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Self {
        let latest = LATEST.try_with(RefCell::take).ok().flatten();
        let origin = latest.filter(|origin| Some(origin.id) == running_id());
        Self(Box::new(Inner {
            payload,
            origin,
            #[cfg(not(loom))]
            thread: None,
        }))
    }

    /// Resumes the panic with the payload; the panic hook is not called again.
    pub fn resume(self) -> ! {
        if let Some(mut origin) = self.0.origin
            && let Some(id) = running_id()
        {
            origin.id = id; // the origin moves with the panic to this thread
            let _ = LATEST.try_with(|latest| latest.replace(Some(origin)));
        }
        std::panic::resume_unwind(self.0.payload)
    }
}

fn running_id() -> Option<u64> {
    // The threads of the checker have no numbers.
    #[cfg(loom)]
    return None;
    #[cfg(not(loom))]
    Worker::current().map(|worker| worker.running_ref().label.id.get())
}

/// Installs, once, a hook in front of the program's that names the thread that panics and notes where the
/// panic begins.
pub(crate) fn install_hook() {
    static INSTALLED: Mutex<bool> = Mutex::new(false);
    if std::thread::panicking() {
        return; // hooks cannot be changed now; the next runtime does it
    }
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *installed, true) {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            #[cfg(not(loom))]
            if is_hushed() {
                note(info, false);
                return remember(info);
            }
            note(info, true);
            name_who_panics(info);
            before(info);
        }));
    }
}

/// Prints which thread panics: the previous hook, usually that of `std`, knows only the kernel thread. With the first line of
/// the message, which a hook of the program's may leave out.
#[cfg_attr(loom, allow(unused_variables))]
fn name_who_panics(info: &PanicHookInfo<'_>) {
    #[cfg(not(loom))]
    if let Some(worker) = Worker::current().filter(|worker| !worker.is_on_root()) {
        let mut who = String::new();
        // Writing to a `String` cannot fail.
        let _ = worker.running_ref().describe(&mut who);
        if worker.running_ref().is_barred() {
            crate::bug::say!("a panic in {}, which was called while {who} ran:", worker.caller.get());
        } else {
            let text = info.payload_as_str().and_then(|text| text.lines().next()).unwrap_or_default();
            crate::bug::say!("a panic in {who}: {text}");
        }
    }
}

fn note(info: &PanicHookInfo<'_>, is_named: bool) {
    let (Some(id), Some(location)) = (running_id(), info.location()) else { return };
    let origin = Origin { id, location: location.to_string(), backtrace: Backtrace::capture(), is_named };
    // If the thread-local is gone or borrowed (a panic while it is changed), nothing is noted.
    let _ = LATEST.try_with(|latest| latest.try_borrow_mut().map(|mut latest| latest.replace(origin)));
}
