//! A future that waits outlives whoever polled it: it is in a box, and the box goes on.

use crate::common::*;
use futures::poll;
use lamprey::{Receiver, RecvError, channel, parasite, parasite_fn, wait};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

type Receive = Pin<Box<dyn Future<Output = Result<u32, RecvError>> + Send>>;

/// Receives, in a box, and waits already.
async fn waiting(rx: Receiver<u32>) -> Receive {
    let mut receive: Receive = Box::pin(async move { rx.recv_async().await });
    assert!(poll!(&mut receive).is_pending());
    receive
}

#[test]
fn out_of_a_parasite_that_has_ended() {
    run(1, || {
        let (tx, rx) = channel();
        let receive = parasite(waiting(rx)).join().unwrap();
        let sender = lamprey::spawn(move || tx.send(1));
        assert_eq!(wait(receive), Ok(1));
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn out_of_a_runtime_that_has_ended() {
    let (tx, rx) = channel();
    let runtime = runtime(1);
    let receive = runtime.run(|| parasite(waiting(rx)).join().unwrap());
    drop(runtime);
    tx.try_send(1).unwrap();
    assert_eq!(wait(receive), Ok(1));
}

#[test]
fn out_of_a_wait() {
    let (tx, rx) = channel();
    let receive = wait(waiting(rx));
    tx.try_send(1).unwrap();
    assert_eq!(wait(receive), Ok(1));
}

#[test]
fn out_of_a_parasite_that_is_gone_and_dropped_elsewhere() {
    run(1, || {
        let (tx, rx) = channel();
        let receive = parasite(waiting(rx)).join().unwrap();
        lamprey::block(|| thread::spawn(move || drop(receive)).join()).unwrap();
        assert!(tx.send(1).is_err());
    });
}

#[test]
fn met_while_the_one_who_polled_it_ends() {
    within(FOREVER, || {
        let runtime = runtime(1);
        for n in 0..300 {
            let (tx, rx) = channel();
            let sender = thread::spawn(move || tx.send(n));
            let receive = async move {
                let mut receive: Receive = Box::pin(async move { rx.recv_async().await });
                let early = poll!(&mut receive);
                (early, receive)
            };
            let (early, receive) =
                if n % 2 == 0 { runtime.run(|| parasite(receive).join().unwrap()) } else { wait(receive) };
            let value = if early.is_pending() { wait(receive) } else { Ok(n) };
            assert_eq!(value, Ok(n));
            sender.join().unwrap().unwrap();
        }
    });
}

#[test]
fn a_boxed_one_is_attached_inline_where_that_was_asked_for() {
    static RAN: AtomicBool = AtomicBool::new(false);
    run(1, || {
        let (tx, rx) = channel::<()>();
        let boxed = Box::pin(async move {
            let _ = rx.recv_async().await;
            RAN.store(true, Ordering::SeqCst);
        });
        let parasite = lamprey::Builder::new().attach_inline(true).parasite(boxed).unwrap();
        tx.send(()).unwrap();
        assert!(RAN.load(Ordering::SeqCst));
        parasite.join().unwrap();
    });
}

#[test]
fn a_handle_that_was_awaited_in_vain_is_detached() {
    run(1, || {
        let (tx, rx) = channel();
        let ended = counter();
        for is_stackful in [false, true] {
            let (rx, ended) = (rx.clone(), ended.clone());
            let mut handle = if is_stackful {
                parasite_fn(move || rx.recv().map(|_: u32| tick(&ended)))
            } else {
                parasite(async move { rx.recv_async().await.map(|_: u32| tick(&ended)) })
            };
            wait(async { assert!(poll!(&mut handle).is_pending()) });
            handle.detach(); // while the waker of that poll is still registered
        }
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        yield_until("both ended", || count(&ended) == 2);
    });
}
