//! Where code of the program is called and must not switch: what is not finished there would be met by other
//! threads.
//!
//! # Invariants
//! 1. While code that was called by [`no_switch`] runs, its thread is BARRED (a bit of `Thread::eager`, which
//!    each block looks at anyhow): whatever would have to wait, or start something on top, ends the process,
//!    and says who called.
//! 2. A worker's root is always BARRED.
//! 3. Nobody switches while the kernel thread unwinds: the panic count is the kernel thread's, so another
//!    host would be taken for one that panics. Calls that would have to wait look at that first and fail
//!    ([`must_not_block`](super::must_not_block)); here, in the switch itself, is the last look.
//!
//! The table of all places where code of the program is called is in `HACKING.md`.
//!
//! # Rejected
//! * To let such code wait, shielded from cancellation: what others are owed comes late, and a thread that is
//!   queued already could be given the wake of that queue in the middle of another wait.
//! * To refuse by a panic: the callers have nowhere to go with it.
//!
//! # Checked by
//! `tests/callouts/guard.rs`, `tests/callouts/generator.rs`.

use super::thread::{SOURCE, Thread};
use super::worker::Worker;
use std::ptr;

/// Runs code of the program that must not switch; `who` is in the message if it does. On a kernel thread
/// outside of every worker it only runs it.
pub(crate) fn no_switch<R>(who: &'static str, code: impl FnOnce() -> R) -> R {
    let Some(worker) = Worker::current() else { return code() };
    let thread = worker.running_ref();
    let _until = Barred { worker, thread, was: thread.is_barred(), before: worker.caller.replace(who) };
    thread.set_barred(true);
    code()
}

/// Gives the thread back what it had, also when the code unwinds.
struct Barred<'a> {
    worker: &'a Worker,
    thread: &'a Thread,
    was: bool,
    before: &'static str,
}

impl Drop for Barred<'_> {
    fn drop(&mut self) {
        self.thread.set_barred(self.was);
        self.worker.caller.set(self.before);
    }
}

/// Ends the process: code that must not switch was about to. (It has perhaps been woken before it got to the
/// block.)
#[cold]
#[inline(never)]
pub(super) fn has_switched(worker: Option<&Worker>) -> ! {
    let who = worker.map_or(SOURCE, |worker| worker.caller.get());
    crate::bug::say!(
        "{who} called a blocking call, or started a stackful parasite: it must not block, because other threads of its worker wait \
         for it to return; let it hand the work to a host"
    );
    std::process::abort()
}

impl Worker {
    /// Ends the process if code that must not switch runs; not if that is a source, which starts nothing but
    /// hears of it.
    pub(crate) fn must_not_be_called_out(&self) {
        if self.running_ref().is_barred() && !ptr::eq(self.caller.get(), SOURCE) {
            has_switched(Some(self));
        }
    }
}

/// Ends the process: a thread was about to switch in the middle of an unwind.
#[cold]
#[inline(never)]
pub(super) fn switches_in_unwind() -> ! {
    crate::bug::say!(
        "a thread was about to switch while it unwinds: a stackful coroutine of another library was left in the middle of a call of \
         Lamprey's, and dropped by an unwind"
    );
    std::process::abort()
}

/// Has generators be checked for what is open where they are suspended: see [`mark`].
#[cold]
pub(crate) fn mark_generators() {
    static MARKED: std::sync::Once = std::sync::Once::new();
    MARKED.call_once(|| {
        if !swapstack::generator::set_mark(mark) {
            crate::bug::say!(
                "swapstack::generator::set_mark has been called before Lamprey's first use, which needs it: generators could be suspended \
                 where that breaks memory; leave it to Lamprey in programs that use both"
            );
            std::process::abort();
        }
    });
}

/// Who runs on the calling kernel thread, and the innermost of what that has entered ([`super::cancel`]). A
/// thread that is left by suspending a generator must have left it, too: another thread may be the one that
/// goes on there.
fn mark() -> swapstack::generator::Mark {
    let Some(worker) = Worker::current() else { return [0, super::os::frames().addr()] };
    let thread = worker.running_ref();
    let who = thread.polled().map_or(ptr::from_ref(thread).addr(), |task| task.addr().get());
    [who, thread.frames.get().addr()]
}
