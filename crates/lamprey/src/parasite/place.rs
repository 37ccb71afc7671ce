//! The allocation of a stackless parasite: header, then its future or (in the same memory) its outcome.
//!
//! # Invariants
//! 1. The header comes first (`repr(C)`). The block is from a slab of the home worker.
//! 2. `cell` holds the future from `place` to the poll that is ready, to a panic, or to `cancel`; after that
//!    the outcome, until the handle takes it or `dispose` drops it. Only the holder of the right to run
//!    changes it, and publishes that through the completion word.
//! 3. The future does not move: it is pinned in its block until it is dropped there.

use super::handle::Outcome;
use super::kept::{Kept, KeptError};
use crate::memory::slab;
use crate::sched::completion::Completion;
use crate::sched::drops::run_quietly;
use crate::sched::hints::Given;
use crate::sched::locals;
use crate::sched::parasite::finish::acting_as;
use crate::sched::parasite::life::Life;
use crate::sched::parasite::owned::OutsideSlab;
use crate::sched::parasite::task::{FAILED, LOCALS, Named, NamedPtr, SENT, Task, TaskBody};
use crate::sched::worker::Worker;
use crate::thread::JoinError;
use crate::thread::report_unjoined;
use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::future::Future;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::Poll;

/// A stackless parasite in its block.
#[repr(C)]
pub(super) struct Placed<F: Future> {
    task: Task,
    cell: UnsafeCell<Body<F>>,
}

union Body<F: Future> {
    future: ManuallyDrop<F>,
    outcome: ManuallyDrop<Kept<F::Output>>,
}

/// Moves a future into a block of the worker's slab; `None` if there is no memory.
///
/// # Safety
/// The future is moved out of `future` if this succeeds. (Passed by reference and copied here, so that the
/// compiler can build it in place. Copying a value as a whole right after its parts were written defeats
/// store forwarding.)
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(debug_assertions, track_caller)]
pub(super) unsafe fn place<F: Future>(
    worker: &Worker,
    future: &ManuallyDrop<F>,
    life: Life,
    flags: u8,
) -> Option<NonNull<Task>> {
    // SAFETY: fresh memory of this slab; the rest is the caller's promise.
    let task = unsafe { fill(worker.parasites.slab.take(Layout::new::<Placed<F>>())?, future, life, flags) };
    worker.remote.counters.stackless.add(1);
    Some(task)
}

/// Moves a future into a block of the slab for parasites from outside, which are sent to their worker; `None` if there is
/// no memory.
///
/// # Safety
/// As for [`place`]; the caller holds the lock of the slab.
#[cfg_attr(debug_assertions, track_caller)]
pub(super) unsafe fn place_outside<F: Future>(
    slab: &OutsideSlab,
    future: &ManuallyDrop<F>,
    is_shared: bool,
    flags: u8,
) -> Option<NonNull<Task>> {
    let block = slab.0.take(Layout::new::<Placed<F>>())?;
    // SAFETY: fresh memory of this slab; the rest is the caller's promise.
    Some(unsafe { fill(block, future, Life::sent(is_shared), flags | SENT) })
}

/// # Safety
/// As for [`place`]; `block` is fresh memory of a slab, for a `Placed<F>`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(debug_assertions, track_caller)]
unsafe fn fill<F: Future>(
    block: NonNull<u8>,
    future: &ManuallyDrop<F>,
    life: Life,
    flags: u8,
) -> NonNull<Task> {
    let placed = block.cast::<Placed<F>>();
    // SAFETY: fresh memory of this layout. Field by field: a value would be copied into place.
    unsafe {
        let place = placed.as_ptr();
        (&raw mut (*place).task.link).write(Cell::new(ptr::null_mut()));
        (&raw mut (*place).task.body).write(Table::<F>::BODY);
        (&raw mut (*place).task.life).write(life);
        (*place).task.life.flags.set(flags);
        (&raw mut (*place).task.completion).write(Completion::new());
        #[cfg(debug_assertions)]
        (&raw mut (*place).task.spawn_site).write(std::panic::Location::caller());
        (&raw mut (*place).cell).cast::<F>().write(ptr::read(&**future));
    }
    placed.cast()
}

/// A future that may already have a result when it is cancelled.
pub(crate) trait LastWord: Future {
    /// Called before a cancelled future is dropped: its result, if there is one.
    fn last_word(self: Pin<&mut Self>) -> Option<Self::Output>;
}

struct Table<F>(F);

impl<F: LastWord> Table<F> {
    const LAST_WORD: &'static TaskBody = &TaskBody { cancel: cancel_after_last_word::<F>, ..*Self::BODY };
}

