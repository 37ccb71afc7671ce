//! Swap channels.

use super::*;
use lamprey::event::{Event, choose, choose_all, timeout};
use lamprey::{SwapChannel, sleep};
use std::future::IntoFuture;
use std::task::{Context, Waker};

#[test]
fn two_who_meet_have_each_others_value() {
    run(1, || {
        let place = SwapChannel::new();
        assert_eq!(place.swap_timeout(1, SOON), Err(1));
        let other = place.clone();
        let host = blocked(move || other.swap(2));
        assert_eq!(place.swap_timeout(3, LATE), Ok(2));
        assert_eq!(host.join().unwrap(), 3);
        let other = place.clone();
        let parasite = lamprey::parasite(async move { other.swap_async(4).await });
        assert_eq!(wait(place.swap_async(5)), 4);
        assert_eq!(parasite.join().unwrap(), 5);
    });
}

#[test]
fn a_swap_that_loses_a_choice_has_not_happened() {
    run(1, || {
        let place = SwapChannel::new();
        let lost = choose((place.swap_evt(1).wrap(Some), timeout(SOON).wrap(|()| None))).sync();
        assert_eq!(lost, None);
        let other = place.clone();
        let host = blocked(move || other.swap(2));
        let won = choose((place.swap_evt(3).wrap(Some), timeout(LATE).wrap(|()| None))).sync();
        assert_eq!((won, host.join().unwrap()), (Some(2), 3));
    });
}

#[test]
fn swaps_of_many_lose_nothing() {
    run(2, || {
        let place = SwapChannel::new();
        let hosts: Vec<_> = (0..8_u64)
            .map(|n| {
                let place = place.clone();
                spawn(move || {
                    let mut mine = n;
                    for i in 0..300 {
                        mine = match (i + n) % 3 {
                            0 => match place.swap_timeout(mine, Duration::from_micros(100)) {
                                Ok(value) | Err(value) => value,
                            },
                            _ => match place.swap_timeout(mine, SOON) {
                                Ok(value) | Err(value) => value,
                            },
                        };
                    }
                    mine
                })
            })
            .collect();
        let mut all: Vec<_> = hosts.into_iter().map(|host| host.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
    });
}

/// Polls it once, so that it offers to swap; lets `other` meet it, and drops it.
fn met_and_dropped(
    place: &SwapChannel<u32>,
    future: impl Future<Output = u32>,
    other: fn(&SwapChannel<u32>) -> u32,
) -> JoinHandle<u32> {
    let mut future = Box::pin(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let place = place.clone();
    let host = spawn(move || other(&place));
    sleep(SOON * 2);
    host
}

/// So often, because chance decides which of two that meet has the other's value first.
const TIMES: u32 = 10;

/// Each of two swaps in one `choose_all` may be the other's partner.
#[test]
fn two_swaps_of_one_thread_meet_each_other() {
    run(1, || {
        let place = SwapChannel::new();
        assert_eq!(choose_all([place.swap_evt(1), place.swap_evt(2)]).sync(), [2, 1]);
        assert_eq!(wait(choose_all([place.swap_evt(1), place.swap_evt(2)]).into_future()), [2, 1]);
    });
}

/// In async code its partner is met in a poll, which must not wait.
#[test]
fn a_choice_in_async_code_ends_by_its_limit_though_its_partner_withdraws() {
    run(2, || {
        let place = SwapChannel::new();
        for _ in 0..TIMES {
            let (mine, theirs) = (place.clone(), place.clone());
            let parasite = lamprey::parasite(async move {
                choose((mine.swap_evt(1).wrap(Some), timeout(SOON).wrap(|()| None))).await
            });
            let partner = spawn(move || theirs.swap(2));
            partner.cancel();
            let both = (parasite.join().unwrap(), partner.join().ok());
            assert!(matches!(both, (Some(2), Some(1)) | (None, None)), "{both:?}");
        }
    });
}

/// It has swapped, or its partner has met nobody.
#[test]
fn a_future_that_is_dropped_leaves_its_partner_to_its_limit() {
    fn limited(place: &SwapChannel<u32>) -> u32 {
        place.swap_timeout(2, SOON).unwrap_or(0)
    }
    fn chosen(place: &SwapChannel<u32>) -> u32 {
        choose((place.swap_evt(2), timeout(SOON).wrap(|()| 0))).sync()
    }
    for workers in [1, 2] {
        run(workers, || {
            let place = SwapChannel::new();
            for _ in 0..TIMES {
                let host = met_and_dropped(&place, place.swap_async(1), limited);
                assert!(host.join().unwrap() <= 1);
                let host = met_and_dropped(&place, place.swap_evt(1).into_future(), limited);
                assert!(host.join().unwrap() <= 1);
                // The choice has been made by the time the future is dropped: then somebody else comes.
                let host = met_and_dropped(&place, place.swap_async(1), chosen);
                let other = place.swap_timeout(3, SOON);
                assert!(matches!((host.join().unwrap(), other), (0 | 1, Err(3)) | (3, Ok(2))));
            }
        });
    }
}

#[test]
fn a_future_that_is_dropped_leaves_its_partner_to_others() {
    for workers in [1, 2] {
        run(workers, || {
            let place = SwapChannel::new();
            for other in [
                |place: &SwapChannel<u32>| place.swap(2),
                |place: &SwapChannel<u32>| wait(place.swap_async(2)),
            ] {
                for _ in 0..TIMES {
                    let host = met_and_dropped(&place, place.swap_async(1), other);
                    // It may have swapped with the future, and be about to end.
                    let met = loop {
                        match place.swap_timeout(3, SOON) {
                            Ok(value) => break Some(value),
                            Err(_) if host.is_finished() => break None,
                            Err(_) => {}
                        }
                    };
                    assert!(matches!((met, host.join().unwrap()), (Some(2), 3) | (None, 1)));
                }
            }
        });
    }
}
