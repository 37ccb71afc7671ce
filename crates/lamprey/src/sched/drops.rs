//! Dropping values of the program on a thread that is cancelled, outside of its unwind: what a host has captured that never began,
//! host-local values, futures of parasites when the runtime ends.
//!
//! # Invariant
//! A destructor runs to its end, as in an unwind: there its blocking calls fail, so that a value that cannot be sent stays with the
//! destructor. Outside of an unwind the calls of a cancelled thread begin one, which would cut the destructor off in the middle. So
//! the values are dropped within an unwind, which has no other purpose.
//!
//! # Rejected
//! * To shield the destructors from cancellation: a call that waits for ever would keep the runtime from its end.
//! * A flag by which calls fail: everything that asks whether the thread unwinds would have to ask it, too, and those who forget would
//!   be found by nobody.
//!
//! # Checked by
//! `tests/cancel/destructors.rs`.

use super::block::{CancelUnwind, is_cancelled};
#[cfg(not(loom))]
use super::{locals, thread::Thread};
use crate::bug::quietly;

/// Drops a value of the program; a panic of its destructor has been reported, and ends here.
pub(crate) fn drop_quietly<T>(value: T) {
    run_quietly(|| drop(value));
}

/// Runs code that drops values of the program, in the way of [`drop_quietly`].
pub(crate) fn run_quietly(code: impl FnOnce()) {
    if is_cancelled() && cfg!(panic = "unwind") { within_unwind(code) } else { quietly(code) }
}

/// Drops the host-local values of the calling host or stackful parasite, which has ended.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn end_locals(thread: &Thread) {
    if !thread.locals.get().is_null() {
        run_quietly(|| locals::end(thread));
    }
}

#[cold]
fn within_unwind(code: impl FnOnce()) {
    struct Last<F: FnOnce()>(Option<F>);

    impl<F: FnOnce()> Drop for Last<F> {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(|code| quietly(code));
        }
    }

    let last = Last(Some(code));
    quietly(move || {
        let _last = last;
        std::panic::resume_unwind(Box::new(CancelUnwind))
    });
}
