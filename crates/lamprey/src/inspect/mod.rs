//! Lists of a program's threads: what each waits for, and where.
//!
//! [`dump`] makes one at any time, [`dump_at`] when the process gets a signal. By itself a runtime prints the same
//! list when all of its threads wait for each other ([`RuntimeBuilder::deadlocks`](crate::RuntimeBuilder::deadlocks)), and
//! [`#[lamprey::test]`](macro@crate::test) when a test takes too long; a thread that holds up a worker is named
//! ([`RuntimeBuilder::stuck_after`](crate::RuntimeBuilder::stuck_after)).

mod at_signal;

use crate::cancel::shield;
use crate::driver::pool;
use crate::sched::inspect::groups::Groups;
use crate::sched::inspect::runtimes;
use std::fmt;

pub use at_signal::dump_at;

/// The threads of the process, as [`dump`] found them: display it.
///
/// Threads that wait for the same in the same call are one entry, with their number and some of their names. Of each stack the
/// program's own calls are shown; all of them if the variable `RUST_BACKTRACE` is `full`.
pub struct Dump(Groups);

/// Lists all hosts and parasites of all runtimes of the process that have started and have not ended, with what each waits for
/// and where. (Those of simulations are not listed: a simulation that fails lists its own.)
///
/// Each worker looks at its own threads when it next reaches its scheduler, which takes some ten microseconds for each
/// host, and is asked by a signal if it computes (see [`Survivor::stack`](crate::Survivor::stack)). A parasite that runs, or is about to, in
/// a runtime of several workers, is counted without its name.
///
/// # Examples
/// ```
/// use lamprey::{Builder, channel, inspect, parasite, yield_now};
///
/// # lamprey::run(|| {
/// let (tx, rx) = channel::<u32>();
/// let theirs = rx.clone();
/// let host = Builder::new().name("reader").spawn(move || theirs.recv()).unwrap();
/// let parasites = [(); 3].map(|()| parasite({
///     let rx = rx.clone();
///     async move { rx.recv_async().await }
/// }));
/// # while !inspect::dump().to_string().contains("`reader`") { lamprey::yield_now() }
/// let dump = inspect::dump();
/// println!("{dump}");
/// assert!(dump.to_string().contains("`reader`"));
/// assert!(dump.threads() >= 5); // with this one
/// # drop(tx);
/// # });
/// ```
///
/// # Cancellation
/// The call is not interrupted.
///
/// # Blocking
/// A host or stackful parasite switches away; an OS thread waits. It takes milliseconds, and up to five seconds if a worker does not
/// answer, which is listed itself then.
#[doc(alias = "goroutine dump")]
#[doc(alias = "jstack")]
#[must_use]
pub fn dump() -> Dump {
    // On a host, `block` leaves its worker free to answer.
    let found = shield(|| {
        pool::block(|| runtimes::all().iter().flat_map(|shared| shared.look()).collect::<Vec<_>>())
    });
    Dump(Groups::of(found.into_iter().map(|thread| (thread, None))))
}

impl Dump {
    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.0.threads()
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.threads() {
            0 => f.write_str("no thread"),
            1 => write!(f, "1 thread:{}", self.0),
            threads => write!(f, "{threads} threads:{}", self.0),
        }
    }
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump").field("threads", &self.0.threads()).finish_non_exhaustive()
    }
}
