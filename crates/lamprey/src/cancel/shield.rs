//! Putting cancellation off.

use crate::sched::cancel::{Frame, within};
use crate::sched::worker::Worker;

/// Runs `section` to its end, whatever is cancelled outside of it meanwhile: blocking calls in it wait as if
/// nothing were. The cancellation is delivered at the first blocking call after it.
///
/// For what must not be left half done: writing the end of a record, giving something back over a channel.
/// Keep it short: a section that never ends keeps its thread, its scope and its runtime from ending
/// ([`Runtime::shutdown`](crate::Runtime::shutdown) then lists the thread as a survivor). What is cancelled
/// *within* the section, such as a [`with_timeout`](crate::with_timeout) there, still ends.
///
/// A generator of `swapstack` that is suspended within the section ends the process with a message, unless it
/// was resumed there: another thread could go on there.
///
/// A stackless parasite is cancelled by dropping its future, which nothing puts off: what must not be dropped
/// there goes into a parasite of its own, which is [detached](crate::ParasiteHandle::detach), or joined by a
/// scope.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, rx) = lamprey::channel();
/// let (inside, entered) = lamprey::channel();
/// let host = lamprey::spawn(move || {
///     lamprey::shield(|| {
///         inside.send(()).unwrap();
///         rx.recv().unwrap() // is cancelled while it waits, and waits on
///     })
/// });
/// entered.recv().unwrap();
/// host.cancel();
/// tx.send(7).unwrap();
/// assert_eq!(host.join().unwrap(), 7);
/// # });
/// ```
///
/// # Panics
/// With the section's own panic.
///
/// # Cancellation
/// Put off to the first blocking call after the section: see above.
///
/// # Blocking
/// As the section does. On an OS thread it shields from the deadlines and tokens around it.
#[doc(alias = "uncancellable")]
#[doc(alias = "WithoutCancel")]
#[doc(alias = "NonCancellable")]
pub fn shield<R>(section: impl FnOnce() -> R) -> R {
    within(&Frame::shield(), section)
}

/// True if the calling thread, or the innermost part of what it does that can be cancelled, has been
/// cancelled: its next blocking call will unwind. For loops that compute without blocking;
/// [`yield_now`](crate::yield_now) unwinds by itself.
///
/// False while the thread unwinds, in a [`shield`], and in a stackless parasite.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (begin, begun) = lamprey::channel();
/// let host = lamprey::spawn(move || {
///     begin.send(()).unwrap();
///     let mut rounds = 0u64;
///     while !lamprey::is_cancelled() {
///         rounds += 1;
///         lamprey::shield(lamprey::yield_now);
///     }
///     rounds
/// });
/// begun.recv().unwrap();
/// lamprey::yield_now();
/// host.cancel();
/// host.join().unwrap();
/// # });
/// ```
///
/// # Blocking
/// Never.
pub fn is_cancelled() -> bool {
    let in_poll = Worker::current().is_some_and(|worker| worker.running_ref().polled().is_some());
    !in_poll && crate::sched::is_cancelled()
}
