//! Marks: what must be the same at a generator's suspend as at its resume.
//!
//! A runtime of lightweight threads keeps records on the running stack of what the thread that runs has
//! entered and not left. A generator that is suspended within such a section can be resumed, dropped or
//! leaked by another thread, which then leaves a section that it never entered. So the runtime provides a
//! function that identifies the running thread and its open sections; it is called at the resume and at the
//! suspend.

use std::sync::OnceLock;

/// The running thread of the calling kernel thread, and its open sections: two words that are only compared,
/// with a meaning that the runtime defines. Zeros: no thread, no section.
pub type Mark = [usize; 2];

static CURRENT: OnceLock<fn() -> Mark> = OnceLock::new();

/// Makes generators compare the results of `current`: at each [`suspend`](super::Yielder::suspend) it must be
/// the same as at the [`resume`](super::Generator::resume) before. If it is not, the process is aborted with
/// a message.
///
/// For runtimes whose threads may be suspended inside a generator. One for each process: only the first call
/// has an effect and returns true. A runtime whose soundness depends on its own function must not continue
/// after false. The function is called at every resume and suspend, so it should be fast; it must not panic.
///
/// # Examples
/// ```
/// use std::cell::Cell;
///
/// thread_local! {
///     static OPEN: Cell<usize> = const { Cell::new(0) };
/// }
/// assert!(swapstack::generator::set_mark(|| [0, OPEN.get()]));
/// let mut generator = swapstack::Generator::new(|y: &swapstack::Yielder<(), ()>, ()| {
///     OPEN.set(OPEN.get() + 1);
///     // y.suspend(()) would abort the process here
///     OPEN.set(OPEN.get() - 1);
///     y.suspend(());
/// });
/// generator.next();
/// ```
pub fn set_mark(current: fn() -> Mark) -> bool {
    CURRENT.set(current).is_ok()
}

/// The present mark.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn current() -> Mark {
    CURRENT.get().map_or([0, 0], |current| current())
}
