//! Child processes.

#[path = "../common/mod.rs"]
mod common;

mod child;
mod many;
mod pipes;
