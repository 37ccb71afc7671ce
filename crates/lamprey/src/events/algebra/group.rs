//! The arguments of a choice: tuples, arrays and `Vec`s of events with one type of result.

use super::Event;
use crate::events::protocol::{Branch, ChoiceRef, Offered, Polls};
use crate::sched::parts::Told;
use std::task::{Context, Poll};
use std::time::Instant;

/// Several events: a tuple of up to twelve, an array, or a `Vec`. (Use [`Event::boxed`] for different types
/// in one `Vec`.)
///
/// # Errors of the compiler
/// A choice takes one argument:
/// ```compile_fail,E0277
/// # use lamprey::event::{Event, choose};
/// # let (_tx, rx) = lamprey::channel::<u8>();
/// choose(rx.recv_evt()).sync();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple, array or `Vec` of events",
    label = "not several events",
    note = "a tuple holds up to twelve events, also of different types: `choose((a.recv_evt(), b.recv_evt()))`",
    note = "all have one type of result: `event.wrap(|result| ..)` makes it from another one",
    note = "of an iterator: `events.collect::<Vec<_>>()`; events of different types in one `Vec`: `event.boxed()`"
)]
pub trait Events {
    /// The result of each event.
    type Output;
    #[doc(hidden)]
    type Group: Group<Output = Self::Output>;
    #[doc(hidden)]
    fn branches(self) -> Self::Group;
}

