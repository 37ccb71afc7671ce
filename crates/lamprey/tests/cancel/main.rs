//! How threads are made to end: cancellation, shutdown, and what a wait that is cut short leaves behind.

#[path = "../common/mod.rs"]
mod common;

mod choice;
mod destructors;
mod hosts;
mod laws;
mod owed;
mod race;
mod shutdown;
mod survivors;
