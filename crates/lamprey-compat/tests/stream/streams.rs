//! Receivers of channels as streams.

use crate::common::{run, yield_until};
use futures::stream::FusedStream;
use futures::{Stream, StreamExt};
use lamprey::{broadcast, parasite, wait};
use lamprey_compat::stream::{IntoStream, ReceiverStream};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// One poll, whose task is not woken for it.
fn poll_once<T>(stream: &mut ReceiverStream<'_, T>) -> Poll<Option<T>> {
    wait(poll_fn(|cx| Poll::Ready(Pin::new(&mut *stream).poll_next(cx))))
}

#[test]
fn each_kind_gives_all_its_values_and_then_the_end() {
    /// All that comes while `send` sends to 9.
    fn all<S: Send + 'static>(
        (tx, rx): (S, impl IntoStream<Item = u32> + 'static),
        send: impl Fn(&S, u32) + Send + 'static,
    ) {
        let mut stream = rx.into_stream();
        let sender = lamprey::spawn(move || (1..=9).for_each(|n| send(&tx, n)));
        assert_eq!(wait(stream.by_ref().collect::<Vec<_>>()), Vec::from_iter(1..=9));
        assert!(stream.is_terminated());
        assert_eq!(wait(stream.next()), None);
        sender.join().unwrap();
    }
    run(2, || {
        all(lamprey::channel(), |tx, n| tx.send(n).unwrap());
        all(lamprey::bounded(2), |tx, n| tx.send(n).unwrap());
        all(lamprey::unbounded(), |tx, n| tx.send(n).unwrap());
        all(lamprey::mailbox(), |tx, n| tx.send(n).unwrap());
        all(lamprey::multicast(), |tx, n| tx.send(n).unwrap());
        for capacity in [Some(0), Some(1), None] {
            all(lamprey::channel_of(capacity), |tx, n| tx.send(n).unwrap());
        }
        all(lamprey::actor::inbox(), |address, n| address.tell(n).unwrap());
    });
}

#[test]
fn a_stream_that_is_dropped_while_it_waits_has_taken_nothing() {
    /// `&mut R` gives a stream that borrows.
    fn attack<S, R>((tx, mut rx): (S, R), send: impl Fn(&S, u32), recv: impl Fn(&mut R) -> u32)
    where
        for<'a> &'a mut R: IntoStream<Item = u32>,
    {
        for n in 0..100 {
            let mut stream = (&mut rx).into_stream();
            assert!(poll_once(&mut stream).is_pending());
            // Sometimes the value has come when it is dropped, sometimes it comes later.
            if n % 2 == 0 {
                send(&tx, n);
                drop(stream);
            } else {
                drop(stream);
                send(&tx, n);
            }
            assert_eq!(recv(&mut rx), n);
        }
    }
    run(2, || {
        attack(lamprey::mailbox(), |tx, n| tx.send(n).unwrap(), |rx| rx.recv().unwrap());
        attack(lamprey::multicast(), |tx, n| tx.send(n).unwrap(), |rx| rx.recv().unwrap());
        let (tx, rx) = lamprey::bounded(2);
        for n in 0..100 {
            let mut stream = (&rx).into_stream();
            assert!(poll_once(&mut stream).is_pending());
            tx.send(n).unwrap();
            drop(stream);
            assert_eq!(rx.recv(), Ok(n));
        }
        // A rendezvous: the sender has met the stream, which is dropped before it looks.
        let (tx, rx) = lamprey::channel();
        for n in 0..100 {
            let mut stream = (&rx).into_stream();
            assert!(poll_once(&mut stream).is_pending());
            tx.send(n).unwrap();
            drop(stream);
            assert_eq!(rx.recv(), Ok(n));
        }
    });
}

#[test]
fn a_stream_of_an_owned_receiver_leaves_the_rest_to_its_clones() {
    run(1, || {
        let (tx, rx) = lamprey::bounded(10);
        let clone = rx.clone();
        (0..6).for_each(|n| tx.send(n).unwrap());
        assert_eq!(wait(rx.into_stream().take(3).collect::<Vec<_>>()), [0, 1, 2]);
        drop(tx);
        assert!(clone.iter().eq(3..6));
    });
}

#[test]
fn a_stream_that_is_dropped_is_a_receiver_that_is_gone() {
    run(1, || {
        let (tx, rx) = lamprey::channel();
        let mut stream = rx.into_stream();
        assert!(poll_once(&mut stream).is_pending());
        let sender = lamprey::spawn(move || (tx.send(1), tx.send(2)));
        assert_eq!(wait(stream.next()), Some(1));
        drop(stream);
        assert_eq!(sender.join().unwrap(), (Ok(()), Err(lamprey::SendError(2))));
    });
}

#[test]
fn a_receiver_that_lags_says_how_much_it_missed() {
    run(1, || {
        let (tx, rx) = lamprey::broadcast(2);
        (1..=5).for_each(|n| _ = tx.send(n).unwrap());
        drop(tx);
        let got = wait(rx.into_stream().collect::<Vec<_>>());
        assert_eq!(got, [Err(broadcast::RecvError::Lagged(3)), Ok(4), Ok(5)]);
    });
}

#[test]
fn a_watch_gives_the_value_after_each_change_and_the_last_one_for_certain() {
    run(2, || {
        let (tx, rx) = lamprey::watch(0);
        let seen = parasite(rx.into_stream().collect::<Vec<_>>());
        for n in 1..=100 {
            tx.send(n).unwrap();
        }
        drop(tx);
        let seen = seen.join().unwrap();
        assert_eq!(seen.last(), Some(&100));
        assert!(seen.is_sorted() && !seen.contains(&0), "{seen:?}");
    });
}

#[test]
fn a_servers_requests_are_answered_from_a_stream() {
    run(2, || {
        let (client, server) = lamprey::rpc::<u32, u32>();
        let answers = parasite(server.into_stream().for_each_concurrent(4, |(n, reply)| async move {
            lamprey::yield_now_async().await;
            reply.send(n + 1).unwrap();
        }));
        let hosts: Vec<_> = (0..20)
            .map(|n| {
                let client = client.clone();
                lamprey::spawn(move || client.call(n).unwrap())
            })
            .collect();
        assert!(hosts.into_iter().map(|host| host.join().unwrap()).eq(1..21));
        drop(client);
        answers.join().unwrap();
    });
}

#[test]
fn streams_of_many_receivers_share_out_every_value_once() {
    run(2, || {
        let (tx, rx) = lamprey::bounded(3);
        let shares: Vec<_> =
            (0..4).map(|_| parasite(rx.clone().into_stream().collect::<Vec<u32>>())).collect();
        drop(rx);
        (0..10_000).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        let mut all: Vec<_> = shares.into_iter().flat_map(|share| share.join().unwrap()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..10_000));
    });
}

#[test]
fn a_stream_is_polled_by_another_executor() {
    let (tx, rx) = lamprey::unbounded();
    let consumer =
        std::thread::spawn(move || wait(rx.into_stream().fold(0, |sum, n| async move { sum + n })));
    run(1, move || (0..1000_u64).for_each(|n| tx.send(n).unwrap()));
    assert_eq!(consumer.join().unwrap(), 499_500);
}

#[test]
fn a_waiting_stream_is_woken_by_the_end() {
    run(1, || {
        let (tx, rx) = lamprey::bounded::<u32>(1);
        let waiting = parasite(rx.into_stream().collect::<Vec<_>>());
        yield_until("it waits", || !waiting.is_finished());
        drop(tx);
        assert_eq!(waiting.join().unwrap(), Vec::<u32>::new());
    });
}
