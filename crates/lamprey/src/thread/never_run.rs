//! Reports code that never ran: a thread whose result is an async block or a closure, which nobody takes. `spawn(|| async { .. })`
//! compiles, makes a future, and drops it.
//!
//! Such a result is known by its type's name. (That it is a future cannot be asked for in generic code, and would be wrong:
//! the handle of another thread is one, too, and runs on by itself.)

use crate::sync_shim::watched::Mutex;
use std::any::type_name;
use std::collections::BTreeSet;
use std::sync::PoisonError;

/// The types that have been reported. Ordered, as the keys of a hash map are drawn at random, which a simulation would see.
static SAID: Mutex<Option<BTreeSet<&'static str>>> = Mutex::new(None);

/// Reports, once for each type, that the result of `who`, a `T`, is dropped without having been run.
pub(crate) fn report_never_run<T>(who: impl FnOnce() -> String) {
    let name = type_name::<T>();
    if !is_code(name) || crate::sched::panic_hook::is_hushed() {
        return;
    }
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(name) {
        crate::bug::say!(
            "{} has returned an async block or a closure (`{name}`), which nobody took: its code has never run. A future runs by \
             `lamprey::parasite(future)`, or on a host by `lamprey::spawn(|| lamprey::wait(future))`. (Said once, with debug \
             assertions.)",
            who()
        );
    }
}

/// True for the name of an async block or closure, bare or boxed.
fn is_code(name: &str) -> bool {
    let bare = name
        .trim_start_matches("core::pin::Pin<")
        .trim_start_matches("alloc::boxed::Box<")
        .trim_end_matches('>');
    bare.ends_with("::{{closure}}") || bare.starts_with("dyn core::future::future::Future<")
}
