//! An operation for which a thread blocks, on its worker's ring.
//!
//! # Invariants
//! * The [`Call`], and all that the entry names, are on the stack of the thread or borrowed by it. The thread does not
//!   go on before the last completion has been taken, whatever happens to it: so nothing of it is freed before.
//! * A thread that is cancelled, or whose time is over, asks the kernel to give the operation up, and waits for its
//!   answer. If the operation was done all the same, it counts: the thread gets its result, and sees the cancellation
//!   at its next blocking call. So an operation has happened, or it has not.
//!
//! # Who may touch what
//! The cells: the thread before it blocks and after it was woken; in between whoever has taken the completion.

use super::completion::Answer;
use super::here::Here;
use crate::sched::record::io::KernelWait;
use crate::sched::wait::{self, Early, Waited};
use crate::sched::{self, Waiter};
use crate::sync_shim::{AtomicUsize, Ordering};
use io_uring::squeue;
use std::cell::Cell;
use std::io;
use std::ptr::{self, NonNull};
use std::time::Instant;

/// The record of an operation, on the stack of the thread that waits for it.
pub(super) struct Call {
    whole: *const Whole,
    answer: Cell<Option<Answer>>,
}

/// What a thread waits for: one operation, or several.
struct Whole {
    waiter: Cell<Option<Waiter>>,
    /// How many operations have not come to their end.
    left: AtomicUsize,
}

impl Whole {
    fn of(operations: usize) -> Self {
        Self { waiter: Cell::new(None), left: AtomicUsize::new(operations) }
    }
}

impl Call {
    fn of(whole: &Whole) -> Self {
        Self { whole, answer: Cell::new(None) }
    }

    fn data(&self) -> u64 {
        ptr::from_ref(self).expose_provenance() as u64
    }
}

/// Unwinds a thread that has been cancelled before: its operation, given up at once, could have been done all the same,
/// and that of the next call, without end.
fn end_if_cancelled() {
    if !sched::must_not_block() && sched::is_cancelled() {
        sched::unwind_cancelled();
    }
}

/// Performs an operation and returns the kernel's answer; `None` if it was not performed, because the thread unwinds
/// and must not switch, or the ring has come to its end: the caller then has another way.
///
/// # Errors
/// `TimedOut`, if the deadline came first. The operation then had no effect.
///
/// # Cancellation
/// Unwinds from here if the operation had no effect.
///
/// # Safety
/// What the entry names stays in place until this returns or unwinds.
pub(super) unsafe fn perform(
    here: Here,
    entry: squeue::Entry,
    io: KernelWait,
    deadline: Option<Instant>,
) -> io::Result<Option<Answer>> {
    end_if_cancelled();
    io.begins();
    let whole = Whole::of(1);
    let call = Call::of(&whole);
    let enter = |me| {
        whole.waiter.set(Some(me));
        // SAFETY: what the entry names stays (contract), and `call` too: this function ends after the answer.
        unsafe { here.push(&entry.user_data(call.data())) };
        true
    };
    let leave = |_| {
        here.cancel(call.data());
        false
    };
    let waited = wait::wait(io.as_on(), deadline, enter, leave);
    let Some(answer) = call.answer.get() else { return Ok(None) };
    io.ends(answer.result);
    match waited {
        Waited::Late(Early::Cancelled) if answer.is_given_up() => sched::unwind_cancelled(),
        Waited::Late(Early::TimedOut) if answer.is_given_up() => Err(io::ErrorKind::TimedOut.into()),
        _ if answer.is_not_begun() => Ok(None),
        _ => Ok(Some(answer)),
    }
}

/// As [`perform`], for an operation whose answer is a number.
///
/// # Errors
/// The kernel's, and as for `perform`.
///
/// # Safety
/// As for `perform`.
pub(super) unsafe fn count(
    here: Here,
    entry: squeue::Entry,
    io: KernelWait,
    deadline: Option<Instant>,
) -> io::Result<Option<usize>> {
    // SAFETY: as promised by the caller.
    unsafe { perform(here, entry, io, deadline) }?.map(Answer::value).transpose()
}

/// Performs operations of which none depends on another, and returns the answers in their order; `None` for those that
/// were not performed.
///
/// # Cancellation
/// Waits for all of them, and unwinds from here if some had no effect.
///
/// # Safety
/// As for [`perform`].
pub(super) unsafe fn perform_all(
    here: Here,
    entries: impl ExactSizeIterator<Item = squeue::Entry>,
    io: KernelWait,
) -> Vec<Option<Answer>> {
    end_if_cancelled();
    io.begins();
    let whole = Whole::of(entries.len());
    let calls: Vec<_> = (0..entries.len()).map(|_| Call::of(&whole)).collect();
    let enter = |me| {
        whole.waiter.set(Some(me));
        for (call, entry) in calls.iter().zip(entries) {
            // SAFETY: what the entry names stays (contract), and `calls` too: this function ends after all answers.
            unsafe { here.push(&entry.user_data(call.data())) };
        }
        !calls.is_empty()
    };
    let leave = |_| {
        calls.iter().for_each(|call| here.cancel(call.data()));
        false
    };
    let waited = wait::wait(io.as_on(), None, enter, leave);
    let answers: Vec<_> =
        calls.iter().map(|call| call.answer.get().filter(|answer| !answer.is_given_up())).collect();
    io.ends_with(answers.iter().flatten().find_map(|answer| answer.value().err()?.raw_os_error()));
    if waited.is_cancelled() && answers.iter().any(Option::is_none) {
        sched::unwind_cancelled();
    }
    answers
}

/// Gives an answer to the thread.
///
/// # Safety
/// `call` is the record of a thread whose last answer has not come; each answer is given once.
pub(super) unsafe fn complete(call: NonNull<Call>, answer: Answer) {
    // SAFETY: alive, and touched by nobody else: its thread waits for the last answer.
    let call = unsafe { call.as_ref() };
    if !answer.is_release() {
        call.answer.set(Some(answer));
    }
    if answer.is_to_go_on() {
        return;
    }
    // SAFETY: beside the call on that stack, and alive as long as one of its operations has not ended.
    let whole = unsafe { &*call.whole };
    let waiter = whole.waiter.get();
    // AcqRel pairs with itself: the last one has seen what the others have written to their calls.
    if whole.left.fetch_sub(1, Ordering::AcqRel) != 1 {
        return;
    }
    let Some(waiter) = waiter else { crate::bug::bug!("an operation without a waiter") };
    // SAFETY: the thread waits for this, its one wake. The record is not touched again.
    unsafe { waiter.wake() };
}
