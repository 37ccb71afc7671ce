//! The inside of a generator: yielding values.

use super::control::{Control, State, unwind_to_base};
use super::mark;
use crate::overflow::Label;
use std::marker::PhantomData;

/// The handle with which the body of a [`Generator`](super::Generator) yields: it gets a reference to one,
/// which it cannot keep.
///
/// The body of a [scoped](super::Generator::scoped) generator that this body runs may capture it and yield
/// for the outer one. Another thread may not:
///
/// ```compile_fail,E0277
/// swapstack::Generator::new(|y, ()| {
///     std::thread::scope(|scope| { scope.spawn(|| y.suspend(1)); });
/// })
/// .next();
/// ```
///
/// And it stays inside of the body:
///
/// ```compile_fail,E0521
/// let mut stolen = None;
/// swapstack::Generator::scoped(|y, ()| { stolen = Some(y); y.suspend(1); }, |mut generator| generator.next());
/// ```
pub struct Yielder<R, Y> {
    control: *const Control,
    types: PhantomData<fn(Y) -> R>,
}

impl<R, Y> Yielder<R, Y> {
    pub(super) fn new(control: &Control) -> Self {
        Self { control, types: PhantomData }
    }

    /// Passes `value` to the resumer and waits for the next [`resume`](super::Generator::resume), whose value
    /// it returns.
    ///
    /// If the generator is dropped instead, this does not return but unwinds, so that the destructors of the
    /// body run. (`catch_unwind` catches that unwind; continue it with `resume_unwind`.)
    ///
    /// # Panics
    /// While the thread unwinds ([`std::thread::panicking`]), in the body or in a destructor outside of it
    /// that resumes this generator: a context that is suspended in an unwind would make all other contexts of
    /// the thread seem to panic, even after the unwind. The message names the generator. Like every panic
    /// that leaves a destructor during an unwind, this one then ends the process.
    ///
    /// A body that catches the unwind of a drop and then yields never runs again: the drop panics with a
    /// message that says so, and the stack with its content is leaked. If the drop happens during an unwind,
    /// or the yield is in a destructor, or the generator is scoped, the process aborts with a message
    /// instead.
    ///
    /// The process also aborts if the thread that runs the body has entered a section in it that only this
    /// thread may leave, such as a scope or a time limit of a thread runtime ([`set_mark`](super::set_mark)).
    /// With such a runtime, if a generator was resumed by another generator's body, it must be suspended
    /// before another thread, or a thread with more open sections, resumes that other generator; otherwise
    /// the process aborts, too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn suspend(&self, value: Y) -> R {
        // SAFETY: the control outlives the body, and `&self` cannot outlive the call of the body.
        let control = unsafe { &*self.control };
        if std::thread::panicking() || control.state.get() != State::Running {
            refuse_yield(control);
        }
        if mark::current() != control.mark.get() {
            refuse_to_leave_open(control);
        }
        control.state.set(State::Suspended);
        // SAFETY: `Suspended` says that a `Y` is passed; the resumer passes an `R` or sets `Cancelling`.
        let answer = unsafe { control.exchange::<Y, R>(value) };
        if control.state.get() == State::Cancelling {
            unwind_to_base(control);
        }
        // SAFETY: not cancelled, so an `R` was passed just now.
        unsafe { answer.open() }
    }
}

/// A yield during an unwind, or in a body that is being dropped.
#[cold]
#[inline(never)]
fn refuse_yield(control: &Control) -> ! {
    let Label { name, site } = control.label;
    if control.state.get() != State::Cancelling {
        panic!("generator `{name}` (created at {site}) yields while its thread unwinds");
    }
    if control.borrows || std::thread::panicking() {
        eprintln!("generator `{name}` (created at {site}) yields while it is dropped");
        std::process::abort();
    }
    control.state.set(State::Stuck);
    // SAFETY: `Stuck` says that no value is passed, and there is never an answer.
    unsafe { control.exchange::<(), ()>(()) };
    unreachable!("a generator that was given up is resumed")
}

/// A suspend with open sections, which another thread could leave.
#[cold]
#[inline(never)]
fn refuse_to_leave_open(control: &Control) -> ! {
    let Label { name, site } = control.label;
    eprintln!(
        "generator `{name}` (created at {site}) is suspended inside of something that its thread has entered and must leave by itself: a \
         scope, a time limit, a token, a shield or the use of a host-local value; suspend outside of that"
    );
    std::process::abort()
}

/// The message for a generator that catches the unwind of its drop.
pub(super) fn swallowed(label: &Label) -> String {
    format!(
        "generator `{}` (created at {}) caught the unwind that drops it, and yields: its stack is leaked",
        label.name, label.site
    )
}
