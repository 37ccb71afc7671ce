//! Random workloads; minutes instead of seconds with `--ignored`.

#[path = "../common/mod.rs"]
mod common;

mod choice;
mod compat;
mod from_outside;
mod mixed;
mod stm;
