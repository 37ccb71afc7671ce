//! Swap channels: of two that meet each has the other's value, whichever way they wait, and no value is lost or doubled, whoever
//! times out or leaves.
//!
//! Threads block as OS threads, and a deadline may pass at any moment.

use super::{Broken, check, check_bounded, must_fail};
use crate::channel::SwapChannel;
use crate::events::{Event, choose};
use crate::sched::worker::with_strange_context;
use crate::sync_shim::thread;
use std::future::IntoFuture;
use std::time::Duration;

/// A deadline that passes as soon as it is checked; the checker varies when that is.
const SOON: Duration = Duration::ZERO;

type Place = SwapChannel<Box<u32>>;

/// The value that it has in the end.
fn within_limit(place: &Place, value: u32) -> u32 {
    *place.swap_timeout(Box::new(value), SOON).unwrap_or_else(|ours| ours)
}

/// A choice of two swaps on one channel.
fn twice(place: &Place, value: u32) -> impl Event<Output = Box<u32>> + '_ {
    choose([place.swap_evt(Box::new(value)), place.swap_evt(Box::new(value))])
}

/// Both wait for as long as it takes.
fn two_meet(ours: fn(&Place) -> Box<u32>, theirs: fn(&Place) -> Box<u32>) {
    let place = Place::new();
    let other = place.clone();
    let partner = thread::spawn(move || *theirs(&other));
    assert_eq!((*ours(&place), partner.join().unwrap()), (2, 1));
}

fn two_time_out() {
    let place = Place::new();
    let other = place.clone();
    let partner = thread::spawn(move || within_limit(&other, 2));
    let both = (within_limit(&place, 1), partner.join().unwrap());
    assert!(matches!(both, (1, 2) | (2, 1)), "{both:?}");
}

fn three_time_out() {
    let place = Place::new();
    let others = [2, 3].map(|value| {
        let place = place.clone();
        thread::spawn(move || within_limit(&place, value))
    });
    let a = within_limit(&place, 1);
    let [b, c] = others.map(|other| other.join().unwrap());
    let all = [a, b, c];
    assert!((1..=3).all(|value| all.contains(&value)), "{all:?}");
}

/// One chooses between two swaps, and its time may be over; the other has met it or not.
fn a_choice_times_out() {
    let place = Place::new();
    let other = place.clone();
    let partner = thread::spawn(move || within_limit(&other, 2));
    let both = (twice(&place, 1).sync_timeout(SOON).map(|value| *value), partner.join().unwrap());
    assert!(matches!(both, (None, 2) | (Some(2), 1)), "{both:?}");
}

/// A choice between two channels, on each of which a partner comes: at most one of them has its value.
fn a_choice_between_two() {
    let places = [Place::new(), Place::new()];
    let partners = [0, 1].map(|at| {
        let place = places[at].clone();
        thread::spawn(move || within_limit(&place, 2))
    });
    let got =
        choose([0, 1].map(|at| places[at].swap_evt(Box::new(1)))).sync_timeout(SOON).map(|value| *value);
    let met = partners.map(|partner| partner.join().unwrap()).iter().filter(|theirs| **theirs == 1).count();
    assert_eq!((got, met), if met == 0 { (None, 0) } else { (Some(2), 1) });
}

/// Two futures that are polled once each: one of them finds the other. They are dropped with what they have.
fn two_futures() {
    let place = Place::new();
    let future = |value| Box::pin(place.clone().into_swap_evt(Box::new(value)).into_future());
    let (mut ours, mut theirs) = (future(1), future(2));
    let partner = thread::spawn(move || {
        let has_met = with_strange_context(|cx| theirs.as_mut().poll(cx)).is_ready();
        (theirs, has_met)
    });
    let has_met = with_strange_context(|cx| ours.as_mut().poll(cx)).is_ready();
    let (theirs, they_have_met) = partner.join().unwrap();
    assert!(has_met || they_have_met, "neither has met the other");
    drop((ours, theirs));
}

/// A future that is dropped while a partner comes, which swaps with it or keeps its own.
fn a_future_leaves() {
    let place = Place::new();
    let mut leaves = Box::pin(place.clone().into_swap_evt(Box::new(1)).into_future());
    assert!(with_strange_context(|cx| leaves.as_mut().poll(cx)).is_pending());
    let leaver = thread::spawn(move || drop(leaves));
    let got = within_limit(&place, 2);
    leaver.join().unwrap();
    assert!(matches!(got, 1 | 2), "{got}");
}

#[test]
fn two_swappers_meet() {
    check(|| two_meet(|place| place.swap(Box::new(1)), |place| place.swap(Box::new(2))));
}

#[test]
fn a_choice_meets_a_swapper() {
    check_bounded(4, || two_meet(|place| twice(place, 1).sync(), |place| place.swap(Box::new(2))));
}

#[test]
fn two_choices_meet() {
    check_bounded(4, || two_meet(|place| twice(place, 1).sync(), |place| twice(place, 2).sync()));
}

#[test]
fn two_swappers_time_out_or_meet() {
    check(two_time_out);
}

#[test]
fn of_three_swappers_at_most_two_meet() {
    check_bounded(2, three_time_out);
}

#[test]
fn a_choice_times_out_while_a_partner_comes() {
    check_bounded(4, a_choice_times_out);
}

#[test]
fn a_choice_between_two_channels_swaps_once() {
    check_bounded(2, a_choice_between_two);
}

#[test]
fn a_choice_that_swaps_twice_is_caught() {
    must_fail(Broken::PeerSynch, a_choice_between_two);
}

#[test]
fn two_futures_meet() {
    check_bounded(4, two_futures);
}

#[test]
fn swaps_that_take_others_for_their_own_are_caught() {
    must_fail(Broken::OwnYoungest, two_futures);
}

#[test]
fn a_future_leaves_while_a_partner_comes() {
    check_bounded(4, a_future_leaves);
}
