//! The context switch: stacks, and jumping between them in less than a nanosecond.

mod arch;
mod context;
pub mod overflow;
pub mod stack;

pub use context::{StackPointer, init, jump, switch};
pub use stack::{GuardKind, LocalPool, MIN_STACK_SIZE, PoolConfig, PoolStats, PooledStack, Stack, StackPool};
