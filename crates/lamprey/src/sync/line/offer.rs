//! An acquisition as an event: an offer of a choice, or the wait of a future.
//!
//! # States (`LineOfferState`)
//! ```text
//! New --offer--> Offered --withdraw--> New (lost) or Has (won)
//!  └──attempt, offer--> Has --finish--> Done          New --refuse--> Refused --finish--> Done
//! ```
//! # Invariants
//! 1. The node is queued in Offered only, and the branch does not move in that state (contract of
//!    [`Steps::offer`]).
//! 2. In Has the state of the line counts this branch as a holder. Dropping the branch in Has releases its
//!    grant.

use super::{Line, LockKind, want_of};
use crate::channel::{At, WaitNode};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Steps};
use crate::sched::parts::Told;
use crate::sync_shim::left_out;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

/// The acquisition that an event makes, and its result.
pub trait Claim {
    /// The lock's rules.
    type Kind: LockKind;
    /// The result type of the event.
    type Output;
    fn line(&self) -> &Line<Self::Kind>;
    fn want(&self) -> u32;
    /// What it waits for, for who looks at the thread.
    fn tell(&self, told: &mut Told<'_>);
    /// Creates the result: `got` is the last value of `want`, or `None` if the caller must not wait.
    /// `is_future`: the result is for a future that may move to another thread, not for the calling thread.
    /// Called once.
    fn output(&self, got: Option<u32>, is_future: bool) -> Self::Output;
}

/// The branch of the event of any lock.
pub struct LineOffer<C: Claim> {
    claim: C,
    state: Cell<LineOfferState>,
    node: WaitNode<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineOfferState {
    New,
    Offered,
    Has(u32),
    Refused,
    Done,
}

// SAFETY: other kernel threads access the node only through the line's protocol.
unsafe impl<C: Claim + Send> Send for LineOffer<C> {}

impl<C: Claim> LineOffer<C> {
    pub(crate) fn new(claim: C) -> Self {
        let node = WaitNode::new(None, MaybeUninit::new(claim.want()));
        Self { claim, state: Cell::new(LineOfferState::New), node }
    }

    /// # Safety
    /// The node is ours, and has been granted.
    unsafe fn has(&self) -> LineOfferState {
        // SAFETY: as promised by the caller.
        LineOfferState::Has(unsafe { want_of(&self.node) })
    }
}

impl<C: Claim> Steps for LineOffer<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, _: Option<&mut Context<'_>>) -> bool {
        let got = self.claim.line().try_acquire(self.claim.want());
        if let Some(want) = got {
            self.state.set(LineOfferState::Has(want));
        }
        got.is_some()
    }

    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        let wait_node = &self.node;
        wait_node.set_offer(choice.0);
        // SAFETY: the node is not queued, so its slot is ours.
        wait_node.slot.with_mut(|want| unsafe { (*want).write(self.claim.want()) });
        self.state.set(LineOfferState::Offered);
        let line = self.claim.line();
        // SAFETY: unlinked; does not move until it is withdrawn (contract).
        let offered = line.edit(|edit| unsafe { edit.offer(self.node.queued(), choice.0, line.order) });
        match offered {
            Offered::Waiting => {}
            // SAFETY: the node was not queued, and has been granted.
            Offered::Won => self.state.set(unsafe { self.has() }),
            Offered::Lost => self.state.set(LineOfferState::New),
        }
        offered
    }

    fn withdraw(&self) -> bool {
        match self.state.get() {
            LineOfferState::New => return false,
            LineOfferState::Has(_) | LineOfferState::Refused => return true,
            LineOfferState::Offered => {}
            LineOfferState::Done => crate::bug::bug!("an offer was withdrawn after its end"),
        }
        // SAFETY: queued by the owner of this branch.
        let has_left = unsafe { self.claim.line().leave(self.node.queued()) };
        let state = if !has_left && self.node.settled() == At::Met {
            // SAFETY: taken out and ended, with a grant.
            unsafe { self.has() }
        } else {
            LineOfferState::New
        };
        self.state.set(state);
        state != LineOfferState::New
    }

    fn decide(&self, _: bool) {}

    fn tell(&self, told: &mut Told<'_>) {
        self.claim.tell(told);
    }

    fn refuse(&self) -> bool {
        self.state.set(LineOfferState::Refused);
        true
    }
}

impl<C: Claim> Branch for LineOffer<C> {
    type Output = C::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<C::Output> {
        let got = match self.state.replace(LineOfferState::Done) {
            LineOfferState::Has(want) => Some(want),
            LineOfferState::Refused => None,
            _ => crate::bug::bug!("an offer that did not win gave a result"),
        };
        Poll::Ready(self.claim.output(got, context.is_some()))
    }
}

impl<C: Claim> Drop for LineOffer<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if let LineOfferState::Has(want) = self.state.get()
            && !left_out!(LineKeep)
        {
            self.claim.line().release(want);
        }
    }
}
