//! Child processes.

#[path = "../common/mod.rs"]
mod common;

mod child;
mod errors;
mod groups;
mod many;
mod pipes;
