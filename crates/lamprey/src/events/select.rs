//! `select!`: a choice with an arm of code for each event.
//!
//! # How it is built
//! `select!` builds a list of the arms' events, [`Arms`], from the first arm to the last one: each arm wraps what came before.
//! The choice of a list gives nested [`Or`]s, and the macro takes them apart with nested `match`es, so each arm may have its
//! own type of result, and its code is a part of the function that the macro is used in: `return`, `break` and `?` work.
//! A list is flat for a choice: each arm has the same chance.
//!
//! # Rejected
//! * Closures for the arms: no `return`, `break` or `?`, and two arms could not borrow the same variable.
//! * A tuple and `wrap`: the results would need one type, and a tuple has at most twelve.
//! * The guard of an arm after its pattern, as in a `match` (`-> message if ready =>`): it is evaluated before the choice and
//!   cannot see the message, so it is written as in tokio's macro.

mod macros;

use super::algebra::{Choose, Event, Events, Group, choose};
use super::protocol::{Branch, ChoiceRef, Offered, Polls};
use crate::sched::parts::Told;
use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Instant;

/// No arms.
pub struct NoArms;

/// The arms before one, and that one: no event if its condition is false.
pub struct Arms<L, E> {
    /// The arms before.
    pub before: L,
    /// The event of the last arm.
    pub last: Option<E>,
}

/// Which arm has won: the last one, or one before it.
pub enum Or<T, B> {
    /// The last one.
    Last(T),
    /// One before it.
    Before(B),
}

/// One of a list of events, and its place in the list.
pub fn any<I>(events: I) -> impl Event<Output = (usize, <I::Item as IntoFuture>::Output)>
where
    I: IntoIterator<Item: Event>,
{
    let numbered = |(at, event): (usize, I::Item)| event.wrap(move |output| (at, output));
    let events: Vec<_> = events.into_iter().enumerate().map(numbered).collect();
    let choice: Choose<Vec<_>> = choose(events);
    choice
}

impl Events for NoArms {
    type Output = Infallible;
    type Group = NoArms;

    fn branches(self) -> NoArms {
        self
    }
}

impl<L: Events, E: Event> Events for Arms<L, E> {
    type Output = Or<E::Output, L::Output>;
    type Group = Arms<L::Group, E::Branch>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branches(self) -> Self::Group {
        // In the order of the program: guards run here.
        let before = self.before.branches();
        Arms { before, last: self.last.map(Event::branch) }
    }
}

impl Group for NoArms {
    type Output = Infallible;

    fn len(&self) -> usize {
        0
    }
    fn attempt(&self, _: usize, _: Option<&mut Context<'_>>) -> bool {
        false
    }
    /// # Safety
    /// As for `Steps::offer`.
    unsafe fn offer(&self, _: usize, _: &ChoiceRef<'_>) -> Offered {
        Offered::Waiting
    }
    fn withdraw(&self, _: usize) -> bool {
        false
    }
    fn decide(&self, _: usize, _: bool) {}
    fn finish(&self, _: usize, _: Option<&mut Context<'_>>) -> Poll<Infallible> {
        crate::bug::bug!("an arm has won that does not exist")
    }
    fn polls(&self, _: usize) -> Polls {
        Polls::Never
    }
    fn parts(&self, _: usize) -> usize {
        0
    }
    fn deadline(&self, _: usize) -> Option<Instant> {
        None
    }
    fn begin_rest(&self, _: usize, _: &mut Context<'_>) {}
    fn settle_rest(&self, _: usize) -> bool {
        true
    }
    fn is_all(&self, _: usize) -> bool {
        false
    }
    fn is_refused(&self, _: usize) -> bool {
        false
    }
    fn tell(&self, _: usize, _: &mut Told<'_>) {}
    fn refuse(&self, _: usize) -> bool {
        false
    }
    fn is_prompt(&self, _: usize) -> bool {
        false
    }
}

/// `$call` of the branch `at`: of the last arm, for which `$absent` is the answer if it has no event, or of one before it.
macro_rules! ask {
    ($self:ident, $at:ident, $absent:expr, $last:ident => $call:expr, $before:ident => $other:expr) => {
        if $at == $self.before.len() {
            match &$self.last {
                Some($last) => $call,
                None => $absent,
            }
        } else {
            let $before = &$self.before;
            $other
        }
    };
}

impl<L: Group, B: Branch> Group for Arms<L, B> {
    type Output = Or<B::Output, L::Output>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn len(&self) -> usize {
        self.before.len() + 1
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn attempt(&self, at: usize, context: Option<&mut Context<'_>>) -> bool {
        ask!(self, at, false, last => last.attempt(context), before => before.attempt(at, context))
    }
    /// # Safety
    /// As for `Steps::offer`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn offer(&self, at: usize, choice: &ChoiceRef<'_>) -> Offered {
        ask!(self, at, Offered::Waiting,
            // SAFETY: as promised by the caller.
            last => unsafe { last.offer(choice) },
            // SAFETY: as promised by the caller.
            before => unsafe { before.offer(at, choice) })
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn withdraw(&self, at: usize) -> bool {
        ask!(self, at, false, last => last.withdraw(), before => before.withdraw(at))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn decide(&self, at: usize, won: bool) {
        ask!(self, at, (), last => last.decide(won), before => before.decide(at, won));
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn finish(&self, at: usize, context: Option<&mut Context<'_>>) -> Poll<Self::Output> {
        ask!(self, at, crate::bug::bug!("an arm has won whose condition is false"),
            last => last.finish(context).map(Or::Last),
            before => before.finish(at, context).map(Or::Before))
    }
    fn polls(&self, at: usize) -> Polls {
        ask!(self, at, Polls::Never, last => last.polls(), before => before.polls(at))
    }
    fn parts(&self, at: usize) -> usize {
        ask!(self, at, 0, last => last.parts(), before => before.parts(at))
    }
    fn deadline(&self, at: usize) -> Option<Instant> {
        ask!(self, at, None, last => last.deadline(), before => before.deadline(at))
    }
    fn begin_rest(&self, at: usize, context: &mut Context<'_>) {
        ask!(self, at, (), last => last.begin_rest(context), before => before.begin_rest(at, context));
    }
    fn settle_rest(&self, at: usize) -> bool {
        ask!(self, at, true, last => last.settle_rest(), before => before.settle_rest(at))
    }
    fn is_all(&self, at: usize) -> bool {
        ask!(self, at, false, last => last.is_all(), before => before.is_all(at))
    }
    fn is_refused(&self, at: usize) -> bool {
        ask!(self, at, false, last => last.is_refused(), before => before.is_refused(at))
    }
    fn tell(&self, at: usize, told: &mut Told<'_>) {
        ask!(self, at, (), last => last.tell(told), before => before.tell(at, told));
    }
    fn refuse(&self, at: usize) -> bool {
        ask!(self, at, false, last => last.refuse(), before => before.refuse(at))
    }
    fn is_prompt(&self, at: usize) -> bool {
        ask!(self, at, false, last => last.is_prompt(), before => before.is_prompt(at))
    }
}
