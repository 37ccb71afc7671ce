//! How a stackless parasite is notified: by its waker, from an inbox, by its cancellation.
//! [`Life`](super::life::Life) says what comes of it.

use super::finish::{finish_cancelled, refused_by_inbox};
use super::life::{Turn, Wake};
use super::task::{Form, HOSTED, Task};
#[cfg(not(loom))]
use crate::memory::slab;
use crate::sched::seat::Seat;
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use std::ptr::{self, NonNull};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

impl Task {
    /// The worker that it belongs to: where an owned task runs, and where a shared one is sent by those who
    /// have no worker of their own.
    #[cfg(not(loom))]
    pub(crate) fn home(this: NonNull<Task>) -> NonNull<Seat> {
        // SAFETY: a live block of a slab (invariant 1), whose owner word is its worker's seat (see
        // `Worker::new`).
        unsafe { NonNull::new_unchecked(slab::owner_of(this.cast()).cast::<Seat>().cast_mut()) }
    }

    /// As above; the blocks of the checker know it by themselves.
    #[cfg(loom)]
    pub(crate) fn home(this: NonNull<Task>) -> NonNull<Seat> {
        crate::sched::worker::home_of(this)
    }

    /// The caller's worker, if that may run the task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn place(&self, this: NonNull<Task>) -> Option<&'static Worker> {
        let worker = Worker::current()?;
        if self.life.is_homeless() {
            return Some(worker);
        }
        let home = Self::home(this);
        // SAFETY: a seat lives as long as any block of its slab.
        let fits = ptr::eq(home.as_ptr(), worker.seat_ptr())
            || self.life.is_shared() && ptr::eq(unsafe { home.as_ref() }.runtime(), worker.shared_ptr());
        fits.then_some(worker)
    }

    /// The waker's half of a wake that leaves the task alone after it: see [`Delivery`].
    ///
    /// # Safety
    /// The task is alive.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn notify(this: NonNull<Task>) -> Delivery {
        // SAFETY: alive (contract).
        let task = unsafe { this.as_ref() };
        let worker = task.place(this);
        Delivery { task: this, worker, wake: task.life.wake(worker.is_some()) }
    }

    /// Wakes the task.
    ///
    /// # Safety
    /// The task is alive, and stays so by itself until it is run (the caller holds a reference, or a node of
    /// it).
    pub(crate) unsafe fn wake(this: NonNull<Task>, form: Form) {
        // SAFETY: as promised by the caller.
        unsafe { Self::notify(this).deliver(form) }
    }

    /// Takes in a task that came through the inbox of `worker`.
    ///
    /// # Safety
    /// It was pushed there as a [`Wake::Post`], or by the holder of the right to run.
    pub(in crate::sched) unsafe fn receive(this: NonNull<Task>, worker: &Worker) {
        // SAFETY: a post has a reference; the holder of the right keeps it alive.
        let task = unsafe { this.as_ref() };
        if task.life.is_shared() {
            return worker.make_attachable(Waiter::task(this));
        }
        let (wake, turn) = task.life.receive();
        if wake == Wake::Run {
            worker.bring(this, Form::Soon);
        } else if turn == Some(Turn::Drop) {
            worker.make_doomed(this);
        }
        // SAFETY: the reference that came with the post.
        unsafe { Self::release(this) };
    }

    /// Asks for the end of the task: its future is dropped by this call if it waits here, or else soon.
    ///
    /// # Safety
    /// The task is alive, and the caller has a claim on it that lasts beyond this call (the handle).
    pub(crate) unsafe fn cancel(this: NonNull<Task>) {
        // SAFETY: as promised by the caller; the worker may run it.
        unsafe { Self::cancel_on(this, this.as_ref().place(this)) }
    }

    /// As [`cancel`](Self::cancel), on a worker that may run the task, also while that is not installed.
    ///
    /// # Safety
    /// As for `cancel`; of a task that may be over, if the worker is its home, no claim is needed.
    pub(in crate::sched) unsafe fn cancel_on(this: NonNull<Task>, worker: Option<&Worker>) {
        // SAFETY: alive, or over and readable (contract).
        let task = unsafe { this.as_ref() };
        match task.life.cancel(worker.is_some()) {
            Err(_) if task.life.flags.get() & HOSTED == 0 => match worker {
                // Its destructors need a stack on which they may block.
                Some(worker) if worker.is_on_root() => worker.make_doomed(this),
                // SAFETY: the right to run is ours.
                _ => unsafe { finish_cancelled(this) },
            },
            // The host that it has drops it: the future may lie on that host's stack.
            Err(_) => {
                task.life.requeue();
                // SAFETY: the right is ours; `link` is the host's waiter, which is blocked until this one
                // wake.
                unsafe { task.host().wake() };
            }
            Ok(Wake::Post) => post(this),
            Ok(_) => {}
        }
    }

    /// Calls `f` with a context whose waker is this task, without counting it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with_context<R>(this: NonNull<Task>, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
        // SAFETY: the functions of the table keep `Waker`'s contract (see there). It is not dropped: no
        // reference was taken.
        let waker = std::mem::ManuallyDrop::new(unsafe { Waker::from_raw(raw(this)) });
        f(&mut Context::from_waker(&waker))
    }

    /// The task behind a context, if it is one of ours.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(cx: &Context<'_>) -> Option<NonNull<Task>> {
        Self::of_waker(cx.waker())
    }

    /// The task behind a waker, if it is one of ours.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_waker(waker: &Waker) -> Option<NonNull<Task>> {
        ptr::eq(waker.vtable(), &WAKER).then(|| {
            // SAFETY: our table comes only with tasks (see `raw`).
            unsafe { NonNull::new_unchecked(waker.data().cast::<Task>().cast_mut()) }
        })
    }
}

