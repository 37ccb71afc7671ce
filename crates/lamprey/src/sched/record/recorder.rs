//! [`Recorder`]: what a worker keeps to decide whether it notes what it does, and which names it has noted.
//!
//! # What it costs
//! A note costs about as much as a message between two hosts, most of it for the time. So notes are paid with tokens: one comes in every
//! [`EVERY`], and [`SAVED`] of them are kept. A worker that does less than that is recorded completely; one that switches every few
//! nanoseconds notes some steps in a row, then nothing until it has saved [`AGAIN`] tokens, and says so by a note.
//! While there are no tokens a switch, a wake and a spawn cost nothing more than in a runtime without a recorder: they
//! look at the word that says whether the policy is the default one
//! ([`PolicySlot`](crate::sched::policy::PolicySlot)), which they have to do anyway.

use super::note::Actor;
use crate::time::clock;
use std::cell::Cell;
use std::time::Duration;

/// How often a token comes in.
const EVERY: Duration = Duration::from_micros(2);
/// Most tokens that are kept.
const SAVED: u32 = 2048;
/// A worker that had none left notes nothing before it has so many: what it notes then is long enough to be understood, and the
/// processor has to get used to it less often.
const AGAIN: u32 = 256;
/// Names that are remembered to have been noted.
const NAMES: usize = 64;

/// A worker's part of its recorder.
pub(in crate::sched) struct Recorder {
    tokens: Cell<u32>,
    /// [`EVERY`] in ticks; 0 if nothing is ever noted.
    every: u64,
    /// When the last tokens came in, in ticks.
    refilled: Cell<u64>,
    /// Threads whose names have been noted, each with the number of that note; by number.
    named: Box<[Cell<(Actor, u64)>]>,
    /// A name lasts for this many notes: after that it is noted again.
    lasts: u64,
}

impl Recorder {
    /// Of a worker whose ring keeps so many notes.
    pub(in crate::sched) fn new(notes: usize, now: u64) -> Self {
        let is_on = notes != 0;
        let every = if is_on { clock::in_ticks(EVERY).max(1) } else { 0 };
        Self {
            tokens: Cell::new(0),
            every,
            refilled: Cell::new(now.wrapping_sub(every * u64::from(SAVED))),
            named: if is_on { vec![Cell::new((Actor::NONE, 0)); NAMES].into() } else { Box::default() },
            lasts: notes as u64 / 2,
        }
    }

    /// Takes the tokens in that have come since the last time; true if the worker, which does or does not note what it does, is to do so
    /// from now on.
    pub(super) fn refill(&self, now: u64, is_noting: bool) -> bool {
        if self.every == 0 {
            return false;
        }
        let new = now.wrapping_sub(self.refilled.get()) / self.every;
        if new != 0 {
            self.refilled.set(now);
            let tokens = u64::from(self.tokens.get()).saturating_add(new);
            self.tokens.set(tokens.min(SAVED.into()) as u32);
        }
        self.tokens.get() >= if is_noting { 1 } else { AGAIN }
    }

    /// Pays for a note; true if that took the last token.
    pub(super) fn spend(&self) -> bool {
        let tokens = self.tokens.get();
        self.tokens.set(tokens.saturating_sub(1));
        tokens == 1
    }

    /// True if the name of this thread has to be noted, as the note with this number.
    pub(super) fn is_nameless(&self, actor: Actor, at: u64) -> bool {
        let Some(place) = self.named.get(actor.number() as usize % NAMES) else { return false };
        let (known, noted) = place.get();
        let is_new = known != actor || at - noted > self.lasts;
        if is_new {
            place.set((actor, at));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_with_time_up_to_a_most() {
        let recorder = Recorder::new(16, 0);
        let every = recorder.every;
        assert!(recorder.refill(0, false), "it begins with all tokens");
        assert_eq!(recorder.tokens.get(), SAVED);
        assert!(!(1..SAVED).any(|_| recorder.spend()) && recorder.spend());
        assert!(!recorder.spend(), "what is noted without a token takes none");
        recorder.refill(every - 1, false);
        assert_eq!(recorder.tokens.get(), 0, "a part of a token is none");
        recorder.refill(every, false);
        assert_eq!(recorder.tokens.get(), 1, "and is not lost");
        recorder.refill(every * 1_000_000, false);
        assert_eq!(recorder.tokens.get(), SAVED);
    }

    #[test]
    fn who_has_stopped_begins_again_with_some_tokens() {
        let recorder = Recorder::new(16, 0);
        let after = |tokens: u32| recorder.every * u64::from(tokens);
        recorder.refill(0, false);
        (0..SAVED).for_each(|_| _ = recorder.spend());
        assert!(!recorder.refill(after(AGAIN - 1), false));
        assert!(recorder.refill(after(AGAIN - 1), true), "who notes goes on to the last one");
        assert!(recorder.refill(after(AGAIN), false));
    }

    #[test]
    fn one_that_is_off_never_has_a_token() {
        assert!(!Recorder::new(0, 0).refill(u64::MAX / 2, true));
    }
}
