//! The text of a report, and who prints it: a kernel thread of its own, because looking up names takes a while, and may have to wait
//! for a lock that the reported thread holds.

use super::blocking_call::{self, Found};
use super::said::Why;
use super::waiting::Waiting;
use crate::sched::inspect::found;
use crate::sched::inspect::stack_trace::Stack;
use crate::sched::record::reports::what_led_to;
use std::fmt;
use std::time::Duration;

/// Most threads that are listed.
const LISTED: usize = 4;

/// A thread that holds up its worker.
pub(super) struct Report {
    pub(super) why: Why,
    pub(super) thread: found::Found,
    /// The address of its runtime.
    pub(super) runtime: usize,
    /// By the clock.
    pub(super) since: Duration,
    /// Its kernel thread sleeps.
    pub(super) sleeps: bool,
    pub(super) waiting: Waiting,
    /// The other threads of the worker, as far as they are known.
    pub(super) others: Vec<found::Found>,
}

impl Report {
    /// Prints it soon.
    pub(super) fn print_beside(self) {
        let thread = std::thread::Builder::new().name("lamprey-report".to_owned());
        // Without a kernel thread there is no report: the ticker must not wait for the reported thread.
        let _ = thread.spawn(crate::sched::affinity::unpinned(move || self.print()));
    }

    fn print(self) {
        let what_led_here = || what_led_to("stuck-worker", &[(self.runtime, self.thread.id)]);
        // Its times are told from now: to read the program's symbols, below, takes long.
        let is_certain = self.why != Why::MayHaveTheLock;
        let before = is_certain.then(what_led_here);
        let found = blocking_call::find(&self.thread.stack);
        let is_lock = self.sleeps && matches!(&found, Found::Call(call) if call.is_lock);
        if !is_certain && !is_lock {
            return;
        }
        let before = before.unwrap_or_else(what_led_here);
        let Self { thread, since, waiting, .. } = &self;
        let worker = thread.worker;
        let behind =
            fmt::from_fn(
                |f| if waiting.is_any() { write!(f, ". Behind it waits {waiting}") } else { Ok(()) },
            );
        let does = fmt::from_fn(|f| {
            match &found {
            Found::Call(call) if self.sleeps || call.may_compute() => {
                write!(f, "It {} {}", if self.sleeps { "waits in" } else { "is in" }, call.name)?;
                call.place.as_ref().map_or(Ok(()), |place| write!(f, ", called at {place}"))?;
                write!(f, ": use {}.", call.instead)
            }
            Found::Own if self.sleeps => f.write_str("It waits in a system call that a call of Lamprey makes."),
            _ if self.sleeps => f.write_str(
                "It waits in a system call: take the call of Lamprey that does the same, or put what can only block into lamprey::block.",
            ),
            _ => f.write_str("It computes: call lamprey::yield_now now and then, or compute within lamprey::compute."),
        }
        });
        let holders = fmt::from_fn(|f| if is_lock { self.write_holders(f) } else { Ok(()) });
        let stack = Stack::new(thread.stack.clone(), 0);
        crate::bug::say!(
            "worker {worker} has been held up for {} by {thread}{behind}.\n{does}{holders}\n{}{before}",
            Span(*since),
            stack.of_program()
        );
    }

    /// Which threads of the worker may have what it waits for.
    fn write_holders(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocked = || self.others.iter().filter_map(|other| Some((other, other.wait?)));
        if blocked().next().is_none() {
            return Ok(());
        }
        f.write_str(
            " What it waits for may be with a thread of the same worker, which cannot go on; of these wait:",
        )?;
        for (other, wait) in blocked().take(LISTED) {
            write!(f, "\n  {other}: {wait}")?;
        }
        match blocked().count().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  (and {more} more)"),
        }
    }
}

/// A length of time, as a person says it.
pub(super) struct Span(pub(super) Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            0..1000 => write!(f, "{} ms", self.0.as_millis()),
            _ => write!(f, "{:.1} s", self.0.as_secs_f64()),
        }
    }
}
