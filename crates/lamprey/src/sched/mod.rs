//! The scheduler: workers, how a thread blocks and is woken, what runs next, and where readiness comes from.
//!
//! In Go's terms: a *worker* is an M and its P in one (a kernel thread with its own run queues), a *host* is
//! a G that stays on the worker where it started, the *root* is the scheduler loop on g0, an event *source*
//! is the netpoller or the timers, and the worker on *watch* is sysmon.
//!
//! Reading order:
//!
//! * [`thread`]: the descriptor of a thread; [`block`]: the states of a blocked thread; [`wait`]: how every
//!   blocking call waits; `worker`: what a worker owns.
//! * [`blocking`] and `switch`: the hot path, blocking and switching; `root`: the scheduler loop.
//! * [`coop`], `coop_async`: scheduling points of calls that need not block; [`policy`]: the order of the run queue;
//!   `placement`: which worker a new host starts on.
//! * [`park`] and [`idle`]: sleep without lost wake-ups; [`steal`]: work stealing; [`duty`] and `watch`: an
//!   idle worker serves the events of workers whose threads compute; `ticker`: time slices.
//! * [`source`]: event sources; `runtime`: start and end of a set of workers; [`affinity`]: their cores.
//! * [`parasite`]: asynchronous threads; [`cancel`]: cancellation; [`inspect`]: looking at threads; [`record`]: what
//!   they have done; `metrics`: how long things take.
//!
//! Under the model checker `model/worker.rs` and `model/host.rs` replace the worker; how its hosts block is
//! the same code.

pub(crate) mod affinity;
pub(crate) mod block;
pub(crate) mod blocking;
mod called;
pub(crate) mod cancel;
pub(crate) mod completion;
pub(crate) mod coop;
#[cfg(not(loom))]
pub(crate) mod coop_async;
pub(crate) mod drops;
pub(crate) mod duty;
mod foreign;
#[cfg(not(loom))]
pub(crate) mod forked;
pub(crate) mod guard;
pub(crate) mod hints;
pub(crate) mod idle;
pub(crate) mod inspect;
mod join;
#[cfg(not(loom))]
pub(crate) mod metrics;
pub(crate) mod os;
pub(crate) mod panic;
pub(crate) mod panic_hook;
pub(crate) mod parasite;
pub(crate) mod park;
pub(crate) mod reason;
pub(crate) mod record;
pub(crate) mod remote_message;
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
mod here;
#[cfg(not(loom))]
mod ids;
#[cfg(not(loom))]
pub(crate) mod info;
#[cfg(not(loom))]
mod kinds;
#[cfg(not(loom))]
pub(crate) mod locals;
pub(crate) mod made;
pub(crate) mod noted;
pub(crate) mod parts;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
pub mod policy;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
pub(crate) mod runtime;
pub(crate) mod scope_info;
#[cfg(not(loom))]
pub(crate) mod shared;
#[cfg(not(loom))]
pub(crate) mod source;
#[cfg(not(loom))]
pub(crate) mod source_thread;
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
pub(crate) mod virtual_worker;
#[cfg(not(loom))]
mod watch;
#[cfg(not(loom))]
pub(crate) mod worker;
/// The model checker's worker.
#[cfg(loom)]
#[path = "../model/worker.rs"]
pub(crate) mod worker;
#[cfg(not(loom))]
pub(crate) mod worker_shared;

/// The model checker's worker-shared state is in its worker module.
#[cfg(loom)]
pub(crate) use worker as worker_shared;

#[cfg(not(loom))]
pub(crate) use block::{count_communication, count_io_events, on_host, on_worker};
pub(crate) use block::{gives_way, is_alone, is_cancelled, must_not_block, unwind_cancelled, waiter};
#[cfg(not(loom))]
pub(crate) use handover::switch_over;
pub(crate) use reason::On;
pub use reason::Wait;
pub(crate) use waiter::Waiter;
pub(crate) use wake::wake_thread;
pub(crate) use who::{Who, note};
