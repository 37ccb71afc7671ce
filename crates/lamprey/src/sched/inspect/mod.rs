//! Looking at threads that cannot be asked: their stacks, what they wait for, who holds a worker up.
//!
//! `sample` copies the registers and the stack of a thread that computes, [`unwind`] walks such a copy,
//! [`stack_trace`] is what comes of it, and `polled` which parasite runs there. [`survey`] asks all workers
//! who has not ended, by [`answers`], or `stuck` where a worker does not answer. `silent` names who holds a
//! worker up, `overflowed` shows a stack that has overflowed.

pub(crate) mod answers;
#[cfg(not(loom))]
mod ask;
#[cfg(not(loom))]
pub(crate) mod found;
#[cfg(not(loom))]
pub(crate) mod overflowed;
#[cfg(not(loom))]
pub(crate) mod polled;
#[cfg(not(loom))]
pub(in crate::sched) mod sample;
#[cfg(not(loom))]
pub(in crate::sched) mod silent;
#[cfg(not(loom))]
pub(crate) mod stack_trace;
#[cfg(not(loom))]
pub(in crate::sched) mod stuck;
#[cfg(not(loom))]
pub(crate) mod survey;
#[cfg(not(loom))]
pub(in crate::sched) mod unwind;
