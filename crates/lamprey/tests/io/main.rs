//! Files, and the pool for calls that block.

#[path = "../common/mod.rs"]
mod common;

mod block;
mod descriptor;
mod file;
mod file_awaiting;
mod names;
mod pipe;
mod pool;
mod stdio;
