//! Files, and the pool for calls that block.

#[path = "../common/mod.rs"]
mod common;

mod block;
mod computing;
mod descriptor;
mod directories;
mod file;
mod file_awaiting;
mod file_locks;
mod names;
mod pipe;
mod pool;
mod pool_full;
mod redirected;
mod std_fs;
mod stdio;
