//! Transactional memory.

#[path = "../common/mod.rs"]
mod common;

mod alternatives;
mod anomalies;
mod choice;
mod crowd;
mod destructors;
mod misuse;
mod places;
mod retry;
mod small;
mod unwinds;
mod variables;
