//! Asynchronous events: begun at the call, finished where their value is consumed.

use crate::found::{finds, holds};
use lamprey::event::{AsyncEvent, Event};
use lamprey::{channel, spawn};
use std::time::Duration;

#[test]
fn sends_of_a_thread_arrive_in_the_order_of_its_calls() {
    holds(|| {
        let (tx, rx) = channel();
        let sender = spawn(move || {
            let mut pending = Vec::new();
            for number in 0..6 {
                if number % 3 == 2 {
                    tx.send(number).unwrap();
                } else {
                    pending.push(tx.a_send_evt(number).a_sync().1);
                }
            }
            pending.into_iter().for_each(|sent| sent.sync().unwrap().unwrap());
        });
        assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        sender.join().unwrap();
    });
}

#[test]
fn both_parts_run_once() {
    holds(|| {
        let (tx, rx) = channel();
        let (steps, seen) = lamprey::bounded(10);
        let (made, got) = (steps.clone(), steps);
        let event = rx
            .a_recv_evt()
            .s_wrap(move |begun| {
                made.send("begun").unwrap();
                begun
            })
            .a_wrap(move |value: Result<u32, _>| {
                got.send("received").unwrap();
                value.unwrap()
            });
        let sender = spawn(move || tx.send(7).unwrap());
        let (_, pending) = event.a_sync();
        assert_eq!(pending.sync().unwrap(), 7);
        sender.join().unwrap();
        // In either order: the call may have been met before it returns.
        let mut seen: Vec<_> = seen.iter().collect();
        seen.sort_unstable();
        assert_eq!(seen, ["begun", "received"]);
    });
}

#[test]
fn a_cancelled_one_has_either_happened_or_not() {
    holds(|| {
        let (tx, rx) = channel();
        let sender = spawn(move || {
            let (_, pending) = tx.a_send_evt(1).a_sync();
            lamprey::yield_now();
            pending.cancel_and_join().is_ok_and(|sent| sent.is_ok())
        });
        let got = rx.recv_timeout(Duration::from_micros(3)).is_ok();
        drop(rx);
        assert!(got || !sender.join().unwrap(), "it says that it was sent, and nothing has arrived");
    });
}

#[test]
fn who_takes_the_call_for_the_end_is_found() {
    finds("it has not been received yet", || {
        let (tx, rx) = channel();
        let (done, is_done) = channel();
        let receiver = spawn(move || {
            rx.recv().unwrap();
            let _ = done.try_send(());
        });
        let (_, _pending) = tx.a_send_evt(1).a_sync();
        assert!(receiver.is_finished() || is_done.try_recv().is_ok(), "it has not been received yet");
    });
}
