//! The simulator.

mod schedules;
