//! Asynchronous events, each case by its moment; and the order that they promise.

use lamprey::event::{
    AsyncEvent, Event, a_choose, a_guard, always, choose, guard, never, spawn_evt, timeout,
};
use lamprey::{JoinError, Receiver, Runtime, SendError, channel, parasite, run, spawn, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(3);

#[test]
fn what_can_happen_at_once_has_happened() {
    Runtime::builder().workers(1).build().unwrap().run(|| {
        let (tx, rx) = channel();
        let receiver = spawn(move || rx.recv());
        yield_now();
        let ((), sent) = tx.a_send_evt(1).a_sync();
        assert!(sent.is_finished());
        assert_eq!(sent.sync().unwrap(), Ok(()));
        assert_eq!(receiver.join().unwrap(), Ok(1));
        let ((), failed) = tx.a_send_evt(2).a_sync();
        assert_eq!(failed.sync().unwrap(), Err(SendError(2)));
    });
}

#[test]
fn creation_is_on_the_caller_and_consumption_is_not() {
    run(|| {
        let (tx, rx) = channel();
        let log = Mutex::new(Vec::new());
        let (lines, read) = channel();
        let event = rx.a_recv_evt().a_wrap(move |got| lines.send(got.unwrap()).is_ok());
        let ((), consumed) = event.s_wrap(|()| log.lock().unwrap().push("begun")).a_sync();
        log.lock().unwrap().push("returned");
        tx.send(4).unwrap();
        assert_eq!(*log.lock().unwrap(), ["begun", "returned"]);
        // The `a_wrap` blocks for us, in a thread of its own.
        assert_eq!(read.recv(), Ok(4));
        assert!(consumed.sync().unwrap());
    });
}

/// The sender's stack is where the receive is completed; its `a_wrap` waits for what the sender does next.
#[test]
fn an_a_wrap_may_wait_for_the_other_side() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| {
        let ((ask, asked), (answer, answers)) = (channel(), channel());
        let ((), served) =
            asked.a_recv_evt().a_wrap(move |n: Result<u32, _>| answer.send(n.unwrap() + 1)).a_sync();
        ask.send(1).unwrap();
        assert_eq!(answers.recv(), Ok(2));
        assert_eq!(served.sync().unwrap(), Ok(()));
    });
}

#[test]
fn wraps_compose() {
    run(|| {
        let event = always(1).spawn_evt().a_wrap(|n| n + 1).a_wrap(|n| n * 10);
        let (created, pending) = event.s_wrap(|()| 1).s_wrap(|n| n + 1).a_sync();
        assert_eq!((created, pending.sync().unwrap()), (2, 20));
    });
}

#[test]
fn guards_run_at_the_call() {
    run(|| {
        let count = AtomicU32::new(0);
        let event = a_guard(|| {
            count.fetch_add(1, Relaxed);
            never::<()>().spawn_evt()
        });
        let ((), pending) = event.a_sync();
        assert_eq!(count.load(Relaxed), 1);
        assert!(matches!(pending.cancel_and_join(), Err(JoinError::Cancelled(_))));
        static RAN: AtomicBool = AtomicBool::new(false);
        let _not_begun = guard(never::<()>).spawn_evt().s_wrap(|()| RAN.store(true, Relaxed));
        assert!(!RAN.load(Relaxed), "not begun");
    });
}

#[test]
fn one_of_several() {
    run(|| {
        let ((tx, rx), (tx2, rx2)) = (channel(), channel());
        let both = a_choose([rx.a_recv_evt(), rx2.a_recv_evt()]);
        let ([(), ()], got) = both.a_sync();
        tx2.send(2).unwrap();
        assert!(tx.try_send(1).is_err(), "both were received");
        assert_eq!(got.sync().unwrap(), Ok(2));
        let many = a_choose((0..5).map(|n| never().spawn_evt().s_wrap(move |()| n)).collect::<Vec<_>>());
        let (created, pending): (_, lamprey::event::Pending<()>) = many.a_sync();
        assert_eq!(created, [0, 1, 2, 3, 4]);
        drop(pending.cancel_and_join());
        let mixed =
            a_choose((rx.a_recv_evt().a_wrap(|got| got.unwrap()), timeout(SHORT).spawn_evt().a_wrap(|()| 9)));
        assert_eq!(mixed.a_sync().1.sync().unwrap(), 9);
    });
}

#[test]
fn dropped_it_goes_on_and_cancelled_it_does_not() {
    run(|| {
        let (tx, rx) = channel();
        tx.a_send_evt(1).a_sync();
        let ((), second) = tx.a_send_evt(2).a_sync();
        tx.a_send_evt(3).a_sync();
        assert!(matches!(second.cancel_and_join(), Err(JoinError::Cancelled(_))));
        drop(tx);
        assert_eq!(Vec::from_iter(rx), [1, 3]);
    });
}