/// A wake that has been decided and not yet carried out. Between the two, the waker lets go of whatever kept
/// the task alive.
#[must_use]
pub(crate) struct Delivery {
    task: NonNull<Task>,
    worker: Option<&'static Worker>,
    wake: Wake,
}

impl Delivery {
    /// True if it goes through an inbox, which may be closed: the task is then ended by whoever delivers.
    pub(crate) fn is_sent(&self) -> bool {
        self.wake == Wake::Post || (self.wake == Wake::Run && self.worker.is_none())
    }

    /// True if it may end the task here, and so run its destructors: it goes to a runtime that is perhaps
    /// gone.
    pub(crate) fn runs_code(&self) -> bool {
        let goes_home = self.wake == Wake::Run && self.worker.is_none();
        // SAFETY: alive by the right to run, which allows the look.
        goes_home && unsafe { self.task.as_ref() }.life.flags.get() & HOSTED == 0
    }

    /// Carries the wake out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn deliver(self, form: Form) {
        match self.wake {
            Wake::Nothing => {}
            Wake::Run => match self.worker {
                Some(worker) => worker.bring(self.task, form),
                None => Self::send_home(self.task),
            },
            Wake::Post => post(self.task),
        }
    }
}

impl Delivery {
    /// The right to run is ours, and no worker that might run it.
    #[cold]
    fn send_home(task: NonNull<Task>) {
        // SAFETY: alive by the right to run; a hosted task's host is blocked until this one wake.
        unsafe {
            if task.as_ref().life.flags.get() & HOSTED != 0 {
                task.as_ref().host().wake();
            } else {
                post(task);
            }
        }
    }
}

/// Sends a task to its home.
#[cold]
pub(crate) fn post(task: NonNull<Task>) {
    // SAFETY: the caller holds the right to run or a reference: alive. A seat lives as long as any block of
    // its slab, and the count taken here makes it last until the end of the call.
    unsafe {
        let seat = Seat::retain(Task::home(task));
        if let Err(waiter) = seat.deliver(Waiter::task(task)) {
            refused_by_inbox(waiter);
        }
    }
}

fn raw(task: NonNull<Task>) -> RawWaker {
    RawWaker::new(task.as_ptr().cast(), &WAKER)
}

/// The waker of a task. A clone holds a reference; the one in a task's own context does not (and is never
/// dropped).
static WAKER: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn task_of(data: *const ()) -> NonNull<Task> {
    NonNull::new(data.cast::<Task>().cast_mut()).unwrap_or_else(|| crate::bug::bug!("a waker without a task"))
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn clone(data: *const ()) -> RawWaker {
    let task = task_of(data);
    // SAFETY: alive: the waker that is cloned holds a reference, or is the one of a running task.
    unsafe { task.as_ref() }.life.retain();
    raw(task)
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn wake(data: *const ()) {
    // SAFETY: the waker's reference is alive for the wake, and given up after it.
    unsafe {
        wake_by_ref(data);
        release(data);
    }
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: alive: the waker holds a reference, or is the one of a running task.
    unsafe { Task::wake(task_of(data), Form::Soon) }
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn release(data: *const ()) {
    // SAFETY: a clone's reference.
    unsafe { Task::release(task_of(data)) }
}
