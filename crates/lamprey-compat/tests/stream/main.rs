//! Streams of receivers and sinks of senders.

#[path = "../../../lamprey/tests/common/mod.rs"]
mod common;

mod sinks;
mod sources;
mod streams;
