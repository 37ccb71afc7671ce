//! The current thread, and yielding.

pub use crate::sched::info::{ThreadInfo, ThreadKind};
use crate::sched::parasite::task::Task;
use crate::sched::worker::Worker;
use crate::sched::{must_not_block, unwind_cancelled};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
        return ThreadInfo::new(0, name, ThreadKind::Os, None, None);
    };
    let (me, index) = (worker.running_ref(), Some(worker.remote.index));
    match me.polled() {
        // SAFETY: the task that is being polled, on this stack, so it is alive.
        Some(task) => unsafe { Task::info(task, index) },
        None => me.info(index),
    }
}

/// [`yield_now`] for async code: a future that is pending once.
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
/// The future is pending at its first poll. A parasite is then queued behind the ready hosts.
#[doc(alias = "Gosched")]
pub fn yield_now_async() -> YieldNow {
    YieldNow { done: false }
}

/// The future of [`yield_now_async`].
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
/// A cancelled host unwinds from here, before or after the other threads have run.
///
/// # Blocking
/// A host goes to the end of its worker's queue; an OS thread yields to the kernel. While unwinding it does
/// nothing.
#[doc(alias = "Gosched")]
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
