//! Who is running, and giving way.

use crate::sched::thread::Kind;
use crate::sched::worker::Worker;
use crate::sched::{must_not_block, unwind_cancelled};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
    /// A parasite, stackless or stackful.
    Parasite,
    /// A kernel thread that is not running a Lamprey thread.
    Os,
}

impl ThreadInfo {
    pub(super) fn new(
        id: u64,
        name: Option<Arc<str>>,
        kind: ThreadKind,
        worker: Option<usize>,
        spawn_site: Option<&'static Location<'static>>,
    ) -> Self {
        Self { id, name, kind, worker, spawn_site }
    }

    /// Unique in its runtime; 0 for an OS thread. Of a stackless parasite: its address, unique among those
    /// that live.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The name it was given. Of a stackless parasite: the type of its future.
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
    let host = Worker::current().filter(|worker| worker.running_ref().is_lamprey());
    let Some(worker) = host else {
        let name = std::thread::current().name().map(Arc::from);
        return ThreadInfo { id: 0, name, kind: ThreadKind::Os, worker: None, spawn_site: None };
    };
    let me = worker.running_ref();
    if let Some(task) = me.polled() {
        // SAFETY: `polling` names the task that runs on this very stack.
        let name = unsafe { ((*task.as_ptr()).body.name)() };
        let id = task.addr().get() as u64;
        let worker = Some(worker.seat.index);
        return ThreadInfo {
            id,
            name: Some(name.into()),
            kind: ThreadKind::Parasite,
            worker,
            spawn_site: None,
        };
    }
    let label = &me.label;
    ThreadInfo {
        id: label.id.get(),
        name: label.name.clone(),
        kind: if me.kind == Kind::Parasite { ThreadKind::Parasite } else { ThreadKind::Host },
        worker: Some(worker.seat.index),
        spawn_site: Some(label.spawn_site.get()),
    }
}

/// [`yield_now`] for async code: pending once, at the back of the queue.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let parasite = lamprey::parasite(async { lamprey::yield_now_async().await; 1 });
/// assert!(!parasite.is_finished());
/// assert_eq!(parasite.join().unwrap(), 1);
/// # });
/// ```
///
/// # Cancellation
/// Dropping the future changes nothing.
///
/// # Blocking
/// The future is pending at its first poll. A parasite then waits behind the hosts that are ready.
pub fn yield_now_async() -> YieldNow {
    YieldNow { done: false }
}

/// See [`yield_now_async`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is awaited"]
pub struct YieldNow {
    done: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.done, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
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
/// A cancelled host unwinds from here, before or after its turn.
///
/// # Blocking
/// A host goes to the end of its worker's queue; an OS thread yields to the kernel. While unwinding it does
/// nothing.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn yield_now() {
    let Some(worker) = Worker::current() else { return std::thread::yield_now() };
    if must_not_block() {
        return;
    }
    if worker.yield_now() {
        unwind_cancelled();
    }
}
