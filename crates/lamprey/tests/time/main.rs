//! Sleeping and limits of time.

#[path = "../common/mod.rs"]
mod common;

mod awaiting;
mod ends;
mod moves;
mod pace;
mod sleep;
