//! Random safe programs over Lamprey's public API: a string of bytes encodes a program of hosts, parasites of
//! both kinds, OS threads, scopes, events and shared objects, whose destructors, wakers and notifiers call
//! the API too.
//!
//! A program ends by itself: threads that wait without a limit are cancelled at its end. So a hang is a
//! failure. A crash is one too, as is a value that is lost, or received or dropped twice, or received
//! although its sender was told that it was not sent, and a thread that outlives its cancelled runtime.
//!
//! The same bytes give the same program, but not the same schedule: a failure may need many runs.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the parts of a program are named by their words in the API")]

mod act;
mod bytes;
mod call_out;
mod class;
mod evt;
mod generators;
mod groups;
mod ledger;
pub mod minimise;
mod program;
mod run;
mod threads;
mod whole;
mod world;

pub use bytes::{Bytes, of_length, of_seed};
pub use class::{Class, Classes};
pub use program::Program;
pub use whole::run_program;
