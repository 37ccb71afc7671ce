//! Parasites: how they start, wait, are attached, become hosts, and fail.

#[path = "../common/mod.rs"]
mod common;

mod above;
mod as_host;
mod attach;
mod awaiting;
#[cfg(debug_assertions)]
mod blocked;
mod built;
mod fail;
mod from_outside;
mod inflate;
mod life;
mod mixed;
mod order;
mod scale;
mod stackful;
