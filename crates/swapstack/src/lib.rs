//! The context switch: stacks, and jumping between them in less than a nanosecond.

mod arch;
pub mod conformance;
mod context;
pub mod generator;
pub mod overflow;
pub mod payload;
pub mod stack;
mod tools;

pub use context::{StackPointer, init, jump, switch};
pub use generator::{DefaultStack, Generator, GeneratorBuilder, Resumed, Yielder};
pub use stack::{GuardKind, LocalPool, MIN_STACK_SIZE, PoolConfig, PoolStats, PooledStack, Stack, StackPool};
