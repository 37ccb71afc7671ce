//! A call has three forms: it blocks, it gives a future, or it gives an event. All three have one result, and
//! the types of the futures and events have names.

use crate::common::run;
use lamprey::event::{AsyncEvent, Event, FutureEvt, SpawnFn, TriedEvt, spawn_evt};
use lamprey::{
    IVar, MVar, RecvEvt, SendEvt, SwapChannel, bounded, broadcast, channel, ivar, mailbox, multicast, mvar,
    oneshot, rpc, spawn, wait, watch,
};
use std::fmt::Debug;

/// The array makes the three forms have one type.
#[track_caller]
fn all_give<T: PartialEq + Debug>(expected: T, forms: [T; 3]) {
    assert!(forms.iter().all(|form| *form == expected), "{forms:?}");
}

#[test]
fn the_forms_of_a_send_and_a_receive_have_one_result() {
    run(1, || {
        let (tx, rx) = channel();
        let receiver = spawn(move || [rx.recv(), wait(rx.recv_async()), rx.recv_evt().sync()]);
        all_give(Ok(()), [tx.send(1), wait(tx.send_async(1)), tx.send_evt(1).sync()]);
        all_give(Ok(1), receiver.join().unwrap());

        let (tx, rx) = bounded(3);
        all_give(Ok(()), [tx.send(1), wait(tx.send_async(1)), tx.send_evt(1).sync()]);
        all_give(Ok(1), [rx.recv(), wait(rx.recv_async()), rx.recv_evt().sync()]);

        let (tx, mut rx) = mailbox();
        (0..3).for_each(|_| tx.send(1).unwrap());
        all_give(Ok(1), [rx.recv(), wait(rx.recv_async()), rx.recv_evt().sync()]);

        let (tx, mut rx) = broadcast(3);
        (0..3).for_each(|_| assert_eq!(tx.send(1), Ok(1)));
        all_give(Ok(1), [rx.recv(), wait(rx.recv_async()), rx.recv_evt().sync()]);

        let (tx, mut rx) = multicast();
        (0..3).for_each(|_| tx.send(1).unwrap());
        all_give(Ok(1), [rx.recv(), wait(rx.recv_async()), rx.recv_evt().sync()]);

        let (tx, mut rx) = watch(0);
        let changed = || tx.send(1).unwrap();
        all_give(
            Ok(()),
            [
                (changed(), rx.changed()).1,
                (changed(), wait(rx.changed_async())).1,
                (changed(), rx.changed_evt().sync()).1,
            ],
        );
    });
}

#[test]
fn the_forms_of_a_oneshot_and_of_a_call_have_one_result() {
    run(1, || {
        let sent = || {
            let (tx, rx) = oneshot();
            tx.send(1).unwrap();
            rx
        };
        all_give(Ok(1), [sent().recv(), wait(sent().recv_async()), sent().recv_evt().sync()]);

        let (client, server) = rpc();
        let serving = spawn(move || {
            let requests = [server.recv(), wait(server.recv_async()), server.recv_evt().sync()];
            for (request, reply) in requests.map(Result::unwrap) {
                reply.send(request * 2).unwrap();
            }
        });
        let callers = [client.clone(), client.clone()];
        let [blocks, waits] = callers;
        let (blocks, waits) = (spawn(move || blocks.call(1)), spawn(move || wait(waits.call_async(1))));
        let event = client.call_evt(1).sync();
        all_give(Ok(2), [blocks.join().unwrap(), waits.join().unwrap(), event]);
        serving.join().unwrap();
    });
}

