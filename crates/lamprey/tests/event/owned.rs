//! Events that own their end: functions return them, and what loses takes its end with it and nothing else.

use crate::common::{FOREVER, blocked, run};
use lamprey::event::{AsyncEvent, BoxedEvent, Event, always, choose, never, prefer, timeout};
use lamprey::net::UnixStream;
use lamprey::sync::{Barrier, WaitGroup};
use lamprey::{
    IVar, MVar, RateLimiter, RecvError, SendError, SwapChannel, bounded, broadcast, channel_of, interval,
    mailbox, multicast, oneshot, parasite, process, rpc, spawn, unbounded, wait, watch, yield_now,
};
use std::future::IntoFuture;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// More than a worker's parasites do before the hosts have their turn.
const MANY: usize = 3000;

/// The results of an event that is made anew each time: alone, in a choice, and awaited, all by other threads.
fn thrice<T: Send + 'static>(make: impl Fn() -> BoxedEvent<'static, T>) -> [T; 3] {
    let events = [make(), choose((make(), never())).boxed(), make()];
    let [alone, chosen, awaited] = events;
    let (alone, chosen) = (spawn(move || alone.sync()), spawn(move || chosen.sync()));
    [alone.join().unwrap(), chosen.join().unwrap(), wait(awaited.into_future())]
}

#[test]
fn functions_return_the_events_of_all_kinds() {
    run(1, || {
        let (tx, rx) = bounded(3);
        assert_eq!(thrice(|| tx.clone().into_send_evt(1).boxed()), [Ok(()); 3]);
        assert_eq!(thrice(|| rx.clone().into_recv_evt().boxed()), [Ok(1); 3]);
        let (tx, rx) = unbounded();
        assert_eq!(thrice(|| tx.clone().into_send_evt(1).boxed()), [Ok(()); 3]);
        assert_eq!(thrice(|| rx.clone().into_recv_evt().boxed()), [Ok(1); 3]);
        let (tx, rx) = channel_of(3);
        assert_eq!(thrice(|| tx.clone().into_send_evt(1)), [Ok(()); 3]);
        assert_eq!(thrice(|| rx.clone().into_recv_evt()), [Ok(1); 3]);
        let (tx, rx) = channel_of(0);
        let receiver = spawn(move || rx.iter().sum::<u32>());
        assert_eq!(thrice(|| tx.clone().into_send_evt(1)), [Ok(()); 3]);
        drop(tx);
        assert_eq!(receiver.join().unwrap(), 3);

        let (tx, rx) = broadcast(3);
        assert_eq!(thrice(|| tx.clone().into_send_evt(1).boxed()), [Ok(1); 3]);
        assert_eq!(thrice(|| rx.clone().into_recv_evt().wrap(|(got, _)| got).boxed()), [Ok(1); 3]);
        let (tx, rx) = multicast();
        assert_eq!(thrice(|| tx.clone().into_send_evt(1).boxed()), [Ok(()); 3]);
        assert_eq!(thrice(|| rx.clone().into_recv_evt().wrap(|(got, _)| got).boxed()), [Ok(1); 3]);
        let (tx, rx) = watch(0);
        tx.send(1).unwrap();
        assert_eq!(
            thrice(|| rx.clone().into_changed_evt().wrap(|(got, rx)| got.map(|()| rx.get())).boxed()),
            [Ok(1); 3]
        );

        let var = MVar::new(5);
        assert_eq!(thrice(|| var.clone().into_read_evt().boxed()), [Ok(5); 3]);
        assert_eq!(thrice(|| var.clone().into_swap_evt(5).boxed()), [Ok(5); 3]);
        assert_eq!(var.clone().into_take_evt().sync(), Ok(5));
        assert_eq!(var.clone().into_put_evt(6).sync(), Ok(()));
        let var = IVar::new();
        var.put(5).unwrap();
        assert_eq!(thrice(|| var.clone().into_get_evt().boxed()), [5; 3]);

        let place = SwapChannel::new();
        let partner = place.clone();
        let partner = spawn(move || (0..3).map(|n| partner.swap(n)).sum::<u32>());
        assert_eq!(thrice(|| place.clone().into_swap_evt(5).boxed()).into_iter().sum::<u32>(), 3);
        assert_eq!(partner.join().unwrap(), 15);

        let (client, server) = rpc();
        let serving = spawn(move || {
            for _ in 0..3 {
                let (request, reply) = server.clone().into_recv_evt().sync().unwrap();
                reply.send(request * 2).unwrap();
            }
        });
        assert_eq!(thrice(|| client.clone().into_call_evt(4).boxed()), [Ok(8); 3]);
        serving.join().unwrap();
    });
}

#[test]
fn a_receiver_of_its_own_comes_back() {
    run(1, || {
        let (tx, mut rx) = mailbox();
        (0..3).for_each(|n| tx.clone().into_send_evt(n).sync().unwrap());
        for n in 0..3 {
            let (got, back) = choose((rx.into_recv_evt(), never())).sync();
            assert_eq!(got, Ok(n));
            rx = back;
        }
        let waits = blocked(move || rx.into_recv_evt().sync());
        drop(tx);
        let (got, mut rx) = waits.join().unwrap();
        assert_eq!((got, rx.recv()), (Err(RecvError), Err(RecvError)));
    });
}

