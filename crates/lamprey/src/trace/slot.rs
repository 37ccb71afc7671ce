//! The meeting point of a thread and its scheduler during one step: on the stack of [`Trace::step`], reached
//! by the thread's system calls through the waker that they are polled with.
//!
//! # Invariants
//! 1. The waker with [`VTABLE`] is never owned by anybody but [`Slot::poll`]: a clone of it is a clone of the
//!    scheduler's waker. So whoever sees one sees it within that poll, and the slot that it names is alive.
//! 2. A slot is used by the kernel thread that made it. A reference to a waker may go to another one, within
//!    the poll: `here` tells.
//!
//! [`Trace::step`]: super::Trace::step

use super::call::{Answer, Request};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// What a poll of a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// To run to the next system call.
    Run,
    /// To let the call that was asked for last take place: it runs its function.
    Perform,
    /// To give that call its result.
    Answer,
    /// To let that call throw its exception.
    Raise,
    /// A `throw` has thrown: the innermost `catch` around it is to take the exception.
    Raising,
    /// The aim has been reached.
    Reached,
}

pub(super) struct Slot<'a> {
    /// The kernel thread.
    owner: usize,
    /// The scheduler's.
    waker: &'a Waker,
    pub(super) aim: Cell<Aim>,
    pub(super) answer: Cell<Option<Answer>>,
    is_asked: Cell<bool>,
    request: Cell<Option<Request>>,
}

thread_local! {
    static HERE: u8 = const { 0 };
}

/// A number that no other living kernel thread has.
fn here() -> usize {
    HERE.try_with(|here| ptr::from_ref(here).addr()).unwrap_or(0)
}

impl<'a> Slot<'a> {
    pub(super) fn new(aim: Aim, answer: Option<Answer>, waker: &'a Waker) -> Self {
        Self {
            owner: here(),
            waker,
            aim: aim.into(),
            answer: answer.into(),
            is_asked: false.into(),
            request: None.into(),
        }
    }

    /// Calls `poll` with a context whose waker names this slot.
    pub(super) fn poll(&self, poll: impl FnOnce(&mut Context<'_>) -> Poll<()>) -> Poll<()> {
        // SAFETY: the functions of the table take `data` for a pointer to a slot, which this one is, and the
        // slot outlives the waker. The waker is not dropped, nor are there others (invariant 1).
        let waker = unsafe { Waker::new(ptr::from_ref(self).cast(), &VTABLE) };
        poll(&mut Context::from_waker(&ManuallyDrop::new(waker)))
    }

    /// The slot of the step that polls the caller.
    ///
    /// # Panics
    /// If no step does.
    pub(super) fn of<'b>(context: &'b Context<'_>) -> &'b Slot<'b> {
        let waker = context.waker();
        assert!(
            ptr::eq(waker.vtable(), &raw const VTABLE),
            "a system call of lamprey::trace is awaited outside of a trace's thread, or within a combinator that has a \
             waker of its own: await it in the thread's own code, or by `join!` and `select!`"
        );
        // SAFETY: a reference to a waker with this table exists only within `poll`, on which the slot is
        // borrowed (invariant 1).
        let slot = unsafe { &*waker.data().cast::<Slot<'b>>() };
        assert!(
            slot.owner == here(),
            "a system call of lamprey::trace is polled by another kernel thread than its thread"
        );
        slot
    }

    /// Asks the scheduler for a system call, which `what` becomes; returns that if the thread has asked for
    /// another one in this step.
    #[inline]
    pub(super) fn ask<A>(&self, what: A, request: impl FnOnce(A) -> Request) -> Option<A> {
        if self.aim.get() != Aim::Run || self.is_asked.replace(true) {
            return Some(what);
        }
        self.request.set(Some(request(what)));
        None
    }

    pub(super) fn into_request(self) -> Option<Request> {
        self.request.into_inner()
    }

    /// True if the poll is for `aim`, which is reached by it.
    pub(super) fn reaches(&self, aim: Aim) -> bool {
        let is = self.aim.get() == aim;
        if is {
            self.aim.set(Aim::Reached);
        }
        is
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| {});

/// A clone of the scheduler's waker.
///
/// # Safety
/// `data` points to a slot.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: as promised by the caller.
    let waker = ManuallyDrop::new(unsafe { &*data.cast::<Slot<'_>>() }.waker.clone());
    RawWaker::new(waker.data(), waker.vtable())
}

/// Wakes by the scheduler's waker.
///
/// # Safety
/// `data` points to a slot.
unsafe fn wake(data: *const ()) {
    // SAFETY: as promised by the caller.
    unsafe { &*data.cast::<Slot<'_>>() }.waker.wake_by_ref();
}
