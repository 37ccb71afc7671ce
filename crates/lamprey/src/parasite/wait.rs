//! `wait`: blocks any thread on any future (`block_on`).
//!
//! A [`WaitCell`] represents the waiting thread: a task without a future and without a home worker, HOSTED by
//! that thread. So Lamprey's own futures wake it as a task (no waker is counted or boxed), and foreign
//! futures get a full `Waker`.
//!
//! # Invariants
//! 1. The thread holds the cell's right to run while it polls; it gives the right up before it blocks, and
//!    gets it back with its one wake.
//! 2. The cell lives until the thread has dropped the future and the cell, and the last counted waker is
//!    gone.

use super::inflate::wait_for_turn;
use crate::queue::inbox::Linked;
use crate::sched::completion::Completion;
use crate::sched::parasite::life::{Life, Turn};
use crate::sched::parasite::task::{HOSTED, Task, TaskBody};
use crate::sched::wait::{self, Waited};
use crate::sched::worker::Worker;
use crate::sched::{self, coop};
use crate::sync_shim::{AtomicUsize, Ordering};
use std::cell::Cell;
use std::future::{Future, IntoFuture};
use std::ops::Range;
use std::pin::{Pin, pin};
use std::ptr::{self, NonNull};
use std::task::Poll;

/// Blocks the calling thread until `future` is ready, and returns its output.
///
/// Works with any future of any library, from any thread, at any depth, inside and outside of a runtime. A
/// future that needs the context of its own runtime, such as tokio's sockets, gets it by the crate `lamprey-compat`:
/// `lamprey_compat::tokio(future).wait()`; or it is spawned in that runtime: `wait(tokio_handle.spawn(future))`.
/// Do not call `enter` of a runtime of tokio on a host: the guard that it returns belongs to the kernel thread,
/// which several hosts share, and tokio panics if two of them leave in another order than they entered.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || lamprey::wait(async move { tx.send_async(1).await }).unwrap());
///     assert_eq!(lamprey::wait(rx.recv_async()), Ok(1));
/// });
/// assert_eq!(lamprey::wait(async { 2 }), 2); // an OS thread
/// ```
///
/// # Panics
/// With the future's own panic. In a destructor during its host's unwind, if the future cannot become ready
/// without waiting: a host must not wait there, and there is no value to return. (A panic that leaves a
/// destructor during an unwind aborts the process, after the message is printed.) A future that needs no wait
/// works there as usual.
///
/// # Cancellation
/// A cancelled thread drops the future and unwinds from here.
///
/// # Blocking
/// A host or stackful parasite switches away; an OS thread parks.
#[doc(alias = "block_on")]
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    coop::turn();
    wait_or(future.into_future(), false, |_| None)
}

/// Like [`wait`], but a cancelled thread calls `end`, and returns its value, or unwinds if that is `None`.
///
/// `is_bounded`: the future becomes ready at a known time, so a host that unwinds blocks its worker until
/// then, as in [`sleep`](crate::sleep).
pub(crate) fn wait_or<F: Future>(
    future: F,
    is_bounded: bool,
    end: impl FnOnce(Pin<&mut F>) -> Option<F::Output>,
) -> F::Output {
    // Declared before the future, so dropped after it: the future's wait nodes point to the cell.
    let cell = WaitCell::new(size_of::<F>());
    let mut future = pin!(future);
    let place = (&raw const *future).addr();
    cell.place().is_at(place);
    loop {
        if let Poll::Ready(output) = Task::with_context(cell.0, |cx| future.as_mut().poll(cx)) {
            return output;
        }
        if !cell.wait(is_bounded) {
            return end(future.as_mut()).unwrap_or_else(|| sched::unwind_cancelled());
        }
    }
}

/// Owns the [`Waiting`] of the calling thread.
struct WaitCell(NonNull<Task>);

/// The heap allocation of a [`WaitCell`].
#[repr(C)]
struct Waiting {
    task: Task,
    place: Place,
}

/// The future's address range. A holder of a waker clone may read it on any kernel thread.
struct Place {
    /// 0 before the future exists, and after it is dropped.
    from: AtomicUsize,
    size: usize,
}

