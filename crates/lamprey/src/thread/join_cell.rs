//! The join cell of a host: descriptor, completion word, outcome and closure in one allocation.
//!
//! # Invariants
//! 1. The descriptor comes first (`repr(C)`), so that the scheduler's pointer is also a pointer to the join
//!    cell.
//! 2. `closure` is full from the spawn to `run` or `abandon`; `outcome` is full from then until it is taken:
//!    by the handle after DONE, by `dispose` after DETACHED ([`completion`](crate::sched::completion)).
//! 3. The offset of `outcome` does not depend on the closure's type, so a handle that knows only `T` finds
//!    it.

use super::join_error::JoinError;
use super::member::Member;
use crate::sched::completion::{Completion, Published};
use crate::sched::drops::{drop_quietly, end_locals};
use crate::sched::scope_info::ScopeInfo;
use crate::sched::thread::{Abandoned, Body, Fate, Label, Thread};
use crate::sched::worker::{give_block, take_block};
use std::alloc::Layout;
use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The result of a host.
pub(super) type Outcome<T> = Result<T, JoinError>;

/// The part of a join cell that its handle knows.
#[repr(C)]
pub(super) struct JoinHead<T> {
    pub(super) thread: Thread,
    pub(super) completion: Completion,
    pub(super) outcome: UnsafeCell<MaybeUninit<Outcome<T>>>,
}

/// A host's allocation; `head` first (invariant 1).
#[repr(C)]
struct JoinCell<T, F, M> {
    head: JoinHead<T>,
    member: M,
    closure: UnsafeCell<MaybeUninit<F>>,
}

/// A host outside of any scope.
impl Member for () {
    type Group = ();
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn enter(&self, _: NonNull<Thread>) {}
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(&self) {}
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn left((): ()) {}
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gone(&self) {}
    const IS_ONE: bool = false;
    fn scope(&self) -> Option<ScopeInfo> {
        None
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn failed(&self, error: JoinError) -> JoinError {
        error
    }
}

/// Allocates a host that has not started; `parent` is the number of the thread that spawns it, or 0. The caller passes the thread to a scheduler and the head to a
/// handle.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn new<T, F: FnOnce() -> T, M: Member>(
    closure: F,
    label: Label,
    parent: u64,
    member: M,
) -> NonNull<JoinHead<T>> {
    let join_cell = take_block(Layout::new::<JoinCell<T, F, M>>()).cast::<JoinCell<T, F, M>>();
    // Field by field: a join cell built as a value would be copied into place. SAFETY: fresh memory of this
    // layout; `outcome` is `MaybeUninit`.
    unsafe {
        let place = join_cell.as_ptr();
        (&raw mut (*place).head.thread).write(Thread::host(Vtable::<T, F, M>::BODY, label));
        (*place).head.thread.set_parent(parent);
        (&raw mut (*place).head.completion).write(Completion::new());
        (&raw mut (*place).closure).write(UnsafeCell::new(MaybeUninit::new(closure)));
        (&raw mut (*place).member).write(member);
        (*place).member.enter(join_cell.cast());
    }
    join_cell.cast()
}

struct Vtable<T, F, M>(T, F, M);

impl<T, F: FnOnce() -> T, M: Member> Vtable<T, F, M> {
    const BODY: &'static Body = &Body {
        run: run::<T, F, M>,
        abandon: abandon::<T, F, M>,
        publish: publish::<T, F, M>,
        dispose: dispose::<T, F, M>,
        free: free::<T, F, M>,
        scope: if M::IS_ONE { Some(scope::<T, F, M>) } else { None },
    };
}

/// # Safety
/// `thread` heads a join cell of these types; invariant 2 allows the access that the caller is about to make.
unsafe fn join_cell<'a, T, F, M>(thread: NonNull<Thread>) -> &'a JoinCell<T, F, M> {
    // SAFETY: invariant 1; the caller promises that the cell is alive.
    unsafe { thread.cast::<JoinCell<T, F, M>>().as_ref() }
}

/// [`Body::run`].
///
/// # Safety
/// `thread` heads a join cell of these types, and neither this nor `abandon` has been called on it.
unsafe fn run<T, F: FnOnce() -> T, M: Member>(thread: NonNull<Thread>) {
    // SAFETY: the scheduler calls this once, on the host's own stack; invariant 2.
    unsafe {
        let join_cell = join_cell::<T, F, M>(thread);
        let closure = (*join_cell.closure.get()).assume_init_read();
        // By variant: a result that is kept in memory meanwhile would be copied as a whole right after its parts
        // were written, which defeats store forwarding.
        match catch_unwind(AssertUnwindSafe(closure)) {
            Ok(value) => {
                end_locals(&join_cell.head.thread);
                (*join_cell.head.outcome.get()).write(Ok(value));
            }
            Err(payload) => panicked(join_cell, payload),
        }
    }
}

/// Out of line, so that it adds nothing to the frame below the host's closure.
#[cold]
#[inline(never)]
fn panicked<T, F, M: Member>(join_cell: &JoinCell<T, F, M>, payload: Box<dyn Any + Send>) {
    let error = join_cell.member.failed(JoinError::caught(payload));
    end_locals(&join_cell.head.thread);
    // SAFETY: called once, by `run`: no other thread reads or writes the outcome before it is published.
    unsafe { (*join_cell.head.outcome.get()).write(Err(error)) };
}

