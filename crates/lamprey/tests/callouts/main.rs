//! Code of the program that the runtime calls: what it may do there (the table of call-outs in HACKING.md).

#[path = "../common/mod.rs"]
mod common;

mod generator;
mod guard;
mod matrix;
mod parasites;
mod payloads;
mod places;
mod swap_unwinding;
mod thread_end;
mod unwind;
mod waker;
