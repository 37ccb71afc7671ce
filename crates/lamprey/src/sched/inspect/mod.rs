//! Inspecting threads from outside: their stacks, what they wait for, and which thread holds up a worker.
//!
//! `sample` copies the registers and the stack of a thread that computes, [`unwind`] walks such a copy,
//! [`stack_trace`] is the resulting backtrace, and `polled` says which parasite runs on the thread.
//! [`survey`] asks all workers which of their threads have not ended (`parasites` lists the stackless ones); [`answers`] collects the answers, `ask`
//! asks, and `stuck` looks at a worker that does not answer. `found` is a thread that was found, `survivor` what the program
//! sees of it, and `groups` lists threads that wait alike.
//!
//! | reports by itself | what |
//! |---|---|
//! | `silent` | a thread that holds up a worker (a watchdog) |
//! | `standstill` | all threads wait for each other: a deadlock (with `runtimes`, the list of them) |
//! | `blocked_poll` | a blocking call in async code |
//! | `overflowed` | a stack that has overflowed |

pub(crate) mod answers;
#[cfg(not(loom))]
mod ask;
#[cfg(all(debug_assertions, not(loom)))]
mod blocked_poll;
#[cfg(not(loom))]
pub(crate) mod found;
#[cfg(not(loom))]
pub(crate) mod groups;
#[cfg(not(loom))]
pub(crate) mod overflowed;
#[cfg(not(loom))]
mod parasites;
#[cfg(not(loom))]
pub(crate) mod polled;
#[cfg(not(loom))]
pub(crate) mod runtimes;
#[cfg(not(loom))]
pub(in crate::sched) mod sample;
#[cfg(not(loom))]
pub(in crate::sched) mod silent;
#[cfg(not(loom))]
pub(crate) mod stack_trace;
#[cfg(not(loom))]
pub(crate) mod standstill;
#[cfg(not(loom))]
pub(in crate::sched) mod stuck;
#[cfg(not(loom))]
pub(crate) mod survey;
#[cfg(not(loom))]
pub(crate) mod survivor;
#[cfg(not(loom))]
pub(in crate::sched) mod unwind;
