//! Hosts: spawning, joining, names, host-local values.

#[path = "../common/mod.rs"]
mod common;

mod closures;
mod extremes;
mod handles;
mod hosts;
mod join;
mod locals;
mod state;
