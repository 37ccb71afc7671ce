//! Ending early: a whole thread (it is **doomed**), or a part of what it does (a **level** is tripped),
//! unless that is shielded.
//!
//! # States
//! A thread has a chain of frames on its stack, the innermost first: shields, and levels, which are OPEN or
//! TRIPPED. Its blocking calls are to end (`Thread::is_cancelled`) if, seen from inside, a tripped level
//! comes before every shield; or if it is doomed and there is no shield at all.
//!
//! A **stackless parasite** that is polled on the thread's stack has a cancellation of its own: seen from
//! within its poll, the chain ends where the poll began, and the thread is not doomed, whatever it is
//! otherwise. Only the end of the runtime dooms what is polled. (The cancellation of the parasite itself
//! drops its future once the poll is over.)
//!
//! Being cancelled is a state, not a message: every blocking call inside ends, until the level that was
//! tripped has been left. So code that swallows the unwind comes no further than its next blocking call.
//!
//! # Invariants
//! 1. `is_cancelled` is worked out anew ([`weigh`](state::weigh)) whenever a frame comes or goes, a level is
//!    tripped, the thread doomed, or a poll begins or ends on its stack.
//! 2. All of that happens on the thread's own kernel thread. From elsewhere a level is tripped by an errand
//!    ([`crate::thread`]'s `wire`), a host doomed by one ([`ask`](ask::ask)). An OS thread's levels alone are
//!    tripped from elsewhere, by a flag that its next block looks at ([`super::os`]).
//! 3. A frame is left in the reverse order of entering, by the thread itself, also when it unwinds. A
//!    generator that is suspended within one would break that: it ends the process where it is suspended
//!    ([`guard`](super::guard)). Coroutines of other libraries are found when the frame is left, or the
//!    thread ends, if at all.
//!
//! # Checked by
//! `tests/cancel/hosts.rs`, `tests/cancel/race.rs`, `tests/cancel/laws.rs`, `tests/callouts/parasites.rs`;
//! the way to a host: `model::reach`, `model::kin`; levels: `model::wire` (loom).

pub(crate) mod ask;
pub(crate) mod frame;
mod interrupt;
pub(crate) mod level;
pub(crate) mod reach;
pub(crate) mod state;

pub(crate) use ask::{ask, call_off, find_all, tell_all};
pub(crate) use frame::Frame;
#[cfg(not(loom))]
pub(crate) use level::is_about_to_end;
#[cfg(not(loom))]
pub(crate) use level::open;
pub(crate) use level::{is_moot, within};