#[test]
fn a_result_that_was_not_chosen_is_still_there() {
    run(|| {
        let (tx, rx) = channel();
        let ((), mut got) = rx.a_recv_evt().a_sync();
        for _ in 0..3 {
            assert!(choose((got.join_evt().wrap(Some), timeout(SHORT).wrap(|()| None))).sync().is_none());
        }
        tx.send(6).unwrap();
        let either = choose((got.join_evt().wrap(Result::unwrap), timeout(LONG).wrap(|()| unreachable!())));
        assert_eq!(either.sync(), Ok(6));
    });
}

#[test]
fn a_panic_reaches_whoever_asks() {
    run(|| {
        let ((), pending) = spawn_evt(|| panic!("on purpose")).a_sync();
        assert!(matches!(pending.sync(), Err(JoinError::Panicked(_))));
        let (tx, rx) = channel();
        let event = tx.a_send_evt(1).s_wrap(|()| panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(|| event.a_sync())).is_err());
        assert_eq!(rx.recv(), Ok(1));
        let (tx, rx) = channel();
        let event = a_guard(|| if true { panic!("on purpose") } else { tx.a_send_evt(1) });
        assert!(catch_unwind(AssertUnwindSafe(|| event.a_sync())).is_err());
        assert!(rx.try_recv().is_err());
    });
}

#[test]
fn in_parasites_and_outside() {
    run(|| {
        let (tx, rx) = channel();
        let p = parasite(async move {
            let ((), sent) = tx.a_send_evt(1).a_sync();
            sent.await.unwrap()
        });
        assert_eq!(rx.recv(), Ok(1));
        assert_eq!(p.join().unwrap(), Ok(()));
    });
    let (tx, _rx) = channel();
    let panic = catch_unwind(AssertUnwindSafe(|| tx.a_send_evt(1).a_sync())).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("outside of a host"));
}

#[test]
fn what_waits_when_the_runtime_ends_is_dropped() {
    let (tx, rx) = channel::<u8>();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.run(move || tx.a_send_evt(1).a_sync().0);
    drop(runtime);
    assert!(rx.recv().is_err());
}

fn are_in_order(rx: Receiver<u32>, n: u32) {
    (0..n).for_each(|expected| assert_eq!(rx.recv(), Ok(expected)));
}

/// More than the hosts let parasites have without a turn of their own, and synchronous sends among them.
#[test]
fn sends_of_one_thread_arrive_in_order() {
    const N: u32 = 5000;
    for workers in 1..=2 {
        Runtime::builder().workers(workers).build().unwrap().run(|| {
            for late in [false, true] {
                let (tx, rx) = channel();
                let receiver = (!late).then(|| {
                    spawn({
                        let rx = rx.clone();
                        move || are_in_order(rx, N)
                    })
                });
                let sender = spawn(move || {
                    for n in 0..N {
                        match n % 7 {
                            3 => drop(tx.a_send_evt(n).a_wrap(|sent| sent.unwrap()).a_sync()),
                            5 => drop(a_choose([tx.a_send_evt(n)]).a_sync()),
                            6 if n % 70 == 6 => tx.send(n).unwrap(),
                            _ => drop(tx.a_send_evt(n).a_sync()),
                        }
                    }
                });
                match receiver {
                    Some(receiver) => receiver.join().unwrap(),
                    None => are_in_order(rx, N),
                }
                sender.join().unwrap();
            }
        });
    }
}

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The sender has a penalty to pay: ordinary parasites of its would start as hosts.
#[test]
fn they_arrive_in_order_from_one_whose_parasites_were_too_long() {
    for workers in 1..=2 {
        let runtime =
            Runtime::builder().workers(workers).time_slice(Duration::from_millis(1)).build().unwrap();
        runtime.run(|| {
            for _ in 0..10 {
                let (tx, rx) = channel();
                parasite(async { compute(Duration::from_millis(6)) }).detach();
                (0..50).for_each(|n| drop(tx.a_send_evt(n).a_sync()));
                are_in_order(rx, 50);
            }
        });
    }
}

/// The other worker has nothing to do, and asks for parasites all the time.
#[test]
fn they_arrive_in_order_while_another_worker_asks_for_work() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let until = Instant::now() + Duration::from_millis(300);
        while Instant::now() < until {
            let (tx, rx) = channel();
            // Something to give away, among the sends.
            let parasites: Vec<_> = (0..20)
                .map(|n| {
                    tx.a_send_evt(n).a_sync();
                    parasite(async { compute(Duration::from_micros(20)) })
                })
                .collect();
            are_in_order(rx, 20);
            parasites.into_iter().for_each(|p| p.join().unwrap());
        }
    });
}

#[test]
fn receives_of_one_thread_are_served_in_order() {
    for workers in 1..=2 {
        Runtime::builder().workers(workers).build().unwrap().run(|| {
            let (tx, rx) = channel();
            let pending: Vec<_> = (0..2000).map(|_| rx.a_recv_evt().a_sync().1).collect();
            let sender = spawn(move || (0..2000).for_each(|n| tx.send(n).unwrap()));
            for (n, pending) in pending.into_iter().enumerate() {
                assert_eq!(pending.sync().unwrap(), Ok(n));
            }
            sender.join().unwrap();
        });
    }
}
