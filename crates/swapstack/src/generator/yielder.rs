//! The inside of a generator: handing values out.

use super::control::{Control, State, unwind_to_base};
use super::mark;
use crate::overflow::Label;
use std::marker::PhantomData;

/// How the body of a [`Generator`](super::Generator) yields: it gets a reference to one, which it
/// cannot keep.
///
/// A [scoped](super::Generator::scoped) generator that is run by the body may capture it and yield for the
/// outer one. Another thread may not:
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

    /// Hands `value` to the resumer and waits for the next [`resume`](super::Generator::resume): returns
    /// what that brings.
    ///
    /// If the generator is dropped instead, this does not return but unwinds, so that the destructors of the
    /// body run. (`catch_unwind` sees that unwind; pass it on with `resume_unwind`.)
    ///
    /// # Panics
    /// While the thread unwinds ([`std::thread::panicking`]), be it the body or a destructor outside of it
    /// that resumes this generator: a context that waits in the middle of an unwind would make all others of
    /// the thread look as if they panicked, even after the unwind is over. The message names the generator.
    /// As every panic that leaves a destructor during an unwind, this one ends the process then.
    ///
    /// A body that catches the unwind of a drop and then yields never runs again: the drop panics with a
    /// message that says so, and the stack with all that is on it is leaked. Where the drop happens during
    /// an unwind, or the yield is in a destructor, or the generator is a scoped one, the process aborts
    /// instead, with a message.
    ///
    /// So it does if the thread that runs the body has entered something there that it must leave by itself,
    /// such as a scope or a time limit of a runtime of threads ([`set_mark`](super::set_mark)). With such a
    /// runtime a generator that another generator's body has resumed must also be suspended before that other
    /// one is gone on with by another thread, or inside of more: the process aborts, too.
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
        // SAFETY: `Suspended` says that a `Y` comes; whoever resumes brings an `R` or sets `Cancelling`.
        let answer = unsafe { control.exchange::<Y, R>(value) };
        if control.state.get() == State::Cancelling {
            unwind_to_base(control);
        }
        // SAFETY: not cancelled, so an `R` has come, just now.
        unsafe { answer.open() }
    }
}

/// A yield during an unwind, or of a body that is being dropped.
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
    // SAFETY: `Stuck` says that nothing comes, and nobody ever answers.
    unsafe { control.exchange::<(), ()>(()) };
    unreachable!("a generator that was given up is resumed")
}

/// Another thread could leave what this one has entered.
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

/// What is said of a generator that does not let itself be dropped.
pub(super) fn swallowed(label: &Label) -> String {
    format!(
        "generator `{}` (created at {}) caught the unwind that drops it, and yields: its stack is leaked",
        label.name, label.site
    )
}
