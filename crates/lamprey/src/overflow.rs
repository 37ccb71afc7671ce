//! The report of a stack overflow: names the thread for the line that `swapstack` prints before it aborts,
//! then prints advice and a backtrace of the overflowed stack.

use crate::sched::inspect::overflowed;
use crate::sched::worker::Worker;
use swapstack::overflow::{Fault, Report};

/// The advice to use a stack of this many MiB.
macro_rules! advice {
    ($mib:literal) => {
        concat!(
            "lamprey: stacks do not grow. For this thread: Builder::stack_size (or a host instead of a parasite); for all, ",
            "the main host included: the environment variable LAMPREY_STACK_SIZE=",
            $mib,
            "M, or Runtime::builder().stack_size(",
            $mib,
            " << 20)\n"
        )
    };
}

/// The advice for a stack of `size` bytes that has overflowed: the next larger size.
fn advice(size: usize) -> &'static str {
    match size >> 20 {
        0 => advice!("1"),
        1..8 => advice!("8"),
        8..64 => advice!("64"),
        64..512 => advice!("512"),
        _ => {
            "lamprey: stacks do not grow, and this one is nearly as large as can be: the recursion has no end, or belongs into a heap\n"
        }
    }
}

/// Installs the handler, once for the process.
pub(crate) fn install() {
    // SAFETY: `describe` is async-signal-safe: it allocates nothing, locks nothing and does not panic
    // (formatting into a report cannot), and the fields of the running thread that it reads do not change
    // while the thread runs. `advise` writes a constant, and waits for the ticker.
    unsafe {
        swapstack::overflow::install(Some(describe));
        swapstack::overflow::before_abort(advise);
    }
}

/// Runs in the signal handler, on the kernel thread that has overflowed: reads constant fields of the running
/// thread, allocates nothing, locks nothing.
fn describe(_fault: &Fault, report: &mut Report) -> bool {
    Worker::current().is_some_and(|worker| worker.running_ref().describe(report).is_ok())
}

/// Runs in the same signal handler, after the report has been printed.
fn advise(fault: &Fault) {
    let Some(worker) = Worker::current() else { return };
    let advice = advice(fault.top.abs_diff(fault.limit));
    // SAFETY: the bytes are a constant. The result does not matter: a failed write has no remedy here.
    unsafe { libc::write(libc::STDERR_FILENO, advice.as_ptr().cast(), advice.len()) };
    // SAFETY: the pointer is what the kernel passed to the handler that calls this.
    unsafe { overflowed::show(fault.machine, fault.limit..fault.top, &worker.shared.ticker) };
}
