//! Names the thread whose stack has overflowed, for the report that `swapstack` prints before it aborts; then
//! says what helps, and shows the stack.

use crate::sched::inspect::overflowed;
use crate::sched::worker::Worker;
use swapstack::overflow::{Fault, Report};

/// What helps, with so many MiB.
macro_rules! advice {
    ($mib:literal) => {
        concat!(
            "lamprey: stacks do not grow. For this thread: Builder::stack_size (or a host instead of a parasite); for all, ",
            "the main host included: the environment variable LAMPREY_STACK=",
            $mib,
            "M, or Runtime::builder().stack_size(",
            $mib,
            " << 20)\n"
        )
    };
}

/// More than the stack of so many bytes that has overflowed.
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

/// Puts the handler in place, once for the process.
pub(crate) fn install() {
    // SAFETY: `describe` allocates nothing, locks nothing and does not panic (formatting into a report
    // cannot), and what it reads of the running thread does not change while that runs. `advise` writes a
    // constant, and waits.
    unsafe {
        swapstack::overflow::install(Some(describe));
        swapstack::overflow::before_abort(advise);
    }
}

/// Called in a signal handler on the kernel thread that has overflowed: reads the running thread's constant
/// fields, allocates nothing, locks nothing.
fn describe(_fault: &Fault, report: &mut Report) -> bool {
    Worker::current().is_some_and(|worker| worker.running_ref().describe(report).is_ok())
}

/// Called in the same signal handler, when the report has been printed.
fn advise(fault: &Fault) {
    let Some(worker) = Worker::current() else { return };
    let advice = advice(fault.top.abs_diff(fault.limit));
    // SAFETY: a constant. Whether it could be written changes nothing.
    unsafe { libc::write(libc::STDERR_FILENO, advice.as_ptr().cast(), advice.len()) };
    // SAFETY: the pointer is what the kernel has given to the handler that calls this.
    unsafe { overflowed::show(fault.machine, fault.limit..fault.top, &worker.shared.ticker) };
}
