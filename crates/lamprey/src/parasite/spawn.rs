//! Spawning stackless parasites: about a call, if the parasite never blocks.

use super::handle::ParasiteHandle;
use super::place::{self, LastWord, Placed};
use crate::sched::Waiter;
use crate::sched::hints::Given;
use crate::sched::parasite::life::Life;
use crate::sched::parasite::offer::Start;
use crate::sched::parasite::task::{Form, HEAVY, Task};
use crate::sched::worker::Worker;
use crate::thread::{JoinError, ON_A_HOST, outside};
use std::any::Any;
use std::future::Future;
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Starts an asynchronous computation **now**, on the caller's stack (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
/// *Lightweight Asynchrony Using Parasitic Threads*, 2011, 2.2).
///
/// It runs like a call until it first blocks. If it never blocks, the handle has the result when this
/// returns, and the cost is about that of a call. If it blocks, only its future is kept, and the caller goes
/// on. The thread that unblocks it, on any worker of the runtime, runs it at its next scheduling point, ahead
/// of the hosts.
///
/// Async code inside awaits `rx.recv_async()`, `lamprey::sleep_async(..)`, a handle, or any future of any
/// library. It may also call blocking code, which blocks the host whose stack it is on: its spawner, or the
/// host of the worker that ran it at a blocking call of its own. Do not wait in a poll for something that
/// only that host can do.
///
/// It does not start at once in three cases. While an idle worker asks for work, one parasite at a time is queued
/// to be given to it ([`offering`](crate::RuntimeBuilder::offering)). After a parasite that computed for longer
/// than a time slice, the next ones start as hosts ([`inflation`](crate::RuntimeBuilder::inflation)). When
/// the caller's stack is nearly used up (nested spawns), the parasite is queued for the worker's next
/// scheduling point. A queued parasite runs on another stack, and never if its handle is dropped before.
///
/// A host that only starts parasites and waits for none of them never blocks: call
/// [`yield_now`](crate::yield_now) now and then if other threads of its worker are waiting.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel();
///     let sum = lamprey::parasite(async move {
///         let mut sum = 0;
///         while let Ok(n) = rx.recv_async().await {
///             sum += n;
///         }
///         sum
///     });
///     (1..=10).for_each(|n| tx.send(n).unwrap()); // plain blocking code
///     drop(tx);
///     assert_eq!(sum.join().unwrap(), 55);
/// });
/// ```
/// It may be resumed on another worker, so it must be `Send` (otherwise use [`parasite_local`]):
/// ```compile_fail
/// # lamprey::run(|| {
/// let local = std::rc::Rc::new(1);
/// let (tx, rx) = lamprey::channel::<u8>();
/// lamprey::parasite(async move { rx.recv_async().await; drop(local) }).detach();
/// # drop(tx);
/// # });
/// ```
/// It may outlive the caller's frame, so it must not borrow from it:
/// ```compile_fail,E0373
/// # lamprey::run(|| {
/// let text = String::from("here");
/// lamprey::parasite(async { println!("{text}") }).detach();
/// # });
/// ```
///
/// # Errors
/// None here; if there is no memory for its state, the handle returns [`JoinError::NoStack`].
///
/// # Panics
/// Outside of a host: use [`Handle::parasite`](crate::Handle::parasite) there. A panic *in* the parasite is caught, and reaches
/// the thread that joins it.
///
/// # Cancellation
/// The call cannot be cancelled. Blocking calls inside a poll are interrupted only by the end of the runtime:
/// not by a time limit, a token or a cancellation of the host that polls, and not by the parasite's own
/// cancellation, which drops the future when the poll is over.
///
/// # Blocking
/// Never, unless the future itself calls blocking code.
#[doc(alias = "spawn")]
#[doc(alias = "task")]
#[doc(alias = "go")]
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn parasite<F>(future: F) -> ParasiteHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // First of all: if a panic could run the future's destructor here, the compiler could not build the
    // future in its block.
    let future = ManuallyDrop::new(future);
    let Some(worker) = Worker::current() else { outside_with(&future, "lamprey::parasite", PARASITE_IN) };
    // SAFETY: it is `Send`, and borrows nothing.
    unsafe { start(worker, future, worker.is_parallel(), 0) }
}

/// Like [`parasite`], for a future that is not `Send`: it stays on its worker (kernel thread), whichever
/// thread unblocks it.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let log = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
/// let theirs = log.clone();
/// lamprey::parasite_local(async move { theirs.borrow_mut().push(1) }).join().unwrap();
/// assert_eq!(*log.borrow(), [1]);
/// # });
/// ```
///
/// # Panics
/// Outside of a host. (A host to call it on is started by [`Handle::spawn`](crate::Handle::spawn), from any thread.)
#[doc(alias = "spawn_local")]
#[doc(alias = "LocalSet")]
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn parasite_local<F>(future: F) -> ParasiteHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    // First of all: if a panic could run the future's destructor here, the compiler could not build the
    // future in its block.
    let future = ManuallyDrop::new(future);
    let Some(worker) = Worker::current() else { outside_with(&future, "lamprey::parasite_local", ON_A_HOST) };
    // SAFETY: an owned parasite stays on this kernel thread, and borrows nothing.
    unsafe { start(worker, future, false, 0) }
}

