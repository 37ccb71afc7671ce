//! Inspecting threads from outside: their stacks, what they wait for, and which thread holds up a worker.
//!
//! `sample` copies the registers and the stack of a thread that computes, [`unwind`] walks such a copy,
//! [`stack_trace`] is the resulting backtrace, and `polled` says which parasite runs on the thread.
//! [`survey`] asks all workers which of their threads have not ended (`parasites` lists the stackless ones); [`answers`] collects the answers, `ask`
//! asks, and `stuck` looks at a worker that does not answer. A worker answers in `pieces`. `found` is a thread that was found, `survivor` what the program
//! sees of it, `object` what it waits for, `possible` which threads may wait for ever, `parent` the thread that has spawned it, `os_waits` lists kernel threads that are no workers, `groups` lists threads that wait alike, and `symbol` reads the names of functions. [`stack_use`] is how much of their stacks threads use, which `stack_look` finds out.
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
pub(crate) mod cycles;
#[cfg(not(loom))]
mod descriptor;
#[cfg(not(loom))]
pub(crate) mod found;
#[cfg(not(loom))]
pub(crate) mod groups;
#[cfg(not(loom))]
pub(crate) mod holdings;
#[cfg(not(loom))]
pub(in crate::sched) mod layout;
#[cfg(not(loom))]
pub(crate) mod object;
#[cfg(not(loom))]
pub(crate) mod os_waits;
#[cfg(not(loom))]
pub(crate) mod overflowed;
#[cfg(not(loom))]
mod parasites;
#[cfg(not(loom))]
pub(crate) mod parent;
#[cfg(not(loom))]
mod pieces;
#[cfg(not(loom))]
pub(crate) mod polled;
#[cfg(not(loom))]
mod possible;
#[cfg(not(loom))]
mod relations;
#[cfg(not(loom))]
pub(crate) mod row;
#[cfg(not(loom))]
pub(crate) mod runtimes;
#[cfg(not(loom))]
pub(in crate::sched) mod sample;
#[cfg(not(loom))]
pub(in crate::sched) mod silent;
#[cfg(not(loom))]
mod stack_look;
#[cfg(not(loom))]
pub(crate) mod stack_trace;
#[cfg(not(loom))]
pub(crate) mod stack_use;
#[cfg(not(loom))]
pub(crate) mod standstill;
#[cfg(not(loom))]
pub(in crate::sched) mod stuck;
#[cfg(not(loom))]
pub(crate) mod survey;
#[cfg(not(loom))]
pub(crate) mod survivor;
#[cfg(not(loom))]
mod symbol;
#[cfg(not(loom))]
pub(in crate::sched) mod unwind;
