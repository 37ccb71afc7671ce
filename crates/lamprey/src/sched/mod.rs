//! The scheduler: workers, how a thread blocks and is woken, what runs next, and where readiness comes from.
//!
//! Reading order: [`thread`] (what the scheduler knows of a thread), [`block`] (the one shape of a blocked
//! thread), `worker`, [`blocking`] and `switch` (the hot path), `root` (the loop), [`coop`] and `placement`
//! (whose turn, and where), [`park`] (sleeping and waking, an essay), [`steal`], [`duty`] and `watch` (what
//! computes holds up nobody), [`policy`], [`source`], `runtime`. Parasites: [`parasite`]; cancelling:
//! [`cancel`]; looking at threads: [`inspect`].
//!
//! Under the model checker a worker is a smaller one (`model/worker.rs`, `model/host.rs`); how its hosts
//! block is the same.

pub(crate) mod block;
pub(crate) mod blocking;
pub(crate) mod cancel;
pub(crate) mod completion;
pub(crate) mod coop;
pub(crate) mod duty;
pub(crate) mod errand;
pub(crate) mod guard;
pub(crate) mod idle;
pub(crate) mod inspect;
mod join;
pub(crate) mod os;
pub(crate) mod panic;
pub(crate) mod panic_hook;
pub(crate) mod parasite;
pub(crate) mod park;
pub(crate) mod reason;
pub(crate) mod thread;
pub(crate) mod wait;
pub(crate) mod waiter;
pub(crate) mod wake;
pub(crate) mod wakers;
pub(crate) mod who;

#[cfg(not(loom))]
mod deliver;
#[cfg(not(loom))]
mod handover;
#[cfg(not(loom))]
mod kinds;
#[cfg(not(loom))]
pub(crate) mod locals;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
pub(crate) mod policy;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
pub(crate) mod runtime;
#[cfg(not(loom))]
pub(crate) mod seat;
#[cfg(not(loom))]
pub(crate) mod shared;
#[cfg(not(loom))]
pub(crate) mod source;
#[cfg(not(loom))]
pub(crate) mod stats;
#[cfg(not(loom))]
mod steal;
#[cfg(not(loom))]
pub(crate) mod switch;
#[cfg(not(loom))]
mod tick;
#[cfg(not(loom))]
mod ticker;
#[cfg(not(loom))]
pub(crate) mod timers;
#[cfg(not(loom))]
mod trim;
#[cfg(not(loom))]
mod watch;
#[cfg(not(loom))]
pub(crate) mod worker;
/// What the checker has instead.
#[cfg(loom)]
#[path = "../model/worker.rs"]
pub(crate) mod worker;

/// What the checker has instead is with the worker.
#[cfg(loom)]
pub(crate) use worker as seat;

#[cfg(not(loom))]
pub(crate) use block::{count_communication, on_host};
pub(crate) use block::{gives_way, is_alone, is_cancelled, must_not_block, unwind_cancelled, waiter};
#[cfg(not(loom))]
pub(crate) use handover::switch_over;
pub use reason::Wait;
pub(crate) use waiter::Waiter;
pub(crate) use wake::wake_thread;
pub(crate) use who::Who;
