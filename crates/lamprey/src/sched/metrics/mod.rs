//! Metrics: how long threads wait for their turn, how long they run, how late timers are, how many threads are ready.
//!
//! [`histogram`] counts values by size; `measured` has the histograms of a worker, [`sites`] those of the places where threads are spawned;
//! `meter` is what the worker keeps between the beginning and the end of what it measures, `measures` are the places where it does. [`snapshot`] is what a reader gets.
//!
//! # What is measured
//! What the worker does only now and then (polls, sleeps, timers, events) is counted each time. Switches and wakes cost a few nanoseconds,
//! and to read the clock costs more: they are measured while the worker [records](super::record), so a worker that does
//! less than half a million things a second is measured completely, another one by samples. Which threads are measured depends on when
//! they become ready, or begin to run, and not on how long that lasts: `meter` sees to it that what has begun is also seen to end.
//!
//! A simulation measures everything, in its own time, so the same seed gives the same numbers.

pub(crate) mod histogram;
pub(in crate::sched) mod measured;
mod measures;
pub(in crate::sched) mod meter;
pub(crate) mod sites;
pub(crate) mod snapshot;
