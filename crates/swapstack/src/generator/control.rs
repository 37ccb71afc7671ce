//! The block that a generator and its resumer share, at the top of the generator's stack.
//!
//! # States
//! ```text
//!     Fresh --resume--> Running --suspend--> Suspended --resume--> Running
//!                       Running --return--> Returned      (value handed over)
//!                       Running --panic---> Panicked      (payload handed over)
//!     Suspended --drop--> Cancelling --unwound to the base--> Unwound
//!                         Cancelling --return or panic------> Returned, Panicked
//!                         Cancelling --suspend--------------> Stuck (if it borrows, or in an unwind: abort)
//! ```
//! # Invariants
//! * `peer` is the context that is *not* running: the generator while it is suspended, the resumer while it
//!   runs. In `Returned`, `Panicked` and `Unwound` the generator's context has ended; in `Stuck` it must
//!   never run again.
//! * Only one side runs at a time, on one kernel thread, so plain cells are enough.
//! * No unwind crosses a suspend: `suspend` is refused while the thread panics, wherever the panic began. So
//!   a body takes no part of the kernel thread's panic count with it, and a body that is resumed during an
//!   unwind runs to its end.

use crate::arch;
use crate::context::StackPointer;
use crate::overflow::Label;
use crate::payload::Parcel;
use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};

use super::{Mark, Yielder};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Fresh,
    Suspended,
    Running,
    Cancelling,
    Returned,
    Panicked,
    Unwound,
    Stuck,
}

pub(super) struct Control {
    pub(super) peer: Cell<StackPointer>,
    pub(super) state: Cell<State>,
    pub(super) label: Label,
    /// The mark at the last resume.
    pub(super) mark: Cell<Mark>,
    /// Whether the body borrows data that ends with the generator. Such a generator is never `Stuck`.
    pub(super) borrows: bool,
    /// The body before it starts, a `Start<F>` on the same stack, and how to drop it.
    pub(super) start: *mut (),
    pub(super) drop_start: unsafe fn(*mut ()),
}

impl Control {
    /// The control of a generator whose body waits in `start`.
    pub(super) fn fresh<F>(peer: StackPointer, start: *mut Start<F>, label: Label, borrows: bool) -> Self {
        Self {
            peer: Cell::new(peer),
            state: Cell::new(State::Fresh),
            label,
            mark: Cell::new([0, 0]),
            borrows,
            start: start.cast(),
            drop_start: drop_start::<F>,
        }
    }

    /// Passes `value` to the other side and waits for its answer.
    ///
    /// # Safety
    /// The state says that a `V` is passed. The other side answers with an `A`, or with a state that says
    /// that there is none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn exchange<V, A>(&self, value: V) -> Parcel<A> {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: `peer` is the context that does not run (module invariant), and `value` stays in this frame
        // while it is suspended.
        let answer =
            unsafe { arch::switch(self.peer.as_ptr(), self.peer.get(), Parcel::pack(&mut value).word()) };
        Parcel::from_word(answer)
    }
}

/// The payload of the unwind that ends a dropped generator.
struct ForcedUnwind {
    control: *const Control,
}

// SAFETY: the pointer is only compared, never dereferenced.
unsafe impl Send for ForcedUnwind {}

/// Unwinds the generator of `control` from here to its base, without the panic message.
#[cold]
#[inline(never)]
pub(super) fn unwind_to_base(control: &Control) -> ! {
    panic::resume_unwind(Box::new(ForcedUnwind { control }))
}

/// The content of a fresh generator's stack, below its control.
pub(super) struct Start<F> {
    pub(super) control: *const Control,
    pub(super) body: F,
}

/// Drops the body of a generator that never started.
///
/// # Safety
/// `start` is an initialised `Start<F>` that is not used again.
unsafe fn drop_start<F>(start: *mut ()) {
    // SAFETY: the caller's promise.
    unsafe { start.cast::<Start<F>>().drop_in_place() };
}

/// The entry function of a generator: runs the body and passes the outcome to the resumer.
///
/// # Safety
/// `start` is an initialised `Start<F>` that is not used again, with a control that outlives the call, and
/// the first parcel is an `R`.
pub(super) unsafe extern "C" fn run<F, R, Y, T>(first: Parcel<R>, start: *mut ()) -> !
where
    F: FnOnce(&Yielder<R, Y>, R) -> T,
{
    let start = start.cast::<Start<F>>();
    // SAFETY: the caller's promise; the parcel is opened before anything else.
    let (first, control) = unsafe { (first.open(), &*(*start).control) };
    let yielder = Yielder::new(control);
    let call = || {
        // SAFETY: the body is moved out once: the caller's promise.
        let body = unsafe { (&raw mut (*start).body).read() };
        body(&yielder, first)
    };
    // Unwind safety: this code does not use the body's state after a panic; the resumer gets the payload.
    match panic::catch_unwind(AssertUnwindSafe(call)) {
        Ok(value) => finish(control, State::Returned, value),
        // Only while it is cancelled: a body can catch such a payload and throw it later, elsewhere.
        Err(payload) if control.state.get() == State::Cancelling && is_ours(control, &*payload) => {
            drop(payload);
            finish(control, State::Unwound, ())
        }
        Err(payload) => finish::<Box<dyn Any + Send>>(control, State::Panicked, payload),
    }
}

fn is_ours(control: &Control, payload: &(dyn Any + Send)) -> bool {
    payload.downcast_ref::<ForcedUnwind>().is_some_and(|forced| std::ptr::eq(forced.control, control))
}

fn finish<V>(control: &Control, state: State, value: V) -> ! {
    let mut value = ManuallyDrop::new(value);
    let value = &mut value;
    // SAFETY: this is the base of the stack that the control is on, and only the jump is left to do.
    #[cfg(feature = "asan")]
    let value = unsafe { crate::tools::asan::off_fake_stack(value, std::ptr::from_ref(control).addr()) };
    control.state.set(state);
    // SAFETY: the resumer is suspended; it opens the parcel before the stack is used again, and no value with
    // a destructor is left on this stack.
    unsafe { arch::jump(control.peer.get(), Parcel::pack(value).word()) }
}