/// Like [`parasite`], but always polled at once, whatever stack and budget are left: it is never queued and never
/// starts as a host, except when the worker is ending. Its cancellation calls [`LastWord::last_word`].
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(crate) fn parasite_at_once<F>(future: F) -> ParasiteHandle<F::Output>
where
    F: LastWord + Send + 'static,
    F::Output: Send + 'static,
{
    // First of all, so that the compiler can build the future in its block (no destructor on a panic).
    let future = ManuallyDrop::new(future);
    let Some(worker) = Worker::current() else { outside_with(&future, "AsyncEvent::a_sync", A_SYNC) };
    // SAFETY: it is `Send`, and borrows nothing; moved out if it is placed.
    unsafe {
        match place::place(worker, &future, Life::running(worker.is_parallel()), 0) {
            None => no_memory(&future),
            Some(task) => {
                place::give_last_word::<F>(task);
                if worker.is_ending() {
                    start_later::<F, false>(worker, task, Start::Queued)
                } else {
                    worker.unhurried(|| start_now::<F, false>(worker, task))
                }
            }
        }
    }
}

/// Like [`parasite`], for a future that borrows.
///
/// # Safety
/// What it borrows outlives the future, and the handle; the handle is not dropped before the parasite has
/// ended.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(crate) unsafe fn start_borrowing<F>(future: F) -> ParasiteHandle<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    // First of all, so that the compiler can build the future in its block (no destructor on a panic).
    let future = ManuallyDrop::new(future);
    let Some(worker) = Worker::current() else { outside_with(&future, "Scope::parasite", IN_SCOPE) };
    // SAFETY: it is `Send`; the rest is the caller's promise.
    unsafe { start(worker, future, worker.is_parallel(), 0) }
}

/// What to do instead, outside of a host.
const PARASITE_IN: &str =
    "use the Handle::parasite of a runtime (from Runtime::handle), or call it within lamprey::run";
const A_SYNC: &str =
    "use Event::sync, or call it within lamprey::run, or in a future for the Handle::parasite of a runtime";
const IN_SCOPE: &str = "use Scope::parasite_in with a runtime's Handle";

/// Drops the future and panics as [`outside`].
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
fn outside_with<F>(future: &ManuallyDrop<F>, what: &str, instead: &str) -> ! {
    // SAFETY: the future is not used again.
    unsafe { drop_elsewhere(future) };
    outside(what, instead)
}

/// Places `future` in a block, and polls or queues it.
///
/// # Safety
/// What the future borrows outlives it; if `is_shared`, it and its output are `Send`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(super) unsafe fn start<F: Future>(
    worker: &Worker,
    future: ManuallyDrop<F>,
    is_shared: bool,
    flags: u8,
) -> ParasiteHandle<F::Output> {
    // SAFETY: moved out once.
    let Some(task) = (unsafe { place::place(worker, &future, Life::running(is_shared), flags) }) else {
        // SAFETY: not moved yet.
        return unsafe { no_memory(&future) };
    };
    let how = worker.how_to_start(is_shared);
    if how != Start::Now {
        // SAFETY: just placed; a running life is the right to run.
        return unsafe { start_later::<F, false>(worker, task, how) };
    }
    // SAFETY: just placed; a running life is the right to run.
    unsafe { start_now::<F, false>(worker, task) }
}

/// Like [`start`], with a name.
///
/// # Safety
/// As for [`start`].
#[cfg_attr(debug_assertions, track_caller)]
pub(super) unsafe fn start_given<F: Future>(
    worker: &Worker,
    future: ManuallyDrop<F>,
    is_shared: bool,
    flags: u8,
    given: Arc<Given>,
) -> ParasiteHandle<F::Output> {
    // SAFETY: moved out once.
    let Some(task) = (unsafe { place::place(worker, &future, Life::running(is_shared), flags) }) else {
        // SAFETY: not moved yet.
        return unsafe { no_memory(&future) };
    };
    // SAFETY: just placed, and no other thread knows it; a running life is the right to run.
    unsafe {
        place::give::<F>(task, given);
        match worker.how_to_start(is_shared) {
            Start::Now => start_now::<F, true>(worker, task),
            how => start_later::<F, true>(worker, task, how),
        }
    }
}

