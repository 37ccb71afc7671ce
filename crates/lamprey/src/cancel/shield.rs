//! `shield`: deferring cancellation.

use crate::sched::cancel::{Frame, within};
use crate::sched::coop;
use crate::sched::worker::Worker;
use crate::thread::Closure;

/// Runs `section` to its end, without interruption by any cancellation from outside: blocking calls in it
/// wait as usual. The cancellation is delivered at the first blocking call after the section.
///
/// For operations that must not stay half done, such as writing the end of a record or returning a resource
/// over a channel. Keep the section short: one that never ends keeps its thread, its scope and its runtime
/// from ending ([`Runtime::shutdown`](crate::Runtime::shutdown) then lists the thread as a survivor). A level
/// *within* the section, such as a [`with_timeout`](crate::with_timeout), is still cancelled.
///
/// If a generator of `swapstack` is suspended within the section, the process aborts with a message, because
/// another thread could resume it; unless the generator was also resumed within the section.
///
/// A stackless parasite is cancelled by dropping its future, which a shield cannot defer. Code that must not
/// be dropped goes into a parasite of its own, which is [detached](crate::ParasiteHandle::detach), or joined
/// by a scope.
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
/// Deferred to the first blocking call after the section.
///
/// # Blocking
/// As the section does. On an OS thread it shields from enclosing deadlines and tokens.
#[doc(alias = "uncancellable")]
#[doc(alias = "WithoutCancel")]
#[doc(alias = "NonCancellable")]
pub fn shield<R>(section: impl Closure<R>) -> R {
    within(&Frame::shield(), section)
}

/// True if the calling thread, or one of the levels (time limit, token, scope) that it is in, has been
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
    coop::look();
    let in_poll = Worker::current().is_some_and(|worker| worker.running_ref().polled().is_some());
    !in_poll && crate::sched::is_cancelled()
}
