//! Code of the program that panics in the middle of a synchronisation: what is polled again after that does
//! nothing twice.

use lamprey::event::{Event, Synced, always, choose, choose_all, future_evt, prefer};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// One poll; `Err` if it panicked.
fn poll<E: Event>(evt: &mut Pin<Box<Synced<E>>>) -> Result<Poll<E::Output>, ()> {
    let mut context = Context::from_waker(Waker::noop());
    catch_unwind(AssertUnwindSafe(|| evt.as_mut().poll(&mut context))).map_err(drop)
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("a destructor of the test");
    }
}

#[test]
fn a_value_is_not_sent_twice_after_a_loser_has_panicked() {
    let (tx, rx) = lamprey::channel::<String>();
    let receivers = [rx.clone(), rx].map(|rx| std::thread::spawn(move || rx.recv()));
    let loser = PanicsWhenDropped;
    let loser = future_evt(async move {
        let _loser = loser;
        pending().await
    });
    let mut evt = {
        let send = tx.clone().into_send_evt("sent once".to_string());
        Box::pin(prefer((loser, choose_all([send]))).into_future())
    };
    // Both wait, whichever comes first: the event is offered until one does.
    let panicked = std::iter::repeat_with(|| poll(&mut evt)).find(|poll| !matches!(poll, Ok(Poll::Pending)));
    assert!(panicked.is_some_and(|poll| poll.is_err()), "the loser has not been dropped");
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(2)); // the other receiver waits, too
        assert!(poll(&mut evt).is_err(), "an event went on after a panic");
    }
    drop(evt);
    drop(tx);
    let mut received = receivers.map(|receiver| receiver.join().unwrap().ok());
    received.sort();
    assert_eq!(received, [None, Some("sent once".to_string())]);
}

#[test]
fn what_has_panicked_panics_when_it_is_polled_again() {
    let mut wrap = Box::pin(always(1).wrap(|_| -> u8 { panic!("a wrap of the test") }).into_future());
    let mut future = Box::pin(choose([future_evt(async { panic!("a future of the test") })]).into_future());
    for _ in 0..2 {
        assert!(poll(&mut wrap).is_err());
        assert!(poll(&mut future).is_err());
    }
}