/// [`Body::abandon`].
///
/// # Safety
/// As for [`run`].
unsafe fn abandon<T, F: FnOnce() -> T, M: Member>(thread: NonNull<Thread>, why: Abandoned) {
    // SAFETY: called instead of `run`; invariant 2. The closure's destructors may have made host-local
    // values.
    unsafe {
        let join_cell = join_cell::<T, F, M>(thread);
        let closure = (*join_cell.closure.get()).assume_init_read();
        drop_quietly(closure);
        end_locals(&join_cell.head.thread);
        (*join_cell.head.outcome.get()).write(Err(join_cell.member.failed(match why {
            Abandoned::Shutdown => JoinError::cancelled(),
            Abandoned::NoStack(error) => JoinError::no_stack(error),
        })));
    }
}

/// [`Body::publish`].
///
/// # Safety
/// `thread` heads a join cell with this outcome, which is full; called once.
unsafe fn publish<T, F, M: Member>(thread: NonNull<Thread>) -> Fate {
    // SAFETY: alive until the swap in `completion.publish`; not touched after it unless it is ours.
    let join_cell = unsafe { join_cell::<T, F, M>(thread) };
    if join_cell.head.completion.is_detached() {
        // SAFETY: detached, so the outcome is ours; it is full (invariant 2).
        let is_empty = !std::mem::needs_drop::<T>() && unsafe { outcome::<T>(thread.cast()).is_ok() };
        if is_empty {
            join_cell.member.gone();
        }
        return if is_empty { Fate::Empty } else { Fate::Unwanted };
    }
    let group = join_cell.member.leave();
    match join_cell.head.completion.publish() {
        Published::Kept => {}
        // SAFETY: the swap took the joiner's waiter out of the word.
        Published::PendingWake(waiter) => unsafe { waiter.wake_kept() },
        Published::Unwanted => return Fate::Unwanted,
    }
    M::left(group);
    Fate::Published
}

/// The outcome of a join cell.
///
/// # Safety
/// The join cell is done, the caller owns it for `'a`, and its outcome has not been taken.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn outcome<'a, T: 'a>(head: NonNull<JoinHead<T>>) -> &'a Outcome<T> {
    // SAFETY: full (invariant 2).
    unsafe { (*(*head.as_ptr()).outcome.get()).assume_init_ref() }
}

/// Moves the outcome out.
///
/// # Safety
/// The join cell is done, and the caller owns it; its outcome is taken once.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn take_outcome<T>(head: NonNull<JoinHead<T>>) -> Outcome<T> {
    // By variant, not as a whole: a read that is wider than the writes before it defeats store forwarding.
    // SAFETY: the outcome is full (invariant 2), and each part is read once.
    unsafe {
        match (*head.as_ref().outcome.get()).assume_init_ref() {
            Ok(value) => Ok(std::ptr::read(value)),
            Err(error) => Err(std::ptr::read(error)),
        }
    }
}

/// [`Body::dispose`].
///
/// # Safety
/// After `publish` returned `Unwanted`, once.
unsafe fn dispose<T, F, M: Member>(thread: NonNull<Thread>) {
    // SAFETY: after DETACHED only the scheduler has the join cell; the outcome is full (invariant 2).
    unsafe {
        let outcome = take_outcome(thread.cast::<JoinHead<T>>());
        drop_outcome(&thread.as_ref().label, outcome);
        end_locals(thread.as_ref());
        join_cell::<T, F, M>(thread).member.gone();
        // Host-locals that a waker initialized, if `gone` called one.
        end_locals(thread.as_ref());
    }
}

/// [`Body::scope`].
///
/// # Safety
/// `thread` heads a join cell of these types, which is alive; the caller is on the kernel thread of its worker, where it is
/// suspended.
unsafe fn scope<T, F, M: Member>(thread: NonNull<Thread>) -> Option<ScopeInfo> {
    // SAFETY: alive (contract).
    unsafe { join_cell::<T, F, M>(thread) }.member.scope()
}

/// [`Body::free`].
///
/// # Safety
/// `thread` heads a join cell of these types whose outcome has been taken; it is not used again.
unsafe fn free<T, F, M>(thread: NonNull<Thread>) {
    // SAFETY: allocated by `new` with this layout. Outcome and closure have been moved out; the descriptor is
    // dropped here.
    unsafe {
        std::ptr::drop_in_place(thread.as_ptr());
        give_block(thread.cast(), Layout::new::<JoinCell<T, F, M>>());
    }
}

/// Drops an outcome that no thread joined, and reports a panic in it, once.
pub(super) fn drop_outcome<T>(label: &Label, outcome: Outcome<T>) {
    super::join::report_unjoined(outcome, Some(label.id.get()), || {
        let name = label.name().map_or("unnamed", |name| name);
        format!("host {} ({name}), spawned at {},", label.id.get(), label.spawn_site.get())
    });
}
