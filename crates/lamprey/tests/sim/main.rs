//! The simulator.

mod exploring;
mod schedules;