#[test]
fn what_loses_takes_its_end_with_it() {
    run(1, || {
        let ((tx, rx), (other, of_other)) = (bounded(1), mailbox::<u32>());
        let lost = prefer((always(None), rx.clone().into_recv_evt().wrap(Some)));
        assert_eq!(lost.sync(), None);
        assert!(!tx.is_closed(), "another receiver is there");
        tx.send(1).unwrap();
        assert_eq!(prefer((always(None), rx.into_recv_evt().wrap(Some))).sync(), None);
        assert_eq!(tx.send(2), Err(SendError(2)));
        let late = timeout(Duration::from_millis(1)).wrap(|()| None);
        assert!(choose((of_other.into_recv_evt().wrap(Some), late)).sync().is_none());
        assert_eq!(other.send(1), Err(SendError(1)));
        let ((tx, rx), (lost, of_lost)) = (oneshot(), oneshot());
        prefer((tx.into_send_evt(1), lost.into_send_evt(2))).sync().unwrap();
        assert_eq!(rx.into_recv_evt().sync(), Ok(1));
        assert_eq!(of_lost.into_recv_evt().sync(), Err(RecvError));
    });
}

#[test]
fn threads_clocks_and_locks() {
    run(1, || {
        assert_eq!(choose((spawn(|| 1).into_join_evt(), never())).sync().unwrap(), 1);
        assert_eq!(choose((parasite(async { 2 }).into_join_evt(), never())).sync().unwrap(), 2);
        lamprey::scope(|scope| {
            assert_eq!(scope.spawn(|| 3).into_join_evt().sync().unwrap(), 3);
        });
        let (_, ticks) = interval(Duration::from_millis(1)).into_tick_evt().sync();
        ticks.into_tick_evt().sync();
        Arc::new(RateLimiter::new(1, FOREVER)).acquire_owned_evt(1).sync();

        let (barrier, group) = (Arc::new(Barrier::new(2)), WaitGroup::new());
        let (passes, member) = (barrier.wait_owned_evt(), group.member());
        let host = blocked(move || (passes.sync().is_leader(), member).0);
        let waits = group.into_wait_evt();
        assert!(barrier.wait().is_leader());
        assert!(!host.join().unwrap());
        waits.sync();
    });
}

#[test]
fn sockets_and_children() {
    run(1, || {
        let (here, mut there) = UnixStream::pair().unwrap();
        let here = Arc::new(here);
        let late = timeout(Duration::from_millis(1)).wrap(|()| None);
        assert!(choose((here.readable_owned_evt().wrap(Some), late)).sync().is_none());
        here.writable_owned_evt().sync().unwrap();
        let readable = here.readable_owned_evt();
        let host = blocked(move || readable.sync());
        there.write_all(b"x").unwrap();
        host.join().unwrap().unwrap();

        let child = process::Command::new("true").spawn().unwrap();
        let (status, mut child) = child.into_wait_evt().sync();
        assert!(status.unwrap().success() && child.try_wait().unwrap().unwrap().success());
    });
}

/// The caller's share of the worker is used up, and other threads are ready: what it begins is begun in its order all the same.
#[test]
fn asynchronous_sends_and_receives_keep_the_order_of_the_calls() {
    run(1, || {
        for capacity in [Some(0), Some(10_000), Some(1), None] {
            let (tx, rx) = channel_of(capacity);
            let over = Arc::new(AtomicBool::new(false));
            let theirs = over.clone();
            let other = spawn(move || {
                while !theirs.load(Relaxed) {
                    yield_now(); // ready all the time
                }
            });
            yield_now();
            for n in 0..MANY {
                if n % 7 == 6 && capacity != Some(0) && capacity != Some(1) {
                    tx.send(n).unwrap();
                } else {
                    tx.a_send_evt(n).a_sync();
                }
                assert!(
                    tx.len() == tx.capacity().unwrap_or(usize::MAX).min(n + 1),
                    "it has been sent by now"
                );
            }
            assert!(rx.iter().take(MANY).eq(0..MANY), "{capacity:?}");
            let pending: Vec<_> = (0..MANY).map(|_| rx.a_recv_evt().a_sync().1).collect();
            (0..MANY).for_each(|n| tx.send(n).unwrap());
            let mut received: Vec<_> =
                pending.into_iter().map(|pending| pending.sync().unwrap().unwrap()).collect();
            if capacity != Some(0) {
                received.sort(); // of several that are woken at once, any may be the first to take a value
            }
            assert!(received.into_iter().eq(0..MANY), "{capacity:?}");
            over.store(true, Relaxed);
            other.join().unwrap();
        }
    });
}

#[test]
fn an_asynchronous_send_can_be_taken_back_while_it_waits() {
    run(1, || {
        let (tx, rx) = bounded(1);
        let [first, second, third] = [1, 2, 3].map(|n| tx.a_send_evt(n).a_sync().1);
        assert!(first.is_finished() && !second.is_finished());
        second.cancel_and_join().unwrap_err();
        drop((tx, third)); // the send goes on, and keeps the channel open
        assert!(rx.iter().eq([1, 3]));
    });
}
