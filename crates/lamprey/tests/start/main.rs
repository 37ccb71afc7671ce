//! How a program, or a test of one, starts: the attributes, `run_with`, the environment, the cores of workers.

#[path = "../common/mod.rs"]
mod common;

mod affinity;
mod attributes;
mod environment;
mod program;
mod simulated;
mod timeout;

// For `crate = ::other`.
extern crate lamprey as other;
