//! The one runtime of tokio, and its context on the kernel threads that poll such futures.
//!
//! # Invariants
//! 1. tokio's thread-local holds a runtime's handle wherever it has been entered more often than left. A context is entered here
//!    only where there is none, and is never left: so on a kernel thread where [`ENTERED`] is true there is always a handle.
//! 2. The runtime that is started here is never dropped.
//!
//! # The end of a kernel thread
//! tokio's thread-local drops the handle. Invariant 2: it is not the last one, so no runtime ends there.

use ::tokio::runtime::{Builder, Handle, Runtime};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{error, fmt, io, mem};

thread_local! {
    /// This kernel thread has entered the context for good.
    static ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// The runtime, once it is known.
static SERVING: OnceLock<Serving> = OnceLock::new();

/// Held by the one thread that starts the runtime; no host blocks with it.
static STARTING: Mutex<()> = Mutex::new(());

struct Serving {
    handle: Handle,
    /// `None` if it is the program's own.
    _runtime: Option<Runtime>,
}

/// A handle of the runtime whose context [`tokio`](super::tokio()) enters. Starts the runtime, if nobody has.
///
/// # Examples
/// ```
/// let handle = lamprey_compat::tokio::handle()?;
/// // A task on tokio's thread, and a host that waits for it.
/// let sum = lamprey::run(|| lamprey::wait(handle.spawn(async { 1 + 2 }))).unwrap();
/// assert_eq!(sum, 3);
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// If the runtime cannot be started: no kernel thread or descriptor is left. A later call tries again.
pub fn handle() -> io::Result<Handle> {
    Ok(serving()?.handle.clone())
}

fn serving() -> io::Result<&'static Serving> {
    if let Some(serving) = SERVING.get() {
        return Ok(serving);
    }
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(serving) = SERVING.get() {
        return Ok(serving);
    }
    let runtime = start().map_err(|error| {
        io::Error::new(error.kind(), format!("tokio's runtime cannot be started: {error}"))
    })?;
    Ok(SERVING.get_or_init(|| Serving { handle: runtime.handle().clone(), _runtime: Some(runtime) }))
}

fn start() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).thread_name("lamprey-tokio").enable_all();
    // tokio panics if it gets no kernel thread.
    catch_unwind(AssertUnwindSafe(|| builder.build())).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(io::Error::other(text.unwrap_or("it panicked").to_owned()))
    })
}

/// From now on the calling kernel thread has tokio's context, and so have all hosts that run on it.
///
/// For blocking code that calls a constructor, or runs a destructor, which asks for the context without being a future. After it
/// `tokio::runtime::Handle::current()` works there. A thread that has a context keeps it.
///
/// A host keeps its kernel thread, so once is enough for it. A parasite may be polled on several: it uses [`tokio`](super::tokio()).
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     lamprey_compat::tokio::enter();
///     let started = tokio::time::Instant::now();
///     let sleep = tokio::time::sleep(std::time::Duration::from_millis(2)); // panics outside of a context
///     lamprey::wait(sleep);
///     assert!(started.elapsed().as_millis() >= 2);
/// });
/// ```
///
/// # Panics
/// If the runtime cannot be started (call [`handle`] first to have that as an error), and in a destructor of a thread-local after
/// tokio's own is gone.
pub fn enter() {
    if !ENTERED.get()
        && let Err(error) = enter_for_good()
    {
        panic!("lamprey_compat::tokio: {error}");
    }
}

/// As [`enter`], where a runtime is serving already; never panics.
pub(super) fn enter_if_started() {
    if !ENTERED.get() && SERVING.get().is_some() {
        // An error: the kernel thread ends, and tokio has no context for it any more.
        let _ = enter_for_good();
    }
}

/// The context is the one that was entered here, so no task of tokio runs on this kernel thread.
pub(super) fn is_ours() -> bool {
    ENTERED.get()
}

#[cold]
fn enter_for_good() -> io::Result<()> {
    match Handle::try_current() {
        Ok(_) => return Ok(()),
        Err(error) if error.is_thread_local_destroyed() => {
            return Err(io::Error::other("the kernel thread ends, and tokio's thread-local is gone"));
        }
        Err(_) => {}
    }
    mem::forget(serving()?.handle.enter());
    ENTERED.set(true);
    Ok(())
}

/// Lets [`tokio`](super::tokio()) use a runtime of the program, instead of starting one. To be called before anything needs it.
///
/// The runtime has to run for as long as such futures do: one of kind `current_thread` only runs within its `block_on`, and after the end
/// of a runtime its timers and sockets panic or fail.
///
/// # Examples
/// ```
/// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
/// lamprey_compat::tokio::set_runtime(runtime.handle().clone()).expect("nothing has used it yet");
/// assert_eq!(lamprey_compat::tokio::handle()?.id(), runtime.handle().id());
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// If a runtime has been set, or started, before. The error has the handle.
pub fn set_runtime(handle: Handle) -> Result<(), RuntimeIsSet> {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    SERVING.set(Serving { handle, _runtime: None }).map_err(|serving| RuntimeIsSet(serving.handle))
}

/// Why [`set_runtime`] has failed: futures use another runtime already. Has the handle that was given.
#[derive(Debug)]
pub struct RuntimeIsSet(pub Handle);

impl fmt::Display for RuntimeIsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the runtime of tokio for Lamprey's threads has been set or started before; call set_runtime at the start of the program"
        )
    }
}

impl error::Error for RuntimeIsSet {}
