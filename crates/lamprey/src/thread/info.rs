//! Who is running, and giving way.

use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use crate::sched::{must_not_block, unwind_cancelled};
use std::panic::Location;
use std::sync::Arc;

/// What [`current`] says of the calling thread.
#[derive(Debug, Clone)]
pub struct ThreadInfo {
    id: u64,
    name: Option<Arc<str>>,
    kind: ThreadKind,
    worker: Option<usize>,
    spawn_site: Option<&'static Location<'static>>,
}

/// What kind of thread it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadKind {
    /// A stackful Lamprey thread.
    Host,
    /// A kernel thread that is not running a Lamprey thread.
    Os,
}

impl ThreadInfo {
    /// Unique in its runtime; 0 for an OS thread.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The name it was given.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Host or OS thread.
    pub fn kind(&self) -> ThreadKind {
        self.kind
    }

    /// The number of the worker it runs on.
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Where it was spawned.
    pub fn spawn_site(&self) -> Option<&'static Location<'static>> {
        self.spawn_site
    }
}

/// The calling thread: host or plain OS thread.
///
/// # Examples
/// ```
/// use lamprey::ThreadKind;
/// assert_eq!(lamprey::current().kind(), ThreadKind::Os);
/// lamprey::run(|| assert_eq!(lamprey::current().kind(), ThreadKind::Host));
/// ```
pub fn current() -> ThreadInfo {
    let host = Worker::current().filter(|worker| worker.running_ref().kind == Kind::Host);
    let Some(worker) = host else {
        let name = std::thread::current().name().map(Arc::from);
        return ThreadInfo { id: 0, name, kind: ThreadKind::Os, worker: None, spawn_site: None };
    };
    let label = &worker.running_ref().label;
    ThreadInfo {
        id: label.id,
        name: label.name.clone(),
        kind: ThreadKind::Host,
        worker: Some(worker.seat.index),
        spawn_site: Some(label.spawn_site),
    }
}

/// Lets other ready threads run first.
///
/// # Examples
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// # lamprey::run(|| {
/// let done = Arc::new(AtomicBool::new(false));
/// let theirs = done.clone();
/// lamprey::spawn(move || theirs.store(true, Ordering::Release));
/// while !done.load(Ordering::Acquire) {
///     lamprey::yield_now();
/// }
/// # });
/// ```
///
/// # Cancellation
/// A cancelled host unwinds from here.
///
/// # Blocking
/// A host goes to the end of its worker's queue; an OS thread yields to the kernel. While unwinding it does nothing.
#[inline(always)]
pub fn yield_now() {
    let Some(worker) = Worker::current() else { return std::thread::yield_now() };
    if must_not_block() {
        return;
    }
    if worker.yield_now() {
        unwind_cancelled();
    }
}
