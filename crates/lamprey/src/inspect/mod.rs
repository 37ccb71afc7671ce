//! Lists of a program's threads: what each waits for, and where; and what the workers have done last.
//!
//! [`threads`] makes one at any time, [`dump`] one to be printed, [`dump_at`] when the process gets a signal. By itself a runtime prints the same
//! list when all of its threads wait for each other ([`RuntimeBuilder::deadlocks`](crate::RuntimeBuilder::deadlocks)), and
//! [`#[lamprey::test]`](macro@crate::test) when a test takes too long; a thread that holds up a worker is named
//! ([`RuntimeBuilder::stuck_after`](crate::RuntimeBuilder::stuck_after)). [`stuck`] finds threads that wait for each other while the
//! rest goes on, and [`stacks`] tells how large the stacks need to be.
//!
//! [`recording`] tells what led there: each worker records its last steps, always
//! ([`RuntimeBuilder::recorder`](crate::RuntimeBuilder::recorder)). [`Recording::why`] tells from it why a thread was late;
//! reports end with its last steps, and [`RuntimeBuilder::record_dir`](crate::RuntimeBuilder::record_dir) keeps it as a file.

mod at_signal;
#[cfg(feature = "dial9")]
pub mod dial9;
#[cfg(feature = "live")]
mod live;
mod metrics;
#[cfg(feature = "perfetto")]
pub mod perfetto;
mod recorder;
mod stacks;

use crate::cancel::shield;
use crate::driver::pool;
use crate::sched::inspect::found::Found;
use crate::sched::inspect::groups::Groups;
use crate::sched::inspect::{cycles, os_waits, row, runtimes};
use crate::sched::shared::Shared;
use std::fmt;
use std::sync::Arc;

pub use crate::sched::inspect::cycles::Stuck;
pub use crate::sched::inspect::object::Object;
pub use crate::sched::inspect::parent::Parent;
pub use crate::sched::inspect::row::{Blocker, ThreadRow};
pub use crate::sched::inspect::stack_trace::Frame;
pub use crate::sched::scope_info::ScopeInfo;
pub use at_signal::dump_at;
#[cfg(feature = "live")]
pub use live::{Server, serve, serve_with_token};
pub use metrics::{Histogram, Metrics, SiteMetrics, Spawned, WorkerMetrics, metrics};
pub use recorder::{Cause, CriticalPath, Delay, Recording, Segment, Spent, Step, What, recording};
pub use stacks::{StackUse, Stacks, stacks};

/// The threads of the process, as [`dump`] found them: display it.
///
/// Threads that wait for the same in the same call are one entry, with their number and some of their names. Of each stack the
/// program's own calls are shown; all of them if the variable `RUST_BACKTRACE` is `full`.
pub struct Dump(Groups);

/// Lists what is known of each host and parasite that has started and has not ended, in all runtimes of the process: what it waits
/// for, for how long, for whom, and where.
///
/// See [`dump`] for how it is found out.
///
/// # Examples
/// ```
/// use lamprey::{Wait, inspect, spawn, sync::Mutex};
/// use std::sync::Arc;
///
/// # lamprey::run(|| {
/// let lock = Arc::new(Mutex::new(()));
/// let held = lock.lock().unwrap();
/// let theirs = lock.clone();
/// let waits = spawn(move || drop(theirs.lock().unwrap()));
/// # while !inspect::threads().iter().any(|row| row.wait() == Some(Wait::Lock)) { lamprey::yield_now() }
/// let rows = inspect::threads();
/// let row = rows.iter().find(|row| row.wait() == Some(Wait::Lock)).unwrap();
/// assert!(row.waiting().is_some());
/// if cfg!(debug_assertions) {
///     assert_eq!(row.blockers()[0].thread().id(), lamprey::current().id());
/// }
/// # drop(held);
/// # waits.join().unwrap();
/// # });
/// ```
///
/// # Cancellation
/// The call is not interrupted.
///
/// # Blocking
/// The same as [`dump`].
#[doc(alias = "goroutines")]
#[doc(alias = "ThreadMXBean")]
pub fn threads() -> Vec<ThreadRow> {
    aside(|| row::rows(found()))
}

/// Finds threads that wait for each other for ever while others go on.
///
/// Some are **certain** ([`Stuck::is_certain`]): rings in which each thread holds a lock that the next one waits for, or joins it. Two looks have
/// found the same waits.
///
/// Others are **possible**: threads that have waited for a second or longer, each for another one of them, where some wait on
/// channels. It is not known who has the ends of a channel. But they are counted, except weak senders; so if there are none of these, that many references to it are
/// found on the stacks of hosts, and all of these hosts may be stuck themselves, they are listed. (Of a [choice](crate::event::choose) that is not asked.) An end that is in a future, in a
/// collection, or with a thread that has not begun, is not seen; and a stack may have the remains of an end that its thread has passed on. So
/// some of those that are listed may go on, and some that are stuck are not listed; a leak shows in a [`dump`] by its number and age. None are listed while a
/// worker does not get to answer, nor if one has more than 100,000 threads.
///
/// A program with debug assertions that uses locks looks by itself, after one second, three, seven and so on, and prints what it finds (unless
/// [`RuntimeBuilder::deadlocks`](crate::RuntimeBuilder::deadlocks) is off). Without them it is not known who holds a lock, and
/// only joins are followed. Waits with a time limit count as ones that end. A guard that was sent to another thread counts as held
/// by the thread that has taken the lock ([`ThreadRow::blockers`]).
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// for stuck in lamprey::inspect::stuck() {
///     eprintln!("{stuck}");
/// }
/// # });
/// ```
///
/// # Cancellation
/// The call is not interrupted.
///
/// # Blocking
/// As [`dump`], and 20 ms more if the first look finds something.
#[doc(alias = "findDeadlockedThreads")]
#[doc(alias = "leak")]
pub fn stuck() -> Vec<Stuck> {
    aside(|| cycles::find_all(&runtimes::all()))
}

/// Calls `look` where it holds up no worker: each of them is to answer.
fn aside<R: Send>(look: impl FnOnce() -> R + Send) -> R {
    shield(|| pool::block(look))
}

pub(crate) fn found() -> Vec<Found> {
    let its = |shared: Arc<Shared>| shared.look();
    runtimes::all().into_iter().flat_map(its).chain(os_waits::found()).collect()
}

/// Lists all hosts and parasites of all runtimes of the process that have started and have not ended, with what each waits for
/// and where. (Those of simulations are not listed: a simulation that fails lists its own.) Kernel threads that wait in a call of this crate
/// outside of all runtimes are listed, too, without their stacks.
///
/// What is listed is not the state of one moment: a worker with thousands of threads looks at some of them at a time, and runs others in
/// between, for as long. Each is listed as it was at some moment of the call. One that starts or ends meanwhile may be in the list or not.
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
/// answer, which is listed itself then. In a destructor while a host unwinds, the call holds the worker up for a tenth of a second,
/// and the worker's threads are listed without their stacks, 32 at most, the host itself first.
#[doc(alias = "goroutine dump")]
#[doc(alias = "jstack")]
#[must_use]
pub fn dump() -> Dump {
    Dump(aside(|| Groups::of(found())))
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
