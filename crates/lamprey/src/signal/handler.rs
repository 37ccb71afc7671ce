//! The process's signal handlers: those of `signal-hook-registry`, which call all who listen, and before them the handler
//! that was there before.
//!
//! Invariants
//! * What a handler calls is async-signal-safe: it takes no lock, uses no allocator, and does not panic.
//! * A handler of ours runs on the alternate stack, which each worker and each of `std`'s threads has: a host's own stack may
//!   have no room for the kernel's signal frame (some KiB). Meanwhile all other signals wait, so the frames do not pile up
//!   there. If there was a handler before that did not ask for the alternate stack, it stays on the stack that it had: it may
//!   need more room.

use super::number::Signal;
use crate::kernel::fork::PerProcess;
use crate::sync_shim::watched::Mutex;
use rustix::process::getpid;
use signal_hook_registry::SigId;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::PoisonError;

/// Calls `action` at each signal of this number from now on, until [`remove`].
///
/// # Errors
/// The system's, if it allows no handler.
///
/// # Safety
/// `action` is async-signal-safe and does not panic. The number is none of a fault, and none that cannot be handled.
pub(super) unsafe fn add(number: i32, action: impl Fn() + Send + Sync + 'static) -> io::Result<SigId> {
    static ONE_AT_A_TIME: PerProcess<Mutex<()>> = PerProcess::new();
    let _one = ONE_AT_A_TIME.get().lock().unwrap_or_else(PoisonError::into_inner);
    let before = present(number)?;
    // SAFETY: as promised by the caller.
    let id = unsafe { signal_hook_registry::register(number, action) }?;
    let is_handler = ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction);
    if (!is_handler || before.sa_flags & libc::SA_ONSTACK != 0)
        && let Err(error) = on_alternate_stack(number)
    {
        remove(id);
        return Err(error);
    }
    Ok(id)
}

/// Adds 1 to an eventfd at each signal from now on, for ever; not in a child made by `fork`.
///
/// # Errors
/// `InvalidInput` for a signal that nobody can listen for; the system's, if it allows no handler.
pub(crate) fn ring_at(signal: Signal, bell: Arc<OwnedFd>) -> io::Result<()> {
    signal.bit()?;
    let process = getpid();
    let ring = move || {
        if getpid() == process {
            // It fails only when the counter is full, and then it is readable.
            let _ = rustix::io::write(&*bell, &1_u64.to_ne_bytes());
        }
    };
    // SAFETY: `getpid` and `write` are async-signal-safe. `Signal::bit` has refused faults and what cannot be handled.
    unsafe { add(signal.as_raw(), ring) }.map(|_| ())
}

/// Ends the calls. When this returns, none of them runs.
pub(super) fn remove(id: SigId) {
    signal_hook_registry::unregister(id);
}

/// What the kernel does now at a signal of this number.
fn present(number: i32) -> io::Result<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the call only writes to `action`; zeroed is a valid value, too.
    let (result, action) =
        unsafe { (libc::sigaction(number, std::ptr::null(), action.as_mut_ptr()), action.assume_init()) };
    if result == 0 { Ok(action) } else { Err(io::Error::last_os_error()) }
}

/// The handler that is there runs on the alternate stack from now on, one at a time.
fn on_alternate_stack(number: i32) -> io::Result<()> {
    let mut action = present(number)?;
    action.sa_flags |= libc::SA_ONSTACK;
    // SAFETY: plain calls with pointers to live locals. Faults are not masked: they end the process with a report. The
    // handler is the registry's, which may run on every stack.
    let result = unsafe {
        libc::sigfillset(&raw mut action.sa_mask);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS] {
            libc::sigdelset(&raw mut action.sa_mask, fault);
        }
        libc::sigaction(number, &raw const action, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
