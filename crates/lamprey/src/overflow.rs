//! Names the host whose stack has overflowed, for the report that `swapstack` prints before it aborts.

use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use std::fmt::Write;
use swapstack::overflow::{Fault, Report};

/// Puts the handler in place, once for the process.
pub(crate) fn install() {
    // SAFETY: `describe` allocates nothing, locks nothing and does not panic (formatting into a report cannot), and
    // what it reads of the running thread does not change while that runs.
    unsafe { swapstack::overflow::install(Some(describe)) };
}

/// Called in a signal handler on the kernel thread that has overflowed: reads the running thread's constant fields,
/// allocates nothing, locks nothing.
fn describe(_fault: &Fault, report: &mut Report) -> bool {
    let Some(worker) = Worker::current() else { return false };
    let thread = worker.running_ref();
    if thread.kind != Kind::Host {
        return false;
    }
    let label = &thread.label;
    let name = label.name.as_deref().unwrap_or("unnamed");
    write!(report, "host {} `{name}` spawned at {}", label.id.get(), label.spawn_site.get()).is_ok()
}
