//! The scheduler's part of parasites: their state machine, which thread runs them and when, and how idle
//! workers get some of them.
//!
//! Reading order: [`life`] (who may run a stackless parasite), [`task`] (the header of a stackless parasite),
//! `finish` (its end), `ready_queue` (the ready queue), `attach` (which thread runs a ready parasite),
//! `carrier` (the worker's own hosts, for parasites that no other thread can run), `contexts` and `on_top`
//! (the stacks of stackful parasites), `offer` with [`attention`] (time slices, and work for idle workers),
//! `starts` (hosts that do nothing but start parasites), [`outside`] (parasites that come from other threads). `notify` is the waker of a stackless parasite,
//! `owned` the part of a worker that all these use.

#[cfg(not(loom))]
pub(crate) mod attach;
pub(crate) mod attention;
#[cfg(not(loom))]
pub(in crate::sched) mod carrier;
#[cfg(not(loom))]
pub(crate) mod contexts;
pub(crate) mod finish;
pub(crate) mod life;
pub(crate) mod notify;
pub(in crate::sched) mod number;
#[cfg(not(loom))]
pub(crate) mod offer;
#[cfg(not(loom))]
mod on_top;
pub(crate) mod outside;
pub(in crate::sched) mod ready_queue;
pub(crate) mod refs;
#[cfg(not(loom))]
pub(in crate::sched) mod starts;
pub(crate) mod task;

#[cfg(not(loom))]
pub(crate) mod owned;
