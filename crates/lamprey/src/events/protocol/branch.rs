//! `Branch`: what an event becomes when a thread synchronises on it.
//!
//! An [`Event`](crate::event::Event) is a description and may be dropped. Synchronising turns it into a
//! `Branch` once (guards run then), and drives that through the steps below, from the root down:
//! ```text
//! attempt ──won──────────────────────────────────┐
//!    └─no branch was ready─► offer ─► (blocked) ─► withdraw ─► decide ─► finish
//! ```
//! # Invariants
//! 1. At most one leaf wins. `attempt`, `offer` and `withdraw` record the path to it: each inner branch
//!    remembers which child has won.
//! 2. From `offer` until `withdraw` the branch does not move: the wait queues point to its nodes. All methods
//!    take `&self` for that reason: no exclusive reference may cover a node that a peer writes to.
//! 3. While a choice is undecided and its offers are out, no code of the program runs on its thread: foreign
//!    futures are polled in `attempt`, which is only called with no offer out. (An `offer` that meets its
//!    peer wakes it, and a wake may run code; but by then the choice is synched, and the earlier offers are
//!    stale.)
//! 4. `decide` comes before `finish`: nacks have fired when the program's `wrap` runs. A branch that is
//!    dropped undecided has lost.
//! 5. **A winner is always notified.** A thread that is cancelled or timed out decides for its choice, or
//!    finds that a peer has, and then calls `decide(true)`, even if it cannot return the result (a future
//!    that is dropped).

use super::Choice;
use crate::sched::parts::Told;
use std::task::{Context, Poll};
use std::time::Instant;

/// The outcome of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Offered {
    /// The offer waits in its queue (or has none).
    Waiting,
    /// A peer was waiting: this branch has won.
    Won,
    /// A peer has decided for an earlier offer; its wake is pending.
    Lost,
}

/// What an attempt without a context can achieve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Polls {
    /// As much as one with a context; the branch has no future.
    Never,
    /// As much as one with a context, but waiting requires that a future is polled.
    ToWait,
    /// Nothing: the branch can only be attempted by polling its future.
    Always,
}

/// The form of an event that can wait, and its result. Not to be implemented outside of this crate: custom
/// events are made with [`future_evt`](crate::event::future_evt) or [`reify`](crate::parasite::reify).
pub trait Branch: Steps {
    /// The result of the event.
    type Output;

    /// The result of a branch that has won: `wrap`s run here. Without a context it may block, and is never
    /// pending.
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<Self::Output>;
}

/// The steps of a branch up to its win. They do not depend on the type of the result, so the code that waits
/// is compiled once for all of them, and calls these (`dyn Steps`).
pub trait Steps {
    /// Communicates at once if that is possible; true if this branch has won. A caller that is a future, or
    /// waits like one, passes its `context`: a foreign future is polled with it, and calls its waker when
    /// another attempt may succeed.
    fn attempt(&self, context: Option<&mut Context<'_>>) -> bool;

    /// Queues all offers on behalf of `choice`.
    ///
    /// # Safety
    /// The branch and the choice do not move until `withdraw` has returned; no offer is out.
    unsafe fn offer(&self, choice: &ChoiceRef) -> Offered;

    /// Withdraws all offers of a choice that is decided. True if this branch has won.
    fn withdraw(&self) -> bool;

    /// Notifies all parts whether they have been chosen.
    fn decide(&self, won: bool);

    /// Whether a part is a foreign future, and must be polled.
    fn polls(&self) -> Polls {
        Polls::Never
    }

    /// How many parts are ready or not by what other threads do. Of more than one, a failed attempt does not
    /// say that they were not ready at the same moment.
    fn parts(&self) -> usize {
        1
    }

    /// The earliest time at which a part wins by the clock.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// True if the owner must act as soon as this branch has won: it has a `wrap`, a nack, or more events of
    /// a `choose_all` to wait for.
    fn is_prompt(&self) -> bool {
        false
    }

    /// For a branch that has won: begins what it still has to wait for, the other events of a `choose_all`. No `wrap` runs here.
    fn begin_rest(&self, _: &mut Context<'_>) {}

    /// For a branch that has won, whose thread is cancelled: withdraws what it still waits for. True if all of that has happened, so
    /// that `finish` need not wait.
    fn settle_rest(&self) -> bool {
        true
    }

    /// True if it is nothing but a `choose_all`. Alone, without a limit, it cannot lose: it is decided before anything is
    /// attempted, so that its events are synchronised on separately from the first on, and may meet each other.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_all(&self) -> bool {
        false
    }

    /// For a branch that has won: true if it has won only because the other side has disconnected. It has
    /// then had no visible effect.
    fn is_refused(&self) -> bool {
        false
    }

    /// Tells what the parts wait for, to who looks at a thread that waits. No code of the program runs here, and nothing is changed.
    fn tell(&self, _: &mut Told<'_>) {}

    /// For a caller that must not block: makes a part that can fail win as if its peer had disconnected.
    /// False if there is none.
    fn refuse(&self) -> bool {
        false
    }
}

/// An opaque reference to a [`Choice`].
#[derive(Clone, Copy)]
pub struct ChoiceRef<'a>(pub(crate) &'a Choice);
