//! Any future, from any thread: the bridge from async code to blocking code.
//!
//! A [`Cell`](WaitCell) stands for the waiting thread: a task without a future of its own, HOSTED by that thread and at home
//! nowhere. So Lamprey's own futures know it (no waker is counted or boxed), and foreign ones get a full `Waker`.
//!
//! # Invariants
//! 1. The thread holds the cell's right to run while it polls; it gives it up before it blocks, and gets it back with its
//!    one wake.
//! 2. The cell lives until the thread is done with it, the future has been dropped, and the last counted waker is gone.

use super::inflate::give_up;
use crate::queue::inbox::Linked;
use crate::sched::completion::Completion;
use crate::sched::life::{Life, Turn};
use crate::sched::task::{HOSTED, Task, TaskBody};
use crate::sched::worker::Worker;
use crate::sched::{self, Wait, Woke};
use std::cell::Cell;
use std::future::IntoFuture;
use std::pin::pin;
use std::ptr::{self, NonNull};
use std::task::Poll;

/// Runs `future` to its end and returns its output; the calling thread waits meanwhile.
///
/// Any future of any library, from any thread, at any depth: there is no "inside" or "outside" of a runtime to get wrong. (A
/// future that needs its own runtime's context, such as tokio's sockets, still needs that to be entered.)
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
/// With the future's own panic.
///
/// # Cancellation
/// A cancelled thread drops the future and unwinds from here.
///
/// # Blocking
/// A host or stackful parasite switches away; an OS thread parks, and so does the worker of a thread that is unwinding.
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    let future = future.into_future();
    // Before the future's place: dropped after the future, whose nodes know the cell.
    let cell = WaitCell::new();
    let mut future = pin!(future);
    let place = (&raw const *future).addr();
    cell.place().set((place, place + size_of::<F::IntoFuture>()));
    loop {
        if let Poll::Ready(output) = Task::with_context(cell.0, |cx| future.as_mut().poll(cx)) {
            return output;
        }
        cell.wait();
    }
}

/// See the module's text.
struct WaitCell(NonNull<Task>);

/// What a [`WaitCell`] points at.
#[repr(C)]
struct Waiting {
    task: Task,
    /// The addresses of the future.
    place: Cell<(usize, usize)>,
}

impl WaitCell {
    fn new() -> Self {
        let life = Life::homeless();
        life.flags.set(HOSTED);
        let task =
            Task { link: Cell::new(ptr::null_mut()), body: &BODY, life, completion: Completion::new() };
        let cell = Box::new(Waiting { task, place: Cell::new((0, 0)) });
        Self(NonNull::from(Box::leak(cell)).cast())
    }

    fn place(&self) -> &Cell<(usize, usize)> {
        // SAFETY: made by `new`, alive until we are dropped.
        unsafe { &(*self.0.cast::<Waiting>().as_ptr()).place }
    }

    /// Gives the right to run up and blocks until it is back.
    fn wait(&self) {
        let unwinding = sched::must_not_block();
        // A scheduling point: before the right is given up, because what runs here may block this thread by itself, and must
        // not take our wake.
        let me = if unwinding { sched::os_waiter() } else { sched::waiter() };
        // SAFETY: alive until we are dropped.
        let task = unsafe { self.0.as_ref() };
        task.link.set(Linked::into_raw(me));
        match task.life.end() {
            Turn::Again => {
                if Worker::current().is_some_and(|worker| !unwinding && worker.take_turn()) {
                    sched::unwind_cancelled();
                }
            }
            _ if unwinding => sched::os::block_committed(),
            _ => {
                if sched::block(Wait::Future) == Woke::Cancelled {
                    // SAFETY: we are the cell's thread. Whether or not a wake was under way, it has come by now.
                    unsafe { give_up(self.0) };
                    sched::unwind_cancelled();
                }
            }
        }
        task.life.begin();
    }
}

impl Drop for WaitCell {
    fn drop(&mut self) {
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
        let (from, to) = unsafe { &(*cell.cast::<Waiting>().as_ptr()).place }.get();
        from..to
    },
    name: || "a waiting thread",
};
