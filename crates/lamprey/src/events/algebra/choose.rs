//! `choose` and `prefer`: one of several events.

use super::group::{Events, Group};
use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls};
use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::Instant;

/// The one of `events` that happens first; the others do not happen, and have no effect. Takes a tuple, an
/// array, or a `Vec`; an empty one is [`never`](fn@super::never).
///
/// **Fair**: of the events that are ready when the synchronisation begins, one is taken at random. (Of two
/// that are ready, both have the same chance; of more, each has at least a chance of one in the number of
/// branches. A choice inside a choice counts as one branch.)
///
/// # Cancellation
/// The commit point is the moment when one branch is chosen, by this thread or by a peer: see
/// [`Event::sync`].
///
/// # Examples
/// ```
/// use lamprey::event::{Event, choose};
///
/// lamprey::run(|| {
///     let ((numbers, got_number), (words, got_word)) = (lamprey::channel::<u32>(), lamprey::channel::<String>());
///     lamprey::spawn(move || numbers.send(5).unwrap());
///     let either = choose((
///         got_number.recv_evt().wrap(|n| n.unwrap().to_string()),
///         got_word.recv_evt().wrap(|word| word.unwrap()),
///     ));
///     assert_eq!(either.sync(), "5");
///     # drop(words);
/// });
/// ```
#[doc(alias = "select")]
#[doc(alias = "race")]
pub fn choose<G: Events>(events: G) -> Choose<G> {
    Choose { events, ordered: false }
}

/// [`choose`] with priorities: of the events that are ready when the synchronisation begins, the first one is
/// taken.
///
/// # Examples
/// ```
/// # use lamprey::event::{Event, always, prefer};
/// assert_eq!(prefer([always(1), always(2)]).sync(), 1);
/// ```
#[doc(alias = "select_biased")]
#[doc(alias = "biased")]
pub fn prefer<G: Events>(events: G) -> Choose<G> {
    Choose { events, ordered: true }
}

/// The event that [`choose`] and [`prefer`] return.
#[derive(Debug, Clone)]
pub struct Choose<G> {
    events: G,
    ordered: bool,
}

awaitable!({G: Events} Choose<G>, G::Output);

impl<G: Events> Event for Choose<G> {
    type Branch = Branches<G::Group>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self::Branch {
        Branches { group: self.events.branches(), ordered: self.ordered, winner: Cell::new(0) }
    }
}

/// The branch of a [`Choose`].
pub struct Branches<G> {
    group: G,
    ordered: bool,
    /// The branch that has won, once one has.
    winner: Cell<usize>,
}

impl<G: Group> Branches<G> {
    /// Attempts the branches in this order; true if one was ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn first_ready(&self, order: impl Iterator<Item = usize>, mut context: Option<&mut Context<'_>>) -> bool {
        // A loop instead of `find`, which would not be inlined.
        for at in order {
            if self.group.attempt(at, context.as_deref_mut()) {
                self.winner.set(at);
                return true;
            }
        }
        false
    }
}

impl<G: Group> Branch for Branches<G> {
    type Output = G::Output;

    /// Attempts all branches once, from a random one on and in a random direction: of any two, each comes
    /// first equally often.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, mut context: Option<&mut Context<'_>>) -> bool {
        let len = self.group.len();
        if self.ordered {
            return self.first_ready(0..len, context);
        }
        let random = random();
        let start = ((u64::from(random) * len as u64) >> 32) as usize;
        if random & 1 == 0 {
            self.first_ready(start..len, context.as_deref_mut()) || self.first_ready(0..start, context)
        } else {
            self.first_ready((0..start).rev(), context.as_deref_mut())
                || self.first_ready((start..len).rev(), context)
        }
    }

    /// # Safety
    /// As for [`Branch::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        for at in 0..self.group.len() {
            // SAFETY: as promised by the caller.
            match unsafe { self.group.offer(at, choice) } {
                Offered::Waiting => {}
                Offered::Won => {
                    self.winner.set(at);
                    return Offered::Won;
                }
                Offered::Lost => return Offered::Lost,
            }
        }
        Offered::Waiting
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self) -> bool {
        let mut won = false;
        for at in 0..self.group.len() {
            if self.group.withdraw(at) {
                self.winner.set(at);
                won = true;
            }
        }
        won
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&self, won: bool) {
        (0..self.group.len()).for_each(|at| self.group.decide(at, won && at == self.winner.get()));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<G::Output> {
        self.group.finish(self.winner.get(), context)
    }

    fn polls(&self) -> Polls {
        (0..self.group.len()).map(|at| self.group.polls(at)).max().unwrap_or(Polls::Never)
    }

    fn deadline(&self) -> Option<Instant> {
        (0..self.group.len()).filter_map(|at| self.group.deadline(at)).min()
    }

    fn is_refused(&self) -> bool {
        self.group.is_refused(self.winner.get())
    }

    fn refuse(&self) -> bool {
        let refusing = (0..self.group.len()).find(|&at| self.group.refuse(at));
        refusing.inspect(|&at| self.winner.set(at)).is_some()
    }

    fn is_prompt(&self) -> bool {
        (0..self.group.len()).any(|at| self.group.is_prompt(at))
    }
}

/// A random number: xorshift, with a state for each kernel thread.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
fn random() -> u32 {
    thread_local! {
        static STATE: Cell<u32> = const { Cell::new(0) };
    }
    STATE.with(|state| {
        let mut x = state.get();
        if x == 0 {
            // A different seed for each kernel thread.
            x = (std::ptr::from_ref(state).addr() as u32).wrapping_mul(0x9E37_79B9) | 1;
        }
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        state.set(x);
        x
    })
}

/// A constant, because the checker needs deterministic executions.
#[cfg(loom)]
fn random() -> u32 {
    0
}
