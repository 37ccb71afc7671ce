//! The scheduler: workers, how a thread blocks and is woken, what runs next, and where readiness comes from.
//!
//! Reading order: [`thread`] (what the scheduler knows of a thread), [`block`] (the one shape of a blocked thread),
//! `worker`, [`blocking`] and `switch` (the hot path), `root` (the loop), [`coop`] and `placement` (whose turn, and where), [`park`] (sleeping and waking, an essay), [`steal`], [`duty`] and `watch` (what computes holds up nobody),
//! [`policy`], [`source`], `runtime`. For parasites: [`life`], `task`, `finish`, `woken`, `attach`, `carrier`, `contexts`, `offer`.
//!
//! Under the model checker a worker is a smaller one (`model/worker.rs`, `model/host.rs`); how its hosts block is the same.

pub(crate) mod answers;
pub(crate) mod attention;
pub(crate) mod block;
pub(crate) mod blocking;
pub(crate) mod completion;
pub(crate) mod coop;
pub(crate) mod duty;
pub(crate) mod finish;
pub(crate) mod idle;
pub(crate) mod life;
pub(crate) mod os;
pub(crate) mod panic;
pub(crate) mod park;
pub(crate) mod reach;
pub(crate) mod reason;
pub(crate) mod thread;
pub(crate) mod wait;
pub(crate) mod wakers;

#[cfg(not(loom))]
pub(crate) mod attach;
pub(crate) mod cancel;
#[cfg(not(loom))]
mod carrier;
#[cfg(not(loom))]
pub(crate) mod contexts;
pub(crate) mod guard;
#[cfg(not(loom))]
mod handover;
#[cfg(not(loom))]
pub(crate) mod locals;
#[cfg(not(loom))]
pub(crate) mod offer;
#[cfg(not(loom))]
pub(crate) mod overflowed;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
pub(crate) mod policy;
#[cfg(not(loom))]
pub(crate) mod polled;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
pub(crate) mod runtime;
#[cfg(not(loom))]
mod sample;
#[cfg(not(loom))]
mod silent;
#[cfg(not(loom))]
pub(crate) mod source;
#[cfg(not(loom))]
pub(crate) mod stack_trace;
#[cfg(not(loom))]
mod starts;
#[cfg(not(loom))]
pub(crate) mod stats;
#[cfg(not(loom))]
mod steal;
#[cfg(not(loom))]
mod stuck;
#[cfg(not(loom))]
pub(crate) mod survey;
#[cfg(not(loom))]
pub(crate) mod switch;
pub(crate) mod task;
#[cfg(not(loom))]
mod ticker;
#[cfg(not(loom))]
pub(crate) mod timers;
#[cfg(not(loom))]
mod trim;
#[cfg(not(loom))]
mod unwind;
#[cfg(not(loom))]
mod watch;
mod woken;
#[cfg(not(loom))]
pub(crate) mod worker;
/// What the checker has instead.
#[cfg(loom)]
#[path = "../model/worker.rs"]
pub(crate) mod worker;
#[cfg(loom)]
pub(crate) use worker as attach;

pub(crate) use block::{
    Waiter, Who, gives_way, is_alone, is_cancelled, must_not_block, unwind_cancelled, waiter, wake_thread,
};
#[cfg(not(loom))]
pub(crate) use block::{count_communication, on_host};
#[cfg(not(loom))]
pub(crate) use handover::switch_over;
pub use reason::Wait;
