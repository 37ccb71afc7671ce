//! Cancellation: of a whole thread (it is **killed**; the field `killed`), or of a part of what it does (a
//! **level**: the section of a deadline, a token or a scope), unless a shield is in between.
//!
//! # States
//! A thread has a chain of frames on its stack, the innermost first: shields, and levels, which are open or
//! cancelled (`cancelled`). Its blocking calls end early (`Thread::is_cancelled`) if, going outwards, a
//! cancelled level comes before every shield; or if the thread is killed and there is no shield at all.
//!
//! A **stackless parasite** that is polled on the thread's stack has a cancellation of its own: inside its
//! poll the chain ends where the poll began, and the thread does not count as killed, even if it is. Only the
//! end of the runtime ends blocking calls in a poll. (The cancellation of the parasite itself drops its
//! future once the poll is over.)
//!
//! Being cancelled is a state, not a message: every blocking call inside a cancelled level ends early, until
//! the level has been left. So code that catches the unwind gets no further than its next blocking call.
//!
//! # Invariants
//! 1. `is_cancelled` is recomputed ([`recompute`](state::recompute)) whenever a frame is entered or left, a
//!    level is cancelled, the thread is killed, or a poll begins or ends on its stack.
//! 2. All of that happens on the thread's own kernel thread. Another thread cancels a level by a remote
//!    message (`cancel::scope`), and kills a host by one
//!    ([`ask`](ask::ask)). Only the levels of an OS thread are cancelled directly, by a flag that its next
//!    block reads ([`super::os`]).
//! 3. Frames are left in the reverse order of entering, by the thread itself, also when it unwinds. A
//!    generator that is suspended inside a frame would break that: the process ends when it is suspended
//!    ([`guard`](super::guard)). A coroutine of another library that does so is detected only when the frame
//!    is left or the thread ends, if at all.
//!
//! # Checked by
//! `tests/cancel/hosts.rs`, `tests/cancel/race.rs`, `tests/cancel/laws.rs`, `tests/callouts/parasites.rs`;
//! finding a host: `model::reach`, `model::scope_state`; levels: `model::cancel_scope` (loom).

pub(crate) mod ask;
pub(crate) mod frame;
mod interrupt;
pub(crate) mod level;
pub(crate) mod reach;
pub(crate) mod state;

pub(crate) use ask::{ask, find_all, request_cancel, tell_all};
pub(crate) use frame::Frame;
#[cfg(not(loom))]
pub(crate) use level::is_about_to_end;
#[cfg(not(loom))]
pub(crate) use level::open;
pub(crate) use level::{is_moot, within};
