//! The simulator.

mod net;
mod schedules;
