//! The simulator: a program, unchanged, under a seed. (The draft of the documentation follows.)

mod bell;
mod builder;
mod failure;
mod machine;
mod network;
mod ready;
mod run;
mod schedule;

pub use crate::world::net::{Faults, Link};
pub use builder::SimBuilder;
pub use machine::Machine;
pub use network::{Network, network};
pub use schedule::Schedule;

use crate::world;
use std::time::Instant;

/// The time by which deadlines are measured: `Instant::now()`, or in a simulation that of the simulation.
pub fn now() -> Instant {
    world::now()
}
