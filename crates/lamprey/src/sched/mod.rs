//! The scheduler: workers, how a thread blocks and is woken, what runs next, and where readiness comes from.
//!
//! Reading order: [`thread`] (what the scheduler knows of a thread), [`block`] (the one shape of a blocked thread),
//! `worker` and `switch` (the hot path), `root` (the loop), [`park`] (sleeping and waking, an essay), [`steal`],
//! [`policy`], [`source`], `runtime`, [`bias`] (who owns an object). For parasites: [`life`], `task`, `finish`, `woken`, `attach`, `carrier`, `contexts`, `offer`, [`slab`].
//!
//! Under the model checker only what kernel threads do is built: blocking as a plain OS thread, and parking.

pub(crate) mod bias;
pub(crate) mod block;
pub(crate) mod completion;
pub(crate) mod finish;
pub(crate) mod life;
pub(crate) mod os;
pub(crate) mod park;
pub(crate) mod reach;
pub(crate) mod reason;
pub(crate) mod thread;

#[cfg(not(loom))]
pub(crate) mod attach;
#[cfg(not(loom))]
mod blocks;
#[cfg(not(loom))]
pub(crate) mod cancel;
#[cfg(not(loom))]
mod carrier;
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
pub(crate) mod contexts;
#[cfg(not(loom))]
mod handover;
#[cfg(not(loom))]
pub(crate) mod offer;
#[cfg(not(loom))]
pub(crate) mod policy;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
pub(crate) mod runtime;
pub(crate) mod slab;
#[cfg(not(loom))]
pub(crate) mod source;
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
    Waiter, Who, Woke, block, block_until_woken, gives_way, is_alone, is_cancelled, must_not_block,
    unwind_cancelled, waiter, wake_thread,
};
#[cfg(not(loom))]
pub(crate) use block::{count_communication, on_host, os_waiter, unwind_if_cancelled};
#[cfg(not(loom))]
pub(crate) use handover::switch_over;
pub use reason::Wait;
