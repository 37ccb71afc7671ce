//! Sections in which code of the program is called and must not switch, because other threads would see an
//! unfinished state.
//!
//! # Invariants
//! 1. While code called by [`no_switch`] runs, its thread is BARRED (a bit of `Thread::eager`, which each
//!    block reads anyway): an operation that would wait, or start a thread on top, ends the process with a
//!    message that names the caller.
//! 2. A worker's root is always BARRED.
//! 3. No thread switches while the kernel thread unwinds: the panic count belongs to the kernel thread, so
//!    another host would be taken for one that panics. Calls that would have to wait check that first and
//!    fail ([`must_not_block`](super::must_not_block)); the switch itself checks it again.
//!
//! The table of all places where code of the program is called is in `HACKING.md`.
//!
//! # Rejected
//! * Letting such code wait, shielded from cancellation: pending wakes of other threads are delayed, and a
//!   thread that is already queued could receive the wake of that queue in the middle of another wait.
//! * Refusing by a panic: the callers cannot handle one.
//!
//! # Checked by
//! `tests/callouts/guard.rs`, `tests/callouts/generator.rs`.

use super::thread::{SOURCE, Thread};
use super::worker::Worker;
use std::ptr;

/// Runs code of the program that must not switch; the message names `who` if it does. On a kernel thread
/// outside of every worker it only runs the code.
pub(crate) fn no_switch<R>(who: &'static str, code: impl FnOnce() -> R) -> R {
    let Some(worker) = Worker::current() else { return code() };
    let thread = worker.running_ref();
    let _until = Barred { worker, thread, was: thread.is_barred(), before: worker.caller.replace(who) };
    thread.set_barred(true);
    code()
}

/// Restores the thread's state on drop, also when the code unwinds.
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

/// [`no_switch`] for code that is called so often that each store counts, and within which no other code is
/// called so: what `who` was before is not restored, as it is used only while the bit is set.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn no_switch_briefly<R>(who: &'static str, code: impl FnOnce() -> R) -> R {
    let Some(worker) = Worker::current() else { return code() };
    let thread = worker.running_ref();
    if thread.is_barred() {
        // It is already called by code that names itself.
        return code();
    }
    worker.caller.set(who);
    thread.set_barred(true);
    let _until = Unbar(thread);
    code()
}

/// Clears the bit on drop, also when the code unwinds.
struct Unbar<'a>(&'a Thread);

impl Drop for Unbar<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.0.set_barred(false);
    }
}

/// Ends the process: code that must not switch was about to. (The thread may have been woken before it
/// reached the block.)
#[cold]
#[inline(never)]
pub(super) fn has_switched(worker: Option<&Worker>) -> ! {
    let who = worker.map_or(SOURCE, |worker| worker.caller.get());
    let advice = match who {
        "a transaction" => "do that after the transaction, or wait for a variable by `retry`",
        _ => "let it hand the work to a host",
    };
    crate::bug::say!(
        "{who} called a blocking call, or started a stackful parasite: it must not block, because other threads of its worker wait \
         for it to return; {advice}"
    );
    #[cfg(not(loom))]
    say_where(worker);
    std::process::abort()
}

/// Which thread that was, and in a simulation its seed.
#[cfg(not(loom))]
fn say_where(worker: Option<&Worker>) {
    let mut on = String::new();
    if worker.is_some_and(|worker| worker.running_ref().describe(&mut on).is_ok()) {
        crate::bug::say!("that was on {on}");
    }
    if let Some(seed) = crate::world::with(|world| world.chance.draws().to_string()) {
        crate::bug::say!("in a simulation: LAMPREY_SEED={seed}");
    }
}

impl Worker {
    /// Ends the process if code that must not switch runs, except in a source: there the start of a stackful
    /// parasite is refused, and its handle reports that.
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

/// Installs [`mark`], so that a generator is checked for open sections when it is suspended.
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

/// The thread that runs on the calling kernel thread, and the innermost frame that it has entered
/// ([`super::cancel`]). A frame must be left before the stack is left by suspending a generator, because
/// another thread may resume it.
fn mark() -> swapstack::generator::Mark {
    let Some(worker) = Worker::current() else { return [0, super::os::frames().addr()] };
    let thread = worker.running_ref();
    let who = thread.polled().map_or(ptr::from_ref(thread).addr(), |task| task.addr().get());
    [who, thread.frames.get().addr()]
}
