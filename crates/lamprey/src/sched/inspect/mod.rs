//! Inspecting threads from outside: their stacks, what they wait for, and which thread holds up a worker.
//!
//! `sample` copies the registers and the stack of a thread that computes, [`unwind`] walks such a copy,
//! [`stack_trace`] is the resulting backtrace, and `polled` says which parasite runs on the thread.
//! [`survey`] asks all workers which of their threads have not ended; [`answers`] collects the answers, `ask`
//! asks, and `stuck` looks at a worker that does not answer. `found` is a thread that was found. `silent`
//! reports a thread that holds up a worker (a watchdog), `blocked_poll` a blocking call in async code, `overflowed` prints a stack that has overflowed.

pub(crate) mod answers;
#[cfg(not(loom))]
mod ask;
#[cfg(all(debug_assertions, not(loom)))]
mod blocked_poll;
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
