//! `choose` and `prefer`: one of several events.

use super::group::{Events, Group};
use super::order::{GIVEN, Order};
use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls, Steps};
use crate::sched::parts::Told;
use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::Instant;

/// The one of `events` that happens first; the others do not happen, and have no effect. Takes a tuple, an
/// array, or a `Vec`; an empty one is [`never`](fn@super::never).
///
/// **Fair**: of the events that are ready when the synchronisation begins, each is taken with the same
/// probability. If none is ready, the one that becomes ready first is taken; of several that wait for the
/// same channel or lock, each has the same chance. A choice inside a choice counts as one event. (Of more
/// than 16 events, any two that are ready have the same chance, and each at least a chance of one in their
/// number.)
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
/// A sender that was woken and has not run since is not ready. In a loop over channels without room, whose senders are always
/// busy, the last sender to be served may be the only one that is back: buffers give priorities something to choose from.
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
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct Choose<G> {
    events: G,
    ordered: bool,
}

awaitable!({G: Events} Choose<G>, G::Output);

impl<G: Events> Event for Choose<G> {
    type Branch = Branches<G::Group>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branch(self) -> Self::Branch {
        Branches {
            group: self.events.branches(),
            ordered: self.ordered,
            winner: Cell::new(0),
            order: Cell::new(GIVEN),
        }
    }
}

/// The branch of a [`Choose`].
pub struct Branches<G> {
    group: G,
    ordered: bool,
    /// The branch that has won, once one has.
    winner: Cell<usize>,
    /// The order of the last attempt, if that has found nothing.
    order: Cell<u64>,
}

impl<G: Group> Steps for Branches<G> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, mut context: Option<&mut Context<'_>>) -> bool {
        let len = self.group.len();
        let mut order = if self.ordered { Order::given(len) } else { Order::random(len) };
        // A loop instead of `find`, which would not be inlined.
        for at in order.by_ref() {
            if self.group.attempt(at, context.as_deref_mut()) {
                self.winner.set(at);
                return true;
            }
        }
        self.order.set(order.shuffled(len));
        false
    }

    /// In that order, too: of two offers in one queue, the first one is taken.
    ///
    /// # Safety
    /// As for [`Steps::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, choice: &ChoiceRef<'_>) -> Offered {
        for at in Order::again(self.group.len(), self.order.get(), !self.ordered) {
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
        for at in 0..self.group.len() {
            self.group.decide(at, won && at == self.winner.get());
        }
    }

    fn begin_rest(&self, context: &mut Context<'_>) {
        self.group.begin_rest(self.winner.get(), context);
    }

    fn settle_rest(&self) -> bool {
        self.group.settle_rest(self.winner.get())
    }

    // Loops, here and in the other functions of each type of choice: the compiler has several times as much
    // work with iterators that take closures.
    fn polls(&self) -> Polls {
        let mut polls = Polls::Never;
        for at in 0..self.group.len() {
            polls = polls.max(self.group.polls(at));
        }
        polls
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(&self) -> usize {
        let mut parts = 0;
        for at in 0..self.group.len() {
            parts += self.group.parts(at);
        }
        parts
    }

    fn deadline(&self) -> Option<Instant> {
        let mut earliest = None;
        for at in 0..self.group.len() {
            earliest = earlier(earliest, self.group.deadline(at));
        }
        earliest
    }

    fn is_refused(&self) -> bool {
        self.group.is_refused(self.winner.get())
    }

    fn tell(&self, told: &mut Told<'_>) {
        for at in 0..self.group.len() {
            self.group.tell(at, told);
        }
    }

    fn refuse(&self) -> bool {
        for at in 0..self.group.len() {
            if self.group.refuse(at) {
                self.winner.set(at);
                return true;
            }
        }
        false
    }

    fn is_prompt(&self) -> bool {
        for at in 0..self.group.len() {
            if self.group.is_prompt(at) {
                return true;
            }
        }
        false
    }
}

/// The earlier one of two deadlines, `None` being never.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl<G: Group> Branch for Branches<G> {
    type Output = G::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, context: Option<&mut Context<'_>>) -> Poll<G::Output> {
        self.group.finish(self.winner.get(), context)
    }
}
