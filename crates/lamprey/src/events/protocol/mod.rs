//! How a thread synchronises on an event: [`branch`] is what it drives, [`choice`] decides which of many
//! offers wins, [`sync`] is the blocking form, [`now`] the one that does not wait, [`waiting`] the
//! future.

mod branch;
mod choice;
mod now;
mod sync;
mod waiting;

pub use branch::{Branch, ChoiceRef, Offered, Polls, Steps};
pub(crate) use choice::{Both, Choice};
pub(crate) use sync::{poll, sync, sync_until};
pub(crate) use waiting::Clock;
pub use waiting::Synced;
#[cfg(not(loom))]
pub(crate) use waiting::Waiting;