/// Makes the cancellation of the task call [`LastWord::last_word`].
///
/// # Safety
/// A task that `place` has made of this type, and that only the caller knows.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn give_last_word<F: LastWord>(task: NonNull<Task>) {
    // SAFETY: as promised by the caller.
    unsafe { (*task.as_ptr()).body = Table::<F>::LAST_WORD };
}

impl<F: Future> Table<F> {
    const BODY: &'static TaskBody = &TaskBody {
        poll: poll::<F>,
        cancel: cancel::<F>,
        dispose: dispose::<F>,
        is_plain: !std::mem::needs_drop::<F::Output>(),
        free: free::<F>,
        inflate: super::inflate::carry_out,
        outcome: offset_of!(Placed<F>, cell),
        size: size_of::<Placed<F>>(),
        elsewhere: |_| 0..0,
        name: std::any::type_name::<F>,
        named: None,
    };
}

/// Gives the task a name: allocates a table of its own for it.
///
/// # Safety
/// A task that `place` has made of this type, and that only the caller knows.
pub(super) unsafe fn give<F: Future>(task: NonNull<Task>, given: Arc<Given>) {
    let body = TaskBody { free: free_named::<F>, ..*Table::<F>::BODY };
    let named = NonNull::from(Box::leak(Box::new(Named { body, given })));
    // SAFETY: the table is ours until it is stored in the task, which only the caller knows.
    unsafe {
        (*named.as_ptr()).body.named = Some(NamedPtr(named));
        (*task.as_ptr()).body = &(*named.as_ptr()).body;
    }
}

/// [`TaskBody::free`] of a task with a name.
///
/// # Safety
/// As for [`free`].
unsafe fn free_named<F: Future>(task: NonNull<Task>) {
    // SAFETY: no claim on the task is left (contract); the table was leaked by `give`, and its task is
    // gone.
    unsafe {
        let named = task.as_ref().body.named;
        free::<F>(task);
        drop(named.map(|named| Box::from_raw(named.0.as_ptr())));
    }
}

/// # Safety
/// The task heads a `Placed<F>`, alive for `'a`.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn cell<'a, F: Future>(task: NonNull<Task>) -> &'a UnsafeCell<Body<F>> {
    // SAFETY: as promised by the caller.
    unsafe { &(*task.cast::<Placed<F>>().as_ptr()).cell }
}

/// Polls the future in place. True if it was ready: the future has been dropped, and `value` is full.
///
/// # Errors
/// The payload of a panic; the future has been dropped.
///
/// # Safety
/// The task heads a `Placed<F>` that holds its future; the caller holds the right to run.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn poll_once<F: Future>(
    task: NonNull<Task>,
    value: &mut MaybeUninit<F::Output>,
) -> Result<bool, Box<dyn Any + Send>> {
    let mut done = Done::Nothing;
    // The value is written to an out parameter, not returned by the closure: a result would be read as a
    // whole after being written in parts, which defeats store forwarding.
    let polled = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: invariants 2 and 3.
        let future = unsafe { Pin::new_unchecked(&mut *(*cell::<F>(task).get()).future) };
        let Poll::Ready(ready) = Task::with_context(task, |cx| future.poll(cx)) else { return false };
        value.write(ready);
        done = Done::Polled;
        // SAFETY: the future is over, and not used again.
        unsafe { drop_future::<F>(task) };
        true
    }));
    if polled.is_err() {
        // SAFETY: `done` says which of the two exists.
        unsafe { clean_up::<F>(task, value, done) };
    }
    polled
}

/// How far a poll got before it panicked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Nothing,
    /// The value was written, and the future's destructor panicked.
    Polled,
}

/// Cleans up after a panic. A second panic during the drop is discarded.
///
/// # Safety
/// The future exists if `done` is `Nothing`; otherwise `value` is full.
#[cold]
unsafe fn clean_up<F: Future>(task: NonNull<Task>, value: &mut MaybeUninit<F::Output>, done: Done) {
    // SAFETY: as promised by the caller.
    run_quietly(|| unsafe {
        match done {
            Done::Nothing => drop_future::<F>(task),
            Done::Polled => value.assume_init_drop(),
        }
    });
}

/// Drops the future.
///
/// # Safety
/// As for [`poll_once`]; the future is not used again.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn drop_future<F: Future>(task: NonNull<Task>) {
    // SAFETY: as promised by the caller; the future is dropped in its place.
    unsafe { ManuallyDrop::drop(&mut (*cell::<F>(task).get()).future) }
}

