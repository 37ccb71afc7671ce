//! Dumps: who is in them, and that looking changes nothing.

#[path = "../common/mod.rs"]
mod common;

mod forked;
mod looks;
mod signals;
