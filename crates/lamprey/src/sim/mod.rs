//! The simulator: a program, unchanged, under a seed.
//!
//! A simulation runs a program on one kernel thread, one light thread at a time. Which one is next, and whether a call that
//! need not wait gives way, is drawn from a seed. The clock is the simulation's own: when every thread waits, it jumps to
//! the next deadline. Network and disk are in memory, with faults. So a run by one seed is the same run again, an hour of
//! time-outs takes milliseconds, and thousands of orders of events are tried in a second.
//!
//! # A test in five lines
//! [`explore`] runs the program by many seeds. Where one fails, it prints a line that repeats this run, after it has removed
//! all choices by chance that the failure does not need.
//! ```
//! use lamprey::{channel, sim, spawn};
//!
//! # fn my_test() {
//! sim::explore(1000, |sim| {
//!     sim.run(|| {
//!         let (tx, rx) = channel();
//!         spawn(move || tx.send(7).unwrap());
//!         assert_eq!(rx.recv(), Ok(7));
//!     })
//! });
//! # }
//! # my_test();
//! ```
//! ```text
//! LAMPREY_SEED=1234:5,9-12 cargo test my_test
//! ```
//! repeats a run that failed, and prints the end of its event log: a line for each step of a thread.
//! [`Runtime::simulated`](crate::Runtime::simulated) is one run, by one seed.
//!
//! # What is simulated
//! * Threads of all kinds, channels, events, locks, scopes, cancellation, timers: the real ones, on virtual workers. Each
//!   machine has some ([`SimBuilder::workers`]); a new host starts on one of them by chance, and stays.
//! * A host gives way where it waits, and by chance at each call that may wait ([`Schedule`]): before it takes a lock, before
//!   it receives, after it has sent to a host that waited. Between two such calls a host's code runs at once, and in no time:
//!   a data race between two atomic accesses is not found (that is what loom is for).
//! * [Machines](Machine), with a network between them: `lamprey::net`, and [disks](Disk): `lamprey::fs`. Signals are sent to
//!   machines: [`Machine::signal`].
//! * [`block`](crate::block) and [`compute`](crate::compute): the closure runs between two steps, some time later. What it does is real.
//! * Time: [`sleep`](crate::sleep), time-outs, intervals. Each step takes a microsecond. [`now`] is the simulation's clock.
//! * Chance within Lamprey: which event of several that are ready a choice takes, the jitter of supervisors' restarts.
//!
//! # What is not
//! Kernel threads (`std::thread`), sockets and files of `std`, real runtimes within a simulation, child processes: they work,
//! and runs by one seed may differ. `std::time` and the order of a `HashMap` differ too, unless the crate's feature `sim-std`
//! is on: it answers `std`'s questions to the system from the simulation. `explore` makes one run in 64 twice, and fails if
//! they differ, with the first line of their logs that does; the feature also names what the program uses.
//!
//! A host that waits while it unwinds parks its worker's kernel thread, which in a simulation is that of all: the clock goes
//! on to the limit of such a wait, and one without a limit ends the process with a message and the seed. So does a call on
//! the pool ([`block`](crate::block)) that waits for what never comes, and a main host that does not end though it is
//! cancelled (in a [`shield`](crate::shield)), as it may borrow from its caller. Other threads that do not end are leaked, with
//! their descriptors. A thread that catches its cancellation in a loop without any step is an endless loop here.
//!
//! When all threads wait, a simulation looks for messages from kernel threads outside for 5 ms, before that is a deadlock; for up to a second
//! while one that was started meanwhile has not had the processor, and for 5 seconds once some have come.

mod attempt;
mod bell;
mod builder;
mod disk;
mod explore;
mod failure;
mod machine;
mod network;
mod outsiders;
mod progress;
mod ready;
mod run;
mod schedule;
mod shrink;
mod signal;

pub use crate::world::disk::DiskSettings;
pub use crate::world::net::{Faults, Link};
pub use builder::SimBuilder;
pub use disk::Disk;
pub use explore::{Explore, Explored, explore};
pub use machine::Machine;
pub use network::{Network, network};
pub use schedule::Schedule;

use crate::sched::coop;
use crate::world::{self, World};
use std::time::{Instant, SystemTime};

/// In a simulation, true now and then: for what is rare on a real machine and correct, such as a cache that misses, a batch
/// of one, a retry. False outside of simulations, at the cost of a look at a thread-local. Lamprey has such points in its
/// own slow paths.
///
/// Each run chooses by its seed at which sites it is ever true, so that runs differ in kind: a quarter of them. There it is
/// true one time in four.
///
/// # Examples
/// ```
/// use lamprey::sim::buggify;
/// fn batch(waiting: usize) -> usize {
///     if buggify("a batch of one") { 1 } else { waiting }
/// }
/// assert_eq!(batch(10), 10);
/// let batches = |seed| lamprey::Runtime::simulated(seed).run(|| [batch(10), batch(10), batch(10), batch(10)]);
/// assert!((0..100).any(|seed| batches(seed).contains(&1)));
/// ```
pub fn buggify(site: &'static str) -> bool {
    world::with(|world| world.chance.buggify(site)) == Some(true)
}

/// The time by which deadlines are measured: `Instant::now()`, or in a simulation that of the simulation.
pub fn now() -> Instant {
    coop::look_at_clock();
    world::now()
}

/// The time of day: `SystemTime::now()`, or in a simulation that of the simulation, which begins with the year 2026.
///
/// # Examples
/// ```
/// use std::time::{Duration, SystemTime};
/// let begin = lamprey::Runtime::simulated(1).run(lamprey::sim::system_time);
/// assert!(begin >= SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600));
/// ```
pub fn system_time() -> SystemTime {
    world::with(World::since_epoch).map_or_else(SystemTime::now, |since| SystemTime::UNIX_EPOCH + since)
}
