//! What must be the same at a generator's suspend as at its resume.
//!
//! A runtime of lightweight threads keeps things on the running stack that belong to the thread that runs:
//! what it has entered and not left. A generator that is suspended within such a thing can be resumed,
//! dropped or leaked by another thread, and then that thread leaves what it never entered. So whoever runs
//! threads gives a function that says who runs and what is open; it is called at both ends of each stay in a
//! generator.

use std::sync::OnceLock;

/// Who runs on the calling kernel thread, and what that has open: two words that mean something to whoever
/// gives them, and are only compared. Zeros: nobody, nothing.
pub type Mark = [usize; 2];

static CURRENT: OnceLock<fn() -> Mark> = OnceLock::new();

/// Has generators compare what `current` returns: at each [`suspend`](super::Yielder::suspend) it must be
/// what it was at the [`resume`](super::Generator::resume) before; the process is aborted, with a message, if
/// it is not.
///
/// For runtimes whose threads may be suspended inside of a generator. One for each process: the first that is
/// given counts; false for a later one, and a runtime whose soundness rests on its own must not go on then.
/// It is called for every resume and suspend, so it should be fast; it must not panic.
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

/// The mark of now.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn current() -> Mark {
    CURRENT.get().map_or([0, 0], |current| current())
}
