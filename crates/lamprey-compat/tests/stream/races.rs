//! Streams and sinks that are dropped and made anew while the other side is busy on another worker.

use crate::common::run;
use futures::{FutureExt, SinkExt, StreamExt};
use lamprey::{spawn, wait};
use lamprey_compat::stream::{IntoSink, IntoStream};
use std::time::Duration;

const VALUES: u32 = 4_000;

/// Receives by streams that are given up after a moment, whose values must all come, in order.
fn all_come<S: Send + 'static, R>((tx, mut rx): (S, R), send: impl Fn(&S, u32) + Send + 'static)
where
    for<'a> &'a mut R: Stolen<'a>,
{
    let sender = spawn(move || {
        for n in 0..VALUES {
            send(&tx, n);
            if n % 7 == 0 {
                lamprey::yield_now();
            }
        }
    });
    let mut expected = 0;
    while expected < VALUES {
        let mut stream = (&mut rx).stream();
        wait(async {
            loop {
                futures::select_biased! {
                    value = stream.next() => {
                        assert_eq!(value, Some(expected));
                        expected += 1;
                        if expected % 5 == 0 || expected == VALUES {
                            return;
                        }
                    }
                    () = moment(expected).fuse() => return,
                }
            }
        });
    }
    sender.join().unwrap();
}

/// None, a turn of the worker, or a moment of the clock.
async fn moment(n: u32) {
    match n % 3 {
        0 => {}
        1 => lamprey::yield_now_async().await,
        _ => lamprey::sleep_async(Duration::from_micros(20)).await,
    }
}

/// A stream that borrows, of a receiver that is shared or exclusive.
trait Stolen<'a> {
    fn stream(self) -> lamprey_compat::stream::ReceiverStream<'a, u32>;
}

macro_rules! stolen {
    ($($receiver:ty, |$rx:ident| $borrowed:expr;)*) => {$(
        impl<'a> Stolen<'a> for &'a mut $receiver {
            fn stream(self) -> lamprey_compat::stream::ReceiverStream<'a, u32> {
                let $rx = self;
                $borrowed.into_stream()
            }
        }
    )*};
}

stolen! {
    lamprey::Receiver<u32>, |rx| &*rx;
    lamprey::bounded::Receiver<u32>, |rx| &*rx;
    lamprey::unbounded::Receiver<u32>, |rx| &*rx;
    lamprey::mailbox::Receiver<u32>, |rx| rx;
    lamprey::multicast::Receiver<u32>, |rx| rx;
}

#[test]
fn a_rendezvous_loses_nothing() {
    run(2, || all_come(lamprey::channel(), |tx, n| tx.send(n).unwrap()));
}

#[test]
fn a_bounded_channel_loses_nothing() {
    run(2, || all_come(lamprey::bounded(2), |tx, n| tx.send(n).unwrap()));
}

#[test]
fn an_unbounded_channel_loses_nothing() {
    run(2, || all_come(lamprey::unbounded(), |tx, n| tx.send(n).unwrap()));
}

#[test]
fn a_mailbox_loses_nothing() {
    run(2, || all_come(lamprey::mailbox(), |tx, n| tx.send(n).unwrap()));
}

#[test]
fn a_multicast_loses_nothing() {
    run(2, || all_come(lamprey::multicast(), |tx, n| tx.send(n).unwrap()));
}

#[test]
fn a_flush_that_is_given_up_neither_loses_nor_repeats_its_value() {
    run(2, || {
        for capacity in [0, 1, 3] {
            let (tx, rx) = lamprey::channel_of(capacity);
            let receiver = spawn(move || {
                let mut got = Vec::new();
                while let Ok(n) = rx.recv() {
                    got.push(n);
                    if n % 11 == 0 {
                        lamprey::sleep(Duration::from_micros(10));
                    }
                }
                got
            });
            let mut sink = tx.into_sink();
            for n in 0..VALUES {
                // `feed` accepts it; the flush is given up at once, after a turn, or after a moment.
                wait(sink.feed(n)).unwrap();
                wait(async {
                    futures::select_biased! {
                        sent = sink.flush().fuse() => sent.unwrap(),
                        () = moment(n).fuse() => {}
                    }
                });
            }
            wait(sink.close()).unwrap();
            assert!(receiver.join().unwrap().into_iter().eq(0..VALUES));
        }
    });
}
