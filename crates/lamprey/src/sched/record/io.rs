//! [`KernelWait`]: what a thread waits for the kernel to do, for the recorder.

use super::note::{Actor, DONE};
use crate::sched::reason::{On, Wait};
use crate::sched::worker::Worker;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// An operation that a thread or future waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelWait {
    pub(crate) wait: Wait,
    /// -1: it has none yet.
    descriptor: RawFd,
}

impl KernelWait {
    pub(crate) fn new(wait: Wait, descriptor: RawFd) -> Self {
        Self { wait, descriptor }
    }

    pub(crate) fn on(wait: Wait, descriptor: BorrowedFd<'_>) -> Self {
        Self::new(wait, descriptor.as_raw_fd())
    }

    /// What the thread blocks on.
    pub(crate) fn as_on(self) -> On {
        self.wait.on_descriptor(self.descriptor)
    }

    /// Notes that the running thread is about to wait for it.
    pub(crate) fn begins(self) {
        if let Some(worker) = Worker::current().filter(|worker| worker.records()) {
            worker.note_begin(self.wait, Actor::descriptor(self.descriptor));
        }
    }

    /// Notes that it is over: the kernel's answer, as io_uring has it.
    pub(crate) fn ends(self, result: i32) {
        if let Some(worker) = Worker::current().filter(|worker| worker.records()) {
            worker.note_answer(self.wait, Actor::descriptor(self.descriptor), result);
        }
    }

    /// As [`ends`](Self::ends), where no more is known than the error.
    pub(crate) fn ends_with(self, error: Option<i32>) {
        self.ends(error.map_or(DONE, |error| -error));
    }
}
