//! Hosts: spawning, joining, naming, yielding, and host-local values.
//!
//! Reading order: `sched::completion` (the completion word that thread and joiner share), `join_cell` (a
//! host's allocation), `builder`, `join`, [`local`], `suspend`. Cancellation: `sched::cancel::reach`,
//! `sched::cancel`, `cancel::level`, `cancel::shield`, `cancel::scope`.

#[cfg(not(loom))]
mod builder;
mod closure;
#[cfg(not(loom))]
mod handle;
#[cfg(not(loom))]
mod info;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
mod join_cell;
#[cfg(not(loom))]
mod join_error;
#[cfg(not(loom))]
pub(crate) mod local;
mod member;
#[cfg(all(debug_assertions, not(loom)))]
mod never_run;
#[cfg(not(loom))]
pub(crate) mod stack_size;
mod suspend;

#[cfg(loom)]
pub(crate) use crate::model::scope_state::JoinError;
#[cfg(not(loom))]
pub use crate::sched::inspect::{stack_trace::Stack, survivor::Survivor};
#[cfg(loom)]
pub(crate) use crate::sched::panic::{Panic, Panics};
#[cfg(not(loom))]
pub use crate::sched::panic::{Panic, Panics};
#[cfg_attr(loom, allow(unused_imports))]
pub use closure::Closure;
pub(crate) use member::Member;
pub use suspend::{Abandoned, WakeToken, suspend, suspend_async};
#[cfg(not(loom))]
pub use {
    builder::{Builder, spawn},
    handle::Handle,
    info::{ThreadInfo, ThreadKind, YieldNow, current, yield_now, yield_now_async},
    join::JoinHandle,
    join_error::{JoinError, JoinedThread, NoStack},
    local::HostLocal,
};
#[cfg(not(loom))]
pub(crate) use {
    builder::{ON_A_HOST, outside, spawn_member, spawn_on},
    join::report_unjoined,
};
