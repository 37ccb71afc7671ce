//! Reports a blocking call in async code that has to wait: a stackless parasite is polled on the stack of another thread, which
//! waits with it, and may be the one that would end the wait. The program then hangs, and shows nothing else.
//!
//! The place and the name of the call are read from the stack, so no call of the crate needs to take part. This is built with
//! debug assertions only, and costs nothing where no poll waits.
//!
//! # Rejected
//! * `#[track_caller]`: a place, but no name; on each of some 150 calls and on all that they pass through, where one that was
//!   forgotten would name a file of the crate.
//! * Resolving the addresses on the stack that waits: that takes more stack than a small one has left.

use super::found::Polled;
use super::symbol::{self, Origin};
use crate::sched::parasite::task::HOSTED;
use crate::sched::thread::Thread;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicUsize, Ordering};
use crate::world;
use advice::advice;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::PoisonError;

mod advice;
mod call;

/// Calls of a stack by which two waits are told apart before they are resolved.
const TELLING: usize = 24;
/// Most waits and places that are remembered, and so reported: a few are enough for a program that has this fault.
const MOST: usize = 256;

/// What has been reported.
static SAID: Mutex<Option<BTreeSet<u64>>> = Mutex::new(None);

/// How many reports are being made.
static REPORTING: AtomicUsize = AtomicUsize::new(0);

impl Thread {
    /// Reports, once for each place, that the caller is about to wait in the poll of a stackless parasite.
    #[inline]
    pub(in crate::sched) fn must_not_wait_in_poll(&self) {
        // SAFETY: `polling` names a task only while it is alive.
        let flags = self.polled().map(|task| unsafe { task.as_ref() }.life.flags.get());
        // A parasite that has become a host holds up itself only.
        if flags.is_some_and(|flags| flags & HOSTED == 0) {
            // A run of a simulation is the same whether it is the one that reports or a later one.
            world::apart(|| report(self));
        }
    }
}

#[cold]
#[inline(never)]
fn report(host: &Thread) {
    let Some(polled) = host.polls() else { return };
    let calls = world::calls();
    if !is_new(&calls[..calls.len().min(TELLING)]) {
        return;
    }
    let mut who = String::new();
    // Writing to a `String` cannot fail.
    let _ = host.describe_host(&mut who);
    let resolve = move || {
        let (call, place) = resolve(&calls);
        if is_new(&(&call, &place)) {
            say(&call, &place, &polled, &who);
        }
    };
    // Relaxed (both): a hint for the watchdog.
    REPORTING.fetch_add(1, Ordering::Relaxed);
    // On a kernel thread, whose stack is large. If there is none, nothing can be said.
    if let Ok(thread) = std::thread::Builder::new().spawn(resolve) {
        let _ = thread.join();
    }
    // Relaxed: as above.
    REPORTING.fetch_sub(1, Ordering::Relaxed);
}

/// True while a worker waits for such a report: its program does not hold it up.
pub(super) fn is_reporting() -> bool {
    // Relaxed: a hint.
    REPORTING.load(Ordering::Relaxed) != 0
}

fn is_new(what: &(impl Hash + ?Sized)) -> bool {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let said = said.get_or_insert_default();
    said.len() < MOST && said.insert(hasher.finish())
}

/// The outermost call of this crate that the program's innermost code makes, by its symbol, and where.
fn resolve(calls: &[usize]) -> (Option<String>, String) {
    let (mut call, mut place) = (None, None);
    for &address in calls {
        symbol::look_up(address, |found| {
            let Some(name) = found.name().map(|name| format!("{name:#}")).filter(|_| place.is_none()) else {
                return;
            };
            let name = symbol::with_module(name, found.filename());
            match symbol::origin(&name) {
                Origin::Lamprey => call = Some(name),
                Origin::Program if call.is_some() => place = Some(line(found).unwrap_or(name)),
                Origin::Std | Origin::Program => {}
            }
        });
        if place.is_some() {
            break;
        }
    }
    (call, place.unwrap_or_else(|| "an unknown place".to_owned()))
}

/// File, line and column, if the build has them.
fn line(found: &backtrace::Symbol) -> Option<String> {
    let line = world::line_of(found)?;
    Some(match found.colno() {
        Some(column) => format!("{line}:{column}"),
        None => line,
    })
}

fn say(call: &Option<String>, place: &str, polled: &Polled, who: &str) {
    let call = call.as_deref().map(call::call).unwrap_or_default();
    crate::bug::say!(
        "`{call}` at {place} waits within async code: {polled} is polled on the stack of {who}, which waits with it, and the \
         program hangs if nobody else can end the wait. {} (Said once for each place, with debug assertions.)",
        advice(&call)
    );
}
