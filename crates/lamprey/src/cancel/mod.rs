//! Ending a part of what a thread does, early: by a time limit, by a scope or a token, unless it is shielded.
//!
//! | file | what |
//! |---|---|
//! | `level` | a call within which a cancellation is caught: the boundary that it unwinds to |
//! | `scope` | a set of levels, on any threads, that are cancelled together: what tokens and scopes are made of |
//! | `with_timeout` | a level that the clock cancels |
//! | `shield` | a section that no cancellation interrupts |
//!
//! What a cancelled thread does is in [`sched::cancel`](crate::sched::cancel); how a whole host is asked to
//! end in [`sched::cancel::reach`](crate::sched::cancel::reach).

pub(crate) mod level;
pub(crate) mod scope;
#[cfg(not(loom))]
mod shield;
#[cfg(not(loom))]
mod with_timeout;

#[cfg(not(loom))]
pub use {
    shield::{is_cancelled, shield},
    with_timeout::{with_deadline, with_timeout},
};
