//! System calls that an older kernel does not have, or a sandbox refuses: programs do without them, and do not spin.
//!
//! `exercise` is the program, `rows` the calls; each row is a run of the program for which the kernel refuses one call in one way.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/confined.rs"]
mod confined;

mod exercise;
mod refused;
mod rows;
