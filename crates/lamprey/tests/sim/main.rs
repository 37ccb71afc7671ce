//! The simulator.

mod disk;
mod disk_crash;
mod disk_model;
mod disk_wal;
mod exploring;
mod schedules;
mod signal;