#[test]
fn the_forms_of_the_calls_of_a_variable_have_one_result() {
    run(1, || {
        let var = MVar::new(1);
        all_give(Ok(1), [var.read(), wait(var.read_async()), var.read_evt().sync()]);
        all_give(Ok(1), [var.swap(1), wait(var.swap_async(1)), var.swap_evt(1).sync()]);
        let refill = |taken| {
            var.put(1).unwrap();
            taken
        };
        all_give(Ok(1), [refill(var.take()), refill(wait(var.take_async())), refill(var.take_evt().sync())]);
        let empty = |put| {
            assert_eq!(var.take(), Ok(1));
            put
        };
        var.take().unwrap();
        all_give(Ok(()), [empty(var.put(1)), empty(wait(var.put_async(1))), empty(var.put_evt(1).sync())]);

        let var = IVar::new();
        var.put(1).unwrap();
        all_give(1, [var.get(), wait(var.get_async()), var.get_evt().sync()]);
        all_give(&1, [var.get_ref(), wait(var.get_ref_async()), var.get_ref_evt().sync()]);

        let place = SwapChannel::new();
        let theirs = place.clone();
        let other = spawn(move || (0..3).for_each(|_| assert_eq!(theirs.swap(1), 2)));
        all_give(1, [place.swap(2), wait(place.swap_async(2)), place.swap_evt(2).sync()]);
        other.join().unwrap();
    });
}

/// Futures and events can be fields of a program's own types.
#[test]
fn futures_and_events_have_names() {
    fn of_variables<'a>(var: &'a MVar<u8>, ivar: &'a IVar<u8>, place: &'a SwapChannel<u8>) {
        let _: FutureEvt<mvar::TakeFuture<'a, u8>> = var.take_evt();
        let _: FutureEvt<mvar::PutFuture<'a, u8>> = var.put_evt(1);
        let _: FutureEvt<mvar::SwapFuture<'a, u8>> = var.swap_evt(1);
        let _: FutureEvt<mvar::ReadFuture<'a, u8>> = var.read_evt();
        let _: FutureEvt<ivar::GetFuture<'a, u8>> = ivar.get_evt();
        let _: FutureEvt<ivar::GetRefFuture<'a, u8>> = ivar.get_ref_evt();
        let _: lamprey::swap::SwapEvt<&'a SwapChannel<u8>> = place.swap_evt(1);
    }
    of_variables(&MVar::empty(), &IVar::new(), &SwapChannel::new());
    let (tx, rx) = channel::<u8>();
    let (_, _): (SendEvt<&lamprey::Sender<u8>>, RecvEvt<&lamprey::Receiver<u8>>) =
        (tx.send_evt(1), rx.recv_evt());
    let (tx, rx) = bounded::<u8>(1);
    let _: FutureEvt<bounded::SendFuture<'_, u8>> = tx.send_evt(1);
    let _: TriedEvt<&bounded::Receiver<u8>> = rx.recv_evt();
    let _: FutureEvt<mailbox::RecvFuture<'_, u8>> = mailbox().1.recv_evt();
    let _: FutureEvt<broadcast::RecvFuture<'_, u8>> = broadcast(1).1.recv_evt();
    let _: FutureEvt<multicast::RecvFuture<'_, u8>> = multicast().1.recv_evt();
    let _: FutureEvt<watch::ChangedFuture<'_, u8>> = watch(1).1.changed_evt();
    let (mut tx, mut rx) = oneshot::<u8>();
    let _: FutureEvt<oneshot::RecvFuture<'_, u8>> = rx.recv_evt();
    let _: FutureEvt<oneshot::ClosedFuture<'_, u8>> = tx.closed_evt();
    let (client, server) = rpc::<u8, u8>();
    let _: FutureEvt<rpc::CallFuture<'_, u8, u8>> = client.call_evt(1);
    let _: RecvEvt<&lamprey::Receiver<(u8, rpc::Reply<u8>)>> = server.recv_evt();
    let event: SpawnFn<fn() -> u8> = spawn_evt(|| 5);
    assert_eq!(run(1, || event.a_sync().1.sync().unwrap()), 5);
}

#[test]
#[should_panic(expected = "polled after it had returned")]
fn a_future_that_needed_no_lock_gives_one_result() {
    let (tx, mut rx) = mailbox();
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    assert_eq!(rx.recv(), Ok(1));
    let mut second = std::pin::pin!(rx.recv_async());
    assert_eq!(wait(second.as_mut()), Ok(2));
    let _ = wait(second);
}
