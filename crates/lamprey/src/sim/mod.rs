//! The simulator: a program, unchanged, under a seed. (The draft of the documentation follows.)

mod bell;
mod builder;
mod disk;
mod failure;
mod machine;
mod ready;
mod run;
mod schedule;
mod signal;

pub use crate::world::disk::DiskSettings;
pub use builder::SimBuilder;
pub use disk::Disk;
pub use machine::Machine;
pub use schedule::Schedule;

use crate::world::{self, World};
use std::time::{Instant, SystemTime};

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
