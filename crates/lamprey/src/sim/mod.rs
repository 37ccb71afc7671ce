//! The simulator: a program, unchanged, under a seed. (The draft of the documentation follows.)

mod attempt;
mod bell;
mod builder;
mod disk;
mod explore;
mod failure;
mod machine;
mod progress;
mod ready;
mod run;
mod schedule;
mod shrink;
mod signal;

pub use crate::world::disk::DiskSettings;
pub use builder::SimBuilder;
pub use disk::Disk;
pub use explore::{Explore, Explored, explore};
pub use machine::Machine;
pub use schedule::Schedule;

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
    world::now()
}

/// The time of day: `SystemTime::now()`, or in a simulation that of the simulation, which begins with 2026.
///
/// # Examples
/// ```
/// use std::time::{Duration, SystemTime};
/// let begin = lamprey::Runtime::simulated(1).run(lamprey::sim::system_time);
/// assert!(begin >= SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600));
/// ```
pub fn system_time() -> SystemTime {
    world::with(World::system_time).unwrap_or_else(SystemTime::now)
}
