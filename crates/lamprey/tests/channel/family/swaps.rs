//! Swap channels.

use super::*;
use lamprey::SwapChannel;
use lamprey::event::{Event, choose, timeout};

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