/// [`TaskBody::poll`].
///
/// # Safety
/// As for [`poll_once`].
unsafe fn poll<F: Future>(task: NonNull<Task>) -> bool {
    let mut value = MaybeUninit::uninit();
    // SAFETY: the caller holds the right to run (contract); `value` is full if `poll_once` returns true.
    unsafe {
        match poll_once::<F>(task, &mut value) {
            Ok(false) => return false,
            Ok(true) => keep::<F>(task, Ok(value.assume_init())),
            Err(payload) => keep::<F>(task, Err(KeptError::new(JoinError::caught(payload)))),
        }
    }
    true
}

/// [`TaskBody::cancel`].
///
/// # Safety
/// As for [`poll_once`].
unsafe fn cancel<F: Future>(task: NonNull<Task>) {
    // SAFETY: as promised by the caller.
    unsafe {
        run_quietly(|| drop_future::<F>(task));
        keep::<F>(task, Err(KeptError::cancelled()));
    }
}

/// [`TaskBody::cancel`] of a future with a [`LastWord`].
///
/// # Safety
/// As for [`poll_once`].
unsafe fn cancel_after_last_word<F: LastWord>(task: NonNull<Task>) {
    // SAFETY: invariants 2 and 3; as promised by the caller.
    unsafe {
        let said = catch_unwind(AssertUnwindSafe(|| {
            Pin::new_unchecked(&mut *(*cell::<F>(task).get()).future).last_word()
        }));
        run_quietly(|| drop_future::<F>(task));
        let error = match said {
            Ok(Some(value)) => return keep::<F>(task, Ok(value)),
            Ok(None) => JoinError::cancelled(),
            Err(payload) => JoinError::caught(payload),
        };
        keep::<F>(task, Err(KeptError::new(error)));
    }
}

/// # Safety
/// The future has been dropped, and the caller holds the right to run.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn keep<F: Future>(task: NonNull<Task>, outcome: Kept<F::Output>) {
    // SAFETY: invariant 2.
    unsafe {
        end_locals(task);
        if outcome.is_err() {
            let flags = &task.as_ref().life.flags;
            flags.set(flags.get() | FAILED);
        }
        (*cell::<F>(task).get()).outcome = ManuallyDrop::new(outcome);
    }
}

/// Drops the parasite's local values, if it has any.
///
/// # Safety
/// The caller holds the right to run, and the future is gone.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn end_locals(task: NonNull<Task>) {
    // SAFETY: as promised by the caller.
    unsafe {
        if task.as_ref().life.flags.get() & LOCALS != 0 {
            acting_as(task, || run_quietly(|| locals::end_of_parasite(task)));
        }
    }
}

/// Moves the outcome out of a task and gives up the structural owner's claim (task and handle).
///
/// # Safety
/// The completion word has given the object to the caller; the outcome is of this type; the task is not used
/// again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn take_outcome<T>(task: NonNull<Task>) -> Outcome<T> {
    // SAFETY: invariant 2; the table says where the outcome is.
    unsafe {
        let place = task.byte_add(task.as_ref().body.outcome).cast::<Kept<T>>();
        // By variant, assembled last: a copy of the whole would stall on the narrower writes of its parts
        // (store forwarding).
        match place.as_ref() {
            Ok(value) => {
                let value = ptr::read(value);
                Task::drop_owner(task);
                Ok(value)
            }
            Err(error) => {
                let error = ptr::read(error).into_error_of(|| Task::info(task, None));
                Task::drop_owner(task);
                Err(error)
            }
        }
    }
}

/// [`TaskBody::dispose`].
///
/// # Safety
/// The completion word has given the object to the caller; called once.
unsafe fn dispose<F: Future>(task: NonNull<Task>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let outcome = ManuallyDrop::take(&mut (*cell::<F>(task).get()).outcome);
        let name = task.as_ref().given_name().map_or(std::any::type_name::<F>(), |name| name);
        drop_outcome(outcome.map_err(KeptError::into_error), Some(task.addr().get() as u64), name);
        end_locals(task);
    }
}

/// Drops an outcome that no thread joined, and reports a panic in it, once.
pub(super) fn drop_outcome<T>(outcome: Outcome<T>, number: Option<u64>, name: &str) {
    report_unjoined(outcome, number, || format!("parasite {name}"));
}

/// [`TaskBody::free`].
///
/// # Safety
/// No claim on the task is left; its cell is empty.
pub(super) unsafe fn free<F: Future>(task: NonNull<Task>) {
    // SAFETY: allocated by `place` with this layout.
    unsafe {
        match Worker::current() {
            Some(worker) => worker.parasites.slab.give(task.cast(), Layout::new::<Placed<F>>()),
            None => slab::give_from_outside(task.cast()),
        }
    }
}
