//! The waker of a stackless parasite, and how one is notified from an inbox or by its cancellation.
//! [`Life`](super::life::Life) decides what follows from a notification.

use super::finish::{finish_cancelled, refused_by_inbox};
use super::life::{Turn, Wake};
use super::task::{Form, HOSTED, SENT, Task};
#[cfg(not(loom))]
use crate::memory::slab;
use crate::sched::reason::Wait;
use crate::sched::waiter::Waiter;
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::left_out;
use std::ptr::{self, NonNull};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

impl Task {
    /// The shared state of its home worker: where an owned task runs, and where a thread without a worker
    /// sends a shared one.
    #[cfg(not(loom))]
    pub(crate) fn home(this: NonNull<Task>) -> NonNull<WorkerShared> {
        // SAFETY: a task is a live block of a slab, whose owner word is the `WorkerShared` of its worker (set
        // in `Worker::new`).
        unsafe { NonNull::new_unchecked(slab::owner_of(this.cast()).cast::<WorkerShared>().cast_mut()) }
    }

    /// The shared state of its home worker, which under loom each block stores itself.
    #[cfg(loom)]
    pub(crate) fn home(this: NonNull<Task>) -> NonNull<WorkerShared> {
        crate::sched::worker::home_of(this)
    }

    /// The calling kernel thread's worker, if that may run the task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn place(&self, this: NonNull<Task>) -> Option<&'static Worker> {
        let worker = Worker::current()?;
        if self.life.is_homeless() {
            return Some(worker);
        }
        let home = Self::home(this);
        // SAFETY: a `WorkerShared` lives as long as any block of its worker's slab.
        let fits = ptr::eq(home.as_ptr(), worker.remote_ptr())
            || self.life.is_shared() && ptr::eq(unsafe { home.as_ref() }.runtime(), worker.shared_ptr());
        fits.then_some(worker)
    }

    /// The first half of a wake: changes the task's state. The caller may then release what kept the task
    /// alive, and calls [`Delivery::deliver`].
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
    /// The task is alive, and stays alive until it is run (the caller holds a reference, or a node of it).
    pub(crate) unsafe fn wake(this: NonNull<Task>, form: Form) {
        // SAFETY: alive (contract).
        unsafe { Self::notify(this).deliver(form) }
    }

    /// Handles a task that came through the inbox of `worker`.
    ///
    /// # Safety
    /// It was pushed there as a [`Wake::Post`], or by the holder of the right to run.
    pub(in crate::sched) unsafe fn receive(this: NonNull<Task>, worker: &Worker) {
        // SAFETY: a post has a reference; the holder of the right keeps it alive.
        let task = unsafe { this.as_ref() };
        if task.life.is_shared() {
            task.count_if_sent(worker);
            return worker.make_attachable(Waiter::task(this));
        }
        let (wake, turn) = task.life.receive();
        if wake == Wake::Run {
            task.count_if_sent(worker);
            worker.bring(this, Form::Soon);
        } else if turn == Some(Turn::Drop) {
            worker.make_cancelled(this);
        }
        // SAFETY: gives up the reference that came with the post.
        unsafe { Self::release(this) };
    }

    /// Counts a task that was placed from outside, when it arrives. The caller holds the right to run.
    fn count_if_sent(&self, worker: &Worker) {
        let flags = self.life.flags.get();
        if flags & SENT != 0 {
            self.life.flags.set(flags & !SENT);
            worker.count_sent(self.body.size as u64);
        }
    }

    /// Cancels the task: its future is dropped by this call if it waits and the calling worker may run it,
    /// else soon.
    ///
    /// # Safety
    /// The task is alive, and the caller has a claim on it that lasts beyond this call (the handle).
    pub(crate) unsafe fn cancel(this: NonNull<Task>) {
        // SAFETY: alive (contract); `place` gives only a worker that may run it.
        unsafe { Self::cancel_on(this, this.as_ref().place(this)) }
    }

    /// As [`cancel`](Self::cancel), on a worker that may run the task; the worker need not be installed.
    ///
    /// # Safety
    /// The task is alive, and the caller has a claim on it that lasts beyond this call. No claim is needed if
    /// the worker is its home; the task may then be over.
    pub(in crate::sched) unsafe fn cancel_on(this: NonNull<Task>, worker: Option<&Worker>) {
        // SAFETY: alive, or over and readable (contract).
        let task = unsafe { this.as_ref() };
        match task.life.cancel(worker.is_some()) {
            Err(_) if task.life.flags.get() & HOSTED == 0 => match worker {
                Some(worker) if !worker.may_run_destructors() => worker.make_cancelled(this),
                // SAFETY: `cancel` has given us the right to run.
                _ => unsafe { finish_cancelled(this) },
            },
            // A hosted task is dropped by its host: the future may lie on that host's stack.
            Err(_) => {
                // SAFETY: we hold the right to run; `link` is the waiter of the host, which is blocked until
                // this wake, the only one.
                unsafe { task.host().wake() };
            }
            Ok(Wake::Post) => post(this),
            Ok(_) => {}
        }
    }

    /// Calls `look` with a task of shared mode that waits; nobody runs, cancels or frees it meanwhile. `None` if it is not one,
    /// or runs, or is about to, or is over.
    ///
    /// # Safety
    /// `worker` is its home, on which the caller is. The task may be over.
    pub(in crate::sched) unsafe fn look_at<R>(
        this: NonNull<Task>,
        worker: &Worker,
        look: impl FnOnce(&Task) -> R,
    ) -> Option<R> {
        // SAFETY: alive, or over and readable (contract).
        let task = unsafe { this.as_ref() };
        if !task.life.is_shared() || !task.life.hold() {
            return None;
        }
        let seen = look(task);
        // Woken or cancelled meanwhile: the right is still here, and the caller of that has left the rest to its holder.
        if task.life.end() != Turn::Idle && !left_out!(LookAgain) {
            worker.bring(this, Form::Soon);
        }
        Some(seen)
    }

    /// Calls `f` with a context whose waker is this task; the waker holds no reference.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn with_context<R>(this: NonNull<Task>, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
        // SAFETY: the functions of the table keep the contract of `RawWakerVTable`. The waker is not dropped,
        // because no reference was taken for it.
        let waker = std::mem::ManuallyDrop::new(unsafe { Waker::from_raw(raw(this)) });
        f(&mut Context::from_waker(&waker))
    }

    /// The task behind a context, if its waker is a Lamprey task's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(cx: &Context<'_>) -> Option<NonNull<Task>> {
        Self::of_waker(cx.waker())
    }

    /// The task behind a waker, if it is a Lamprey task's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_waker(waker: &Waker) -> Option<NonNull<Task>> {
        ptr::eq(waker.vtable(), &WAKER).then(|| {
            // SAFETY: only `raw` makes wakers with this table, always from a task.
            unsafe { NonNull::new_unchecked(waker.data().cast::<Task>().cast_mut()) }
        })
    }
}

