//! Sleeping and limits of time.

#[path = "../common/mod.rs"]
mod common;

mod awaiting;
mod far;
mod moves;
mod pace;
mod rates;
mod sleep;
