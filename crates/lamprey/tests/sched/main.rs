//! The scheduler: whose turn it is, where hosts start, policies, sources, several runtimes.

#[path = "../common/mod.rs"]
mod common;

mod coop;
mod placement;
mod policies;
mod policy;
mod progress;
mod several;
mod silent;
mod source;
mod start_order;
mod starts;
