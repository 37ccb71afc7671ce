//! Dumps: who is in them, and that looking changes nothing.

#[path = "../common/mod.rs"]
mod common;

mod forked;
mod ids;
mod kernel;
mod looks;
mod metrics;
mod objects;
mod origins;
mod pieces;
mod recorder;
mod rows;
mod signals;
mod stacks;
mod why;
