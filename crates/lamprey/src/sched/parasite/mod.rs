//! The scheduler's part of parasites: their life, who runs them when, and how their work is shared out.
//!
//! Reading order: [`life`] (who may run one), [`task`] (one that is stackless), `finish` (its end), `woken`
//! (those that can run now), `attach` (who runs them), `carrier` (on whose stack, if nobody's), `contexts`
//! (the stacks of stackful ones), `offer` with [`attention`] (time slices, and work for idle workers),
//! `starts` (hosts that do nothing but start parasites). `owned` is what a worker has of all this.

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
#[cfg(not(loom))]
pub(crate) mod offer;
#[cfg(not(loom))]
mod on_top;
#[cfg(not(loom))]
pub(in crate::sched) mod starts;
pub(crate) mod task;
pub(in crate::sched) mod woken;

#[cfg(not(loom))]
pub(in crate::sched) mod owned;