/// Several branches by index: each function is that of [`Branch`] for the branch `at`, which is below `len`.
#[doc(hidden)]
pub trait Group {
    type Output;
    fn len(&self) -> usize;
    fn attempt(&self, at: usize, context: Option<&mut Context<'_>>) -> bool;
    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, at: usize, choice: &ChoiceRef<'_>) -> Offered;
    fn withdraw(&self, at: usize) -> bool;
    fn decide(&self, at: usize, won: bool);
    fn finish(&self, at: usize, context: Option<&mut Context<'_>>) -> Poll<Self::Output>;
    fn polls(&self, at: usize) -> Polls;
    fn parts(&self, at: usize) -> usize;
    fn deadline(&self, at: usize) -> Option<Instant>;
    fn begin_rest(&self, at: usize, context: &mut Context<'_>);
    fn settle_rest(&self, at: usize) -> bool;
    fn is_all(&self, at: usize) -> bool;
    fn is_refused(&self, at: usize) -> bool;
    fn tell(&self, at: usize, told: &mut Told<'_>);
    fn refuse(&self, at: usize) -> bool;
    fn is_prompt(&self, at: usize) -> bool;
}

impl<E: Event> Events for Vec<E> {
    type Output = E::Output;
    type Group = Vec<E::Branch>;

    fn branches(self) -> Vec<E::Branch> {
        self.into_iter().map(Event::branch).collect()
    }
}

impl<E: Event, const N: usize> Events for [E; N] {
    type Output = E::Output;
    type Group = [E::Branch; N];

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn branches(self) -> [E::Branch; N] {
        self.map(Event::branch)
    }
}

/// [`Group`] for types with an index.
macro_rules! indexed {
    ([$($generics:tt)*] $group:ty) => {
        impl<$($generics)*> Group for $group {
            type Output = B::Output;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn len(&self) -> usize {
                self.as_slice().len()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn attempt(&self, at: usize, context: Option<&mut Context<'_>>) -> bool {
                self[at].attempt(context)
            }
            /// # Safety
            /// As for [`Steps::offer`].
            #[cfg_attr(not(debug_assertions), inline(always))]
            unsafe fn offer(&self, at: usize, choice: &ChoiceRef<'_>) -> Offered {
                // SAFETY: as promised by the caller.
                unsafe { self[at].offer(choice) }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn withdraw(&self, at: usize) -> bool {
                self[at].withdraw()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn decide(&self, at: usize, won: bool) {
                self[at].decide(won);
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn finish(&self, at: usize, context: Option<&mut Context<'_>>) -> Poll<B::Output> {
                self[at].finish(context)
            }
            fn polls(&self, at: usize) -> Polls {
                self[at].polls()
            }
            fn parts(&self, at: usize) -> usize {
                self[at].parts()
            }
            fn deadline(&self, at: usize) -> Option<Instant> {
                self[at].deadline()
            }
            fn begin_rest(&self, at: usize, context: &mut Context<'_>) {
                self[at].begin_rest(context);
            }
            fn settle_rest(&self, at: usize) -> bool {
                self[at].settle_rest()
            }
            fn is_all(&self, at: usize) -> bool {
                self[at].is_all()
            }
            fn is_refused(&self, at: usize) -> bool {
                self[at].is_refused()
            }
            fn tell(&self, at: usize, told: &mut Told<'_>) {
                self[at].tell(told);
            }
            fn refuse(&self, at: usize) -> bool {
                self[at].refuse()
            }
            fn is_prompt(&self, at: usize) -> bool {
                self[at].is_prompt()
            }
        }
    };
}

indexed!([B: Branch] Vec<B>);
indexed!([B: Branch, const N: usize] [B; N]);

/// [`Events`] and [`Group`] for a tuple.
macro_rules! tuple {
    ($($name:ident $at:tt),+) => {
        impl<T, $($name: Event + std::future::IntoFuture<Output = T>),+> Events for ($($name,)+) {
            type Output = T;
            type Group = ($($name::Branch,)+);

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn branches(self) -> Self::Group {
                ($(self.$at.branch(),)+)
            }
        }

        impl<T, $($name: Branch<Output = T>),+> Group for ($($name,)+) {
            type Output = T;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn len(&self) -> usize {
                [$($at),+].len()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn attempt(&self, at: usize, context: Option<&mut Context<'_>>) -> bool {
                match at { $($at => self.$at.attempt(context),)+ _ => beyond() }
            }
            /// # Safety
            /// As for [`Steps::offer`].
            #[cfg_attr(not(debug_assertions), inline(always))]
            unsafe fn offer(&self, at: usize, choice: &ChoiceRef<'_>) -> Offered {
                // SAFETY: as promised by the caller.
                match at { $($at => unsafe { self.$at.offer(choice) },)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn withdraw(&self, at: usize) -> bool {
                match at { $($at => self.$at.withdraw(),)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn decide(&self, at: usize, won: bool) {
                match at { $($at => self.$at.decide(won),)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn finish(&self, at: usize, context: Option<&mut Context<'_>>) -> Poll<T> {
                match at { $($at => self.$at.finish(context),)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn polls(&self, at: usize) -> Polls {
                match at { $($at => self.$at.polls(),)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn parts(&self, at: usize) -> usize {
                match at { $($at => self.$at.parts(),)+ _ => beyond() }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn deadline(&self, at: usize) -> Option<Instant> {
                match at { $($at => self.$at.deadline(),)+ _ => beyond() }
            }
            fn begin_rest(&self, at: usize, context: &mut Context<'_>) {
                match at { $($at => self.$at.begin_rest(context),)+ _ => beyond() }
            }
            fn settle_rest(&self, at: usize) -> bool {
                match at { $($at => self.$at.settle_rest(),)+ _ => beyond() }
            }
            fn is_all(&self, at: usize) -> bool {
                match at { $($at => self.$at.is_all(),)+ _ => beyond() }
            }
            fn is_refused(&self, at: usize) -> bool {
                match at { $($at => self.$at.is_refused(),)+ _ => beyond() }
            }
            fn tell(&self, at: usize, told: &mut Told<'_>) {
                match at { $($at => self.$at.tell(told),)+ _ => beyond() }
            }
            fn refuse(&self, at: usize) -> bool {
                match at { $($at => self.$at.refuse(),)+ _ => beyond() }
            }
            fn is_prompt(&self, at: usize) -> bool {
                match at { $($at => self.$at.is_prompt(),)+ _ => beyond() }
            }
        }
    };
}

#[cold]
fn beyond() -> ! {
    crate::bug::bug!("a group was asked for a branch that it does not have")
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
