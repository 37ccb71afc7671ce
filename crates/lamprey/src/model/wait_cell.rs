//! A thread of the checker that waits for a future: `parasite::wait`, on an OS thread.

use crate::model::{Broken, is_broken};
use crate::queue::inbox::Linked;
use crate::sched::Wait;
use crate::sched::completion::Completion;
use crate::sched::parasite::life::{Life, Turn};
use crate::sched::parasite::task::{Task, TaskBody};
use crate::sched::wait::Waited;
use crate::sched::worker::place_of;
use crate::sync_shim::Cell;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Poll;

#[repr(C)]
struct WaitCell {
    task: Task,
    place: Range<usize>,
}

/// A thread that waits for a future: `parasite::wait` on an OS thread.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    wait_or(future, false, |_| None)
}

/// As the real one: a cancelled thread returns the result of `end`, or unwinds if that is `None`.
pub(crate) fn wait_or<F: Future>(
    future: F,
    _: bool,
    end: impl FnOnce(Pin<&mut F>) -> Option<F::Output>,
) -> F::Output {
    let mut future = Box::pin(future);
    // Leaked, so that the checks find a late waker, instead of a crash.
    let cell = Box::leak(Box::new(WaitCell {
        task: Task {
            link: Cell::new(ptr::null_mut()),
            body: &CELL,
            life: Life::homeless(),
            completion: Completion::new(),
        },
        place: place_of(&future),
    }));
    let task = NonNull::from(&*cell).cast();
    let cell = &cell.task;
    cell.life.flags.set(crate::sched::parasite::task::HOSTED);
    let output = loop {
        if let Poll::Ready(output) = Task::with_context(task, |cx| future.as_mut().poll(cx)) {
            break Some(output);
        }
        let enter = |me| {
            cell.link.set(Linked::into_raw(me));
            cell.life.end() == Turn::Idle
        };
        let leave = |_| cell.life.cancel(true).is_err();
        let waited = crate::sched::wait::wait(Wait::Future, None, enter, leave);
        if matches!(waited, Waited::Woken | Waited::Late(_)) {
            cell.life.must_be_queued();
        }
        if waited.is_cancelled() {
            break end(future.as_mut());
        }
        cell.life.begin();
    };
    let late = if is_broken(Broken::Cell) {
        Some(future)
    } else {
        drop(future);
        None
    };
    cell.life.finish();
    // SAFETY: the thread's reference, dropped here.
    unsafe { Task::drop_owner(task) };
    drop(late);
    output.unwrap_or_else(|| crate::sched::unwind_cancelled())
}

static CELL: TaskBody = TaskBody {
    poll: |_| unreachable!(),
    cancel: |_| unreachable!(),
    dispose: |_| {},
    is_plain: false,
    // SAFETY: leaked by `wait`, so alive.
    free: |cell| unsafe { cell.as_ref() }.life.free(),
    inflate: |_, _| unreachable!(),
    outcome: 0,
    size: 0,
    // SAFETY: the task is the head of a `WaitCell`, made in `wait_or`.
    elsewhere: |cell| unsafe { cell.cast::<WaitCell>().as_ref() }.place.clone(),
    name: || "a waiting thread",
    named: None,
};
