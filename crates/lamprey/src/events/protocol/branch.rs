//! What an event becomes when a thread synchronises on it: the part of the tree that waits.
//!
//! An [`Event`](crate::event::Event) is a description and may be thrown away. Synchronising turns it into a
//! `Branch` once (guards run then), and drives that through the steps below, from the root down:
//! ```text
//! attempt ──won──────────────────────────────────┐
//!    └─nobody was ready─► offer ─► (blocked) ─► withdraw ─► decide ─► finish
//! ```
//! # Invariants
//! 1. At most one leaf wins. `attempt`, `offer` and `withdraw` tell the way to it: each inner branch
//!    remembers which child.
//! 2. From `offer` until `withdraw` the branch stays where it is: the queues know its nodes. Everything takes
//!    `&self` for that reason: no exclusive reference may cover a node that a peer is writing to.
//! 3. While a choice is open and its offers are out, no code of the program runs on its thread: foreign
//!    futures are polled in `attempt`, which is only called with no offer out. (An `offer` that meets its
//!    peer wakes it, and a wake may run code; but by then the choice is synched, and the earlier offers are
//!    stale.)
//! 4. `decide` comes before `finish`: nacks have fired when the program's `wrap` runs. A branch that is
//!    dropped undecided has lost.
//! 5. **What has won is told so**, however the synchronisation ends: whoever is cancelled or out of time
//!    decides for its choice, or finds that a peer has, and says `decide(true)` then, even if it can give the
//!    result to nobody (a future that is dropped).

use super::Choice;
use std::task::{Context, Poll};
use std::time::Instant;

/// How far an offer got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Offered {
    /// It waits in its queue (or has none).
    Waiting,
    /// Its peer was there: this branch has won.
    Won,
    /// Somebody has decided for an earlier offer; a wake is under way.
    Lost,
}

/// What an attempt without a context is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Polls {
    /// As much as one with a context; there is no future.
    Never,
    /// As much, but to wait a future must be polled.
    ToWait,
    /// Nothing: a future can only be looked at by polling it.
    Always,
}

/// See the module's text. Not to be implemented outside of this crate: an event of one's own is made of
/// [`future_evt`](crate::event::future_evt) or [`reify`](crate::parasite::reify).
pub trait Branch {
    /// What the event gives.
    type Output;

    /// Takes part at once if that is possible; true if this branch has won. `context` is there if the caller
    /// is a future, or waits like one: a foreign future is polled with it, and calls its waker when it is
    /// worth another attempt.
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool;

    /// Queues all offers, in the name of `choice`.
    ///
    /// # Safety
    /// The branch and the choice stay where they are until `withdraw` has returned; no offer is out.
    unsafe fn offer(&self, choice: &ChoiceRef) -> Offered;

    /// Takes all offers back, of a choice that is decided. True if this branch has won.
    fn withdraw(&self) -> bool;

    /// Tells all parts whether they have been chosen.
    fn decide(&self, won: bool);

    /// The result, of a branch that has won: `wrap`s run here. Without a context it may block, and is ready
    /// at once.
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<Self::Output>;

    /// Whether some part is a foreign future, and must be polled.
    fn polls(&self) -> Polls {
        Polls::Never
    }

    /// When the next part wins by the clock.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// True if something waits for its win to be heard of: a `wrap`, a nack, what else a `choose_all` has to
    /// wait for.
    fn is_prompt(&self) -> bool {
        false
    }

    /// Of a branch that has won: only because the other side has gone. Nothing has happened then that anybody
    /// could have seen.
    fn is_refused(&self) -> bool {
        false
    }

    /// The caller must not block: some part that can fails as if its peer had gone, and wins with that.
    fn refuse(&self) -> bool {
        false
    }
}

/// A [`Choice`], as those see it who cannot look inside.
#[derive(Clone, Copy)]
pub struct ChoiceRef<'a>(pub(crate) &'a Choice);
