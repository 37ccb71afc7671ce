//! Streams of receivers and sinks of senders.

#[path = "../../../lamprey/tests/common/mod.rs"]
mod common;

mod races;
mod sinks;
mod sources;
mod streams;
