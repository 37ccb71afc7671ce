//! The parasite that runs now.

use crate::sched::task::Task;
use crate::sched::worker::Worker;
use std::ptr::NonNull;

/// The stackless parasite that the calling code is part of, if it is.
#[inline(always)]
pub(crate) fn polled() -> Option<NonNull<Task>> {
    NonNull::new(Worker::current()?.running_ref().polling.get())
}