/// A wake that has been decided and not yet carried out. In between, the waking thread releases what kept the
/// task alive.
#[must_use]
pub(crate) struct Delivery {
    task: NonNull<Task>,
    worker: Option<&'static Worker>,
    wake: Wake,
}

impl Delivery {
    /// True if it goes through an inbox. If the inbox is closed, the thread that delivers ends the task.
    pub(crate) fn is_sent(&self) -> bool {
        self.wake == Wake::Post || (self.wake == Wake::Run && self.worker.is_none())
    }

    /// True if delivering may end the task in the calling thread, and so run its destructors: the runtime
    /// that it is sent to may have ended.
    pub(crate) fn runs_code(&self) -> bool {
        let goes_home = self.wake == Wake::Run && self.worker.is_none();
        // SAFETY: we hold the right to run, which keeps the task alive and allows reading its flags.
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
    /// The caller holds the right to run, and has no worker that may run the task.
    #[cold]
    fn send_home(task: NonNull<Task>) {
        // SAFETY: the right to run keeps the task alive; a hosted task's host is blocked until this wake, the
        // only one.
        unsafe {
            if task.as_ref().life.flags.get() & HOSTED != 0 {
                task.as_ref().host().wake();
            } else {
                post(task);
            }
        }
    }
}

/// Sends a task to the inbox of its home worker.
#[cold]
pub(crate) fn post(task: NonNull<Task>) {
    // SAFETY: the caller holds the right to run or a reference, so the task is alive. A `WorkerShared` lives
    // as long as any block of its slab, and the count taken here keeps it until the end of the call.
    unsafe {
        let remote = WorkerShared::retain(Task::home(task));
        if let Err(waiter) = remote.deliver(Waiter::task(task)) {
            refused_by_inbox(waiter);
        }
    }
}

fn raw(task: NonNull<Task>) -> RawWaker {
    RawWaker::new(task.as_ptr().cast(), &WAKER)
}

/// The waker of a task. A clone holds a reference; the one in the task's own context does not, and is never
/// dropped.
static WAKER: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

fn task_of(data: *const ()) -> NonNull<Task> {
    NonNull::new(data.cast::<Task>().cast_mut()).unwrap_or_else(|| crate::bug::bug!("a waker without a task"))
}

/// # Safety
/// The contract of this function in [`RawWakerVTable::new`].
unsafe fn clone(data: *const ()) -> RawWaker {
    let task = task_of(data);
    // SAFETY: alive: the waker that is cloned holds a reference, or is the context's waker of a running task.
    let life = &unsafe { task.as_ref() }.life;
    life.retain();
    // A future of another library waits, unless the caller notes something else.
    life.note(Wait::Future.into());
    raw(task)
}

/// # Safety
/// The contract of this function in [`RawWakerVTable::new`].
unsafe fn wake(data: *const ()) {
    // SAFETY: the waker's reference keeps the task alive for the wake, and is given up after it.
    unsafe {
        wake_by_ref(data);
        release(data);
    }
}

/// # Safety
/// The contract of this function in [`RawWakerVTable::new`].
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: alive: the waker holds a reference, or is the context's waker of a running task.
    unsafe { Task::wake(task_of(data), Form::Soon) }
}

/// # Safety
/// The contract of this function in [`RawWakerVTable::new`].
unsafe fn release(data: *const ()) {
    // SAFETY: only a clone is dropped, and it gives up its reference.
    unsafe { Task::release(task_of(data)) }
}
