//! Any future, from any thread: the bridge from async code to blocking code.
//!
//! A [`Cell`](WaitCell) stands for the waiting thread: a task without a future of its own, HOSTED by that
//! thread and at home nowhere. So Lamprey's own futures know it (no waker is counted or boxed), and foreign
//! ones get a full `Waker`.
//!
//! # Invariants
//! 1. The thread holds the cell's right to run while it polls; it gives it up before it blocks, and gets it
//!    back with its one wake.
//! 2. The cell lives until the thread is done with it, the future has been dropped, and the last counted
//!    waker is gone.

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

/// Runs `future` to its end and returns its output; the calling thread waits meanwhile.
///
/// Any future of any library, from any thread, at any depth: there is no "inside" or "outside" of a runtime
/// to get wrong. A future that needs the context of its own runtime, such as tokio's sockets, is handed to
/// that runtime: `wait(tokio_handle.spawn(future))`. Do not enter the context on a host: what `enter` returns
/// belongs to the kernel thread, on which hosts take turns, and tokio panics when two of them leave in
/// another order than they entered.
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
/// With the future's own panic. In a destructor that runs because its host unwinds, if the future is not
/// ready by what it does itself: a host must not wait there, and there is no value to return. (As every panic
/// that leaves a destructor during an unwind, this one ends the process then; its message is printed before.)
/// What can be done without waiting is done there as elsewhere.
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

/// As [`wait`], with a last word: a thread that is cancelled returns what `end` gives, and unwinds if that is
/// nothing.
///
/// `is_bounded`: the future is ready at some time by the clock, so a host that unwinds holds its worker up
/// that long, as in [`sleep`](crate::sleep).
pub(crate) fn wait_or<F: Future>(
    future: F,
    is_bounded: bool,
    end: impl FnOnce(Pin<&mut F>) -> Option<F::Output>,
) -> F::Output {
    // Before the future's place: dropped after the future, whose nodes know the cell.
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

/// See the module's text.
struct WaitCell(NonNull<Task>);

/// What a [`WaitCell`] points at.
#[repr(C)]
struct Waiting {
    task: Task,
    place: Place,
}

/// The addresses of the future. Whoever has a clone of the waker may ask for them, on any kernel thread.
struct Place {
    /// 0 before the future is there, and once it is gone.
    from: AtomicUsize,
    size: usize,
}

impl Place {
    fn is_at(&self, from: usize) {
        // Relaxed: what lies there later was made by one who knows that the future is gone (happens-before),
        // and so sees this.
        self.from.store(from, Ordering::Relaxed);
    }

    fn addresses(&self) -> Range<usize> {
        // Relaxed: as in `is_at`.
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
        // SAFETY: made by `new`, alive until we are dropped.
        unsafe { &(*self.0.cast::<Waiting>().as_ptr()).place }
    }

    /// Gives the right to run up and waits until it is back; false if the thread has been cancelled: then it
    /// is back for good.
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

    /// The caller unwinds, and must not block: it polls again if the future has woken itself.
    ///
    /// # Panics
    /// If it has not, and is not bounded.
    #[cold]
    fn go_on_unwinding(&self, is_bounded: bool) {
        // SAFETY: alive until we are dropped.
        let Task { life, link, .. } = unsafe { self.0.as_ref() };
        // Asked before the right is given up: a wake that comes later finds nobody to wake, and needs nobody.
        if life.is_woken() {
            life.end();
            life.begin();
            // The others cannot have their turn.
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
        // Wakers may outlive the call, and other futures will lie in the same place.
        self.place().is_at(0);
        // SAFETY: the thread's share, given up here; wakers that are left find it DONE.
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
    free: |cell| {
        // SAFETY: leaked by `WaitCell::new`, freed here only.
        drop(unsafe { Box::from_raw(cell.cast::<Waiting>().as_ptr()) });
    },
    inflate: |_, _| crate::bug::bug!("a waiting thread was inflated"),
    outcome: 0,
    size: 0,
    elsewhere: |cell| {
        // SAFETY: made by `WaitCell::new`.
        unsafe { &(*cell.cast::<Waiting>().as_ptr()).place }.addresses()
    },
    name: || "a waiting thread",
    named: None,
};