/// Polls a task that has just been placed.
///
/// # Safety
/// The caller has just placed it, and gives up the right to run.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn start_now<F: Future, const NAMED: bool>(
    worker: &Worker,
    task: NonNull<Task>,
) -> ParasiteHandle<F::Output> {
    let before = worker.running_ref().act_for(task.as_ptr());
    let start = worker.remote.ticks();
    let mut value = MaybeUninit::uninit();
    // SAFETY: just placed; a running life is the right to run.
    let polled = unsafe { place::poll_once::<F>(task, &mut value) };
    worker.running_ref().act_for(before);
    if worker.remote.ticks() != start {
        worker.blame_spawner(start);
    }
    match polled {
        Ok(true) => {
            // SAFETY: `poll_once` returned true: the future is dropped, and the value is full.
            unsafe {
                forget::<F, NAMED>(task);
                ParasiteHandle::value(value.assume_init())
            }
        }
        Ok(false) => {
            reified::<F>(worker);
            if worker.records() {
                worker.note_reified(task);
            }
            // SAFETY: the right to run is given up here.
            unsafe { worker.end_turn(task) };
            ParasiteHandle::of_task(task)
        }
        // SAFETY: the future is gone.
        Err(payload) => unsafe { panicked::<F, NAMED>(task, payload) },
    }
}

/// The handle of a parasite that panicked before it had one.
///
/// # Safety
/// As for [`forget`].
#[cold]
#[inline(never)]
unsafe fn panicked<F: Future, const NAMED: bool>(
    task: NonNull<Task>,
    payload: Box<dyn Any + Send>,
) -> ParasiteHandle<F::Output> {
    // SAFETY: the task is ours until it is forgotten.
    unsafe {
        let error = JoinError::caught(payload).of(|| Task::info(task, None));
        forget::<F, NAMED>(task);
        ParasiteHandle::failed(error)
    }
}

/// Counts a parasite that has blocked for the first time.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn reified<F: Future>(worker: &Worker) {
    worker.count_reified(size_of::<Placed<F>>() as u64);
}

/// Frees a task that was over before it had a handle.
///
/// # Safety
/// The caller holds the right to run; the future has been dropped.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn forget<F: Future, const NAMED: bool>(task: NonNull<Task>) {
    // SAFETY: only wakers that hold references may still have the task; for those it becomes DONE, and the
    // last reference frees it.
    unsafe {
        let life = &task.as_ref().life;
        place::end_locals(task);
        if life.is_referenced() {
            life.finish();
            if !life.drop_owner() {
                return;
            }
        }
        if NAMED {
            (task.as_ref().body.free)(task);
        } else {
            place::free::<F>(task);
        }
    }
}

/// Starts a new parasite by a slow path: queued, as a host, or with a join that gives way.
///
/// # Safety
/// The caller has just placed it, and gives up the right to run.
#[cold]
#[inline(never)]
unsafe fn start_later<F: Future, const NAMED: bool>(
    worker: &Worker,
    task: NonNull<Task>,
    how: Start,
) -> ParasiteHandle<F::Output> {
    if how == Start::Overdue {
        // SAFETY: as promised by the caller.
        return unsafe { start_now::<F, NAMED>(worker, task) }.whose_join_gives_way();
    }
    reified::<F>(worker);
    // SAFETY: the right to run is ours.
    let life = unsafe { &task.as_ref().life };
    if how == Start::AsHost {
        life.flags.set(life.flags.get() | HEAVY);
    }
    let handle = ParasiteHandle::of_task(task);
    if worker.is_ending() {
        drop(handle);
        worker.push_ready(Waiter::task(task));
        return ParasiteHandle::failed(JoinError::cancelled());
    }
    match how {
        Start::AsHost => worker.bring(task, Form::Soon),
        Start::Queued | Start::Now | Start::Overdue => worker.push_ready(Waiter::task(task)),
    }
    handle
}

/// There is no memory for the parasite.
///
/// # Safety
/// The future is moved out of `future`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn no_memory<F: Future>(future: &ManuallyDrop<F>) -> ParasiteHandle<F::Output> {
    // SAFETY: as promised by the caller.
    unsafe { drop_elsewhere(future) };
    let text = format!("no memory for a parasite of {} bytes", size_of::<Placed<F>>());
    ParasiteHandle::failed(JoinError::no_stack(io::Error::new(io::ErrorKind::OutOfMemory, text)))
}

/// Moves a future to the heap and drops it there: a destructor call on its present address would keep the
/// compiler from building futures in their blocks (`place`). If there is no memory for that, it is leaked.
///
/// # Safety
/// The future is moved out of `future`.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn drop_elsewhere<F>(future: &ManuallyDrop<F>) {
    let mut elsewhere = Vec::new();
    if elsewhere.try_reserve_exact(1).is_ok() {
        // SAFETY: moved out once (contract).
        elsewhere.push(unsafe { ptr::read(&**future) });
    }
    drop_on_heap(elsewhere);
}

#[cold]
#[inline(never)]
fn drop_on_heap<F>(future: Vec<F>) {
    drop(future);
}
