//! `guard`: an event that is made when a thread synchronises on it.

use super::{Event, awaitable};

/// The event that `f` returns. Each synchronisation calls `f` once, before any communication, on the
/// synchronising thread. Use it for what must be done first: send a request, read the clock, build the set of
/// channels.
///
/// # Examples
/// ```
/// # use lamprey::event::{Event, always, guard};
/// let event = guard(|| always(std::time::Instant::now()));
/// let before = std::time::Instant::now();
/// assert!(event.sync() >= before);
/// ```
///
/// # Panics
/// A panic of `f` reaches the synchronising thread; nothing has been offered by then.
#[doc(alias = "lazy")]
#[doc(alias = "defer")]
pub fn guard<E: Event, F: FnOnce() -> E>(f: F) -> Guard<F> {
    Guard(f)
}

/// The event that [`guard`] returns.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct Guard<F>(F);

awaitable!({E: Event, F: FnOnce() -> E} Guard<F>, E::Output);

impl<E: Event, F: FnOnce() -> E> Event for Guard<F> {
    type Branch = E::Branch;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> E::Branch {
        (self.0)().branch()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sync(self) -> E::Output {
        (self.0)().sync()
    }
}
