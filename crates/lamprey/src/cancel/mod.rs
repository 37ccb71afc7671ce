//! Cancellation of a part of a thread's work, by a time limit, a scope or a token, unless it is shielded.
//!
//! | file | what |
//! |---|---|
//! | `level` | the call that a cancellation unwinds to, and that catches it |
//! | `scope` | a set of levels, on any threads, that are cancelled together; tokens and scopes are built on it |
//! | `with_timeout` | a level that the clock cancels |
//! | `shield` | a section that no cancellation interrupts |
//!
//! How a thread observes its cancellation is in [`sched::cancel`](crate::sched::cancel); how a whole host is
//! cancelled, in [`sched::cancel::reach`](crate::sched::cancel::reach).

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
