//! The benches, one a file: what one operation is, Lamprey's form of it, and who else does it.
//!
//! Lamprey's forms are written as a user would write them, on the public names alone.

pub mod http;
pub mod idle;
pub mod memory;
pub mod pingpong;
pub mod ring;
pub mod spawn;
pub mod switch;
pub mod timers;
pub mod yielding;

use crate::harness::Bench;

/// All of them, from the ground up.
pub const ALL: [&Bench; 9] = [
    &switch::BENCH,
    &yielding::BENCH,
    &spawn::BENCH,
    &pingpong::BENCH,
    &ring::BENCH,
    &memory::BENCH,
    &timers::BENCH,
    &idle::BENCH,
    &http::BENCH,
];

/// The bench of that name.
pub fn find(name: &str) -> Option<&'static Bench> {
    ALL.into_iter().find(|b| b.name == name)
}

/// Lamprey as a user would start it.
fn runtime(workers: usize) -> anyhow::Result<lamprey::Runtime> {
    Ok(lamprey::Runtime::builder().workers(workers).build()?)
}