impl Place {
    fn is_at(&self, from: usize) {
        // Relaxed: a future that is placed at the same address later is created after the drop of this one
        // (happens-before), so its thread sees this store.
        self.from.store(from, Ordering::Relaxed);
    }

    fn addresses(&self) -> Range<usize> {
        // Relaxed: a thread for which the future's end happens-before this load sees the store in `is_at`.
        match self.from.load(Ordering::Relaxed) {
            0 => 0..0,
            from => from..from + self.size,
        }
    }
}

impl WaitCell {
    fn new(size: usize) -> Self {
        let life = Life::homeless();
        life.flags.set(HOSTED);
        let task = Task {
            link: Cell::new(ptr::null_mut()),
            body: &BODY,
            life,
            completion: Completion::new(),
            #[cfg(debug_assertions)]
            spawn_site: std::panic::Location::caller(),
        };
        let cell = Box::new(Waiting { task, place: Place { from: AtomicUsize::new(0), size } });
        Self(NonNull::from(Box::leak(cell)).cast())
    }

    fn place(&self) -> &Place {
        // SAFETY: allocated by `new`, alive until we are dropped.
        unsafe { &(*self.0.cast::<Waiting>().as_ptr()).place }
    }

    /// Gives up the right to run and waits until it is back; false if the thread has been cancelled: then it
    /// keeps the right.
    fn wait(&self, is_bounded: bool) -> bool {
        // SAFETY: alive until we are dropped.
        let task = unsafe { self.0.as_ref() };
        // SAFETY: we are the cell's thread.
        let (waited, turn) = unsafe { wait_for_turn(self.0) };
        match waited {
            Waited::Done if turn == Turn::Again && Worker::current().is_some_and(Worker::take_turn) => {
                return false;
            }
            Waited::Refused => {
                self.go_on_unwinding(is_bounded);
                return true;
            }
            _ if waited.is_cancelled() => return false,
            _ => {}
        }
        task.life.begin();
        true
    }

    /// The caller unwinds and must not block. It polls again if the future has woken itself.
    ///
    /// # Panics
    /// If the future has not woken itself and is not bounded.
    #[cold]
    fn go_on_unwinding(&self, is_bounded: bool) {
        // SAFETY: alive until we are dropped.
        let Task { life, link, .. } = unsafe { self.0.as_ref() };
        // Checked before the right is given up: a later wake has no effect, and none is needed.
        if life.is_woken() {
            life.end();
            life.begin();
            // Refills the parasites' budget, because the host cannot yield while it unwinds.
            return Worker::current().into_iter().for_each(Worker::begin_turn);
        }
        if is_bounded {
            wait::park(|me| {
                link.set(Linked::into_raw(me));
                life.end() == Turn::Idle
            });
            life.begin();
            return;
        }
        panic!(
            "lamprey::wait was called by a host that unwinds, with a future that is not ready: the host must not wait there; start a host or a \
             parasite for it, or do it before the unwind"
        );
    }
}

impl Drop for WaitCell {
    fn drop(&mut self) {
        // Wakers may outlive the call, and other futures may be placed at the same address.
        self.place().is_at(0);
        // SAFETY: the thread's share, given up here; remaining wakers see DONE.
        unsafe {
            self.0.as_ref().life.finish();
            Task::drop_owner(self.0);
        }
    }
}

static BODY: TaskBody = TaskBody {
    poll: |_| crate::bug::bug!("a waiting thread was polled"),
    cancel: |_| crate::bug::bug!("a waiting thread was cancelled as a task"),
    dispose: |_| {},
    is_plain: false,
    free: |cell| {
        // SAFETY: leaked by `WaitCell::new`, freed here only.
        drop(unsafe { Box::from_raw(cell.cast::<Waiting>().as_ptr()) });
    },
    inflate: |_, _| crate::bug::bug!("a waiting thread was inflated"),
    outcome: 0,
    size: 0,
    elsewhere: |cell| {
        // SAFETY: allocated by `WaitCell::new`, and alive (contract).
        unsafe { &(*cell.cast::<Waiting>().as_ptr()).place }.addresses()
    },
    name: || "a waiting thread",
    named: None,
};
