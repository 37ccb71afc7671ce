//! A swap in a destructor that runs because its host panics: it does not wait, and neither thread is left
//! with two values, or none.

use crate::common::{FOREVER, within};
use lamprey::{SwapChannel, run, spawn, yield_now};
use std::sync::mpsc;

/// Swaps when it is dropped, and tells what it got.
struct SwapsWhenDropped(SwapChannel<u32>, mpsc::Sender<u32>);

impl Drop for SwapsWhenDropped {
    fn drop(&mut self) {
        let _ = self.1.send(self.0.swap(1));
    }
}

/// What a host that panics gets for its 1.
fn unwinding(place: SwapChannel<u32>) -> u32 {
    let (tx, rx) = mpsc::channel();
    let swaps = SwapsWhenDropped(place, tx);
    let host = spawn(move || {
        let _swaps = swaps;
        panic!("a panic of the test")
    });
    let outcome: Result<(), _> = host.join();
    assert!(outcome.is_err());
    rx.recv().unwrap()
}

#[test]
fn alone_it_gets_its_own_value_back() {
    within(FOREVER, || run(|| assert_eq!(unwinding(SwapChannel::new()), 1)));
}

#[test]
fn with_a_partner_that_waits_no_value_is_doubled_or_lost() {
    within(FOREVER, || {
        run(|| {
            let place = SwapChannel::new();
            for _ in 0..50 {
                let partner = spawn({
                    let place = place.clone();
                    move || place.swap(2)
                });
                yield_now();
                let got = unwinding(place.clone());
                // Whoever has not met the other waits for one more.
                let theirs = if got == 2 { 1 } else { (place.swap(3) == 2).then_some(3).unwrap() };
                assert_eq!(partner.join().unwrap(), theirs);
            }
        });
    });
}

#[test]
fn with_a_partner_on_another_kernel_thread_too() {
    within(FOREVER, || {
        for _ in 0..200 {
            let place = SwapChannel::new();
            let other = place.clone();
            let partner = std::thread::spawn(move || other.swap(2));
            let got = run({
                let place = place.clone();
                move || unwinding(place)
            });
            let theirs = if got == 2 { 1 } else { (place.swap(3) == 2).then_some(3).unwrap() };
            assert_eq!(partner.join().unwrap(), theirs);
        }
    });
}
