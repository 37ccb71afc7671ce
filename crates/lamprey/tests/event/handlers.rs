//! `wrap_handler`, each form by where the panic comes; and `a_trans`.

use crate::common::{FOREVER, blocked, run};
use lamprey::event::{
    Always, AsyncEvent, BoxedEvent, Event, a_choose, a_guard, always, choose, choose_all, future_evt, guard,
    never, prefer, timeout, with_nack,
};
use lamprey::{JoinError, bounded, channel, parasite, spawn, unbounded, wait};
use std::future::IntoFuture;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// An event whose guard panics.
fn bad_guard() -> BoxedEvent<'static, String> {
    guard(|| -> Always<String> { panic!("guard") }).boxed()
}

/// An event whose `wrap` panics.
fn bad_wrap() -> BoxedEvent<'static, String> {
    always(()).wrap(|()| -> String { panic!("wrap") }).boxed()
}

/// An event whose future panics.
fn bad_future() -> BoxedEvent<'static, String> {
    future_evt(async { panic!("future") }).boxed()
}

fn message(panic: lamprey::Panic) -> String {
    format!("caught: {}", panic.message())
}

#[test]
fn a_panic_of_the_events_own_code_is_its_result() {
    run(1, || {
        assert_eq!(bad_guard().wrap_handler(message).sync(), "caught: guard");
        assert_eq!(bad_wrap().wrap_handler(message).sync(), "caught: wrap");
        assert_eq!(bad_future().wrap_handler(message).sync(), "caught: future");
        assert_eq!(always("fine".to_owned()).wrap_handler(message).sync(), "fine");
    });
}

#[test]
fn every_form_of_a_synchronisation_handles_it() {
    run(1, || {
        let guarded = || choose((bad_guard().wrap_handler(message), never()));
        assert_eq!(guarded().sync(), "caught: guard");
        assert_eq!(guarded().sync_timeout(FOREVER).unwrap(), "caught: guard");
        assert_eq!(guarded().poll().unwrap(), "caught: guard");
        assert_eq!(wait(guarded().into_future()), "caught: guard");
        let wrapped = || choose((bad_wrap().wrap_handler(message), never()));
        assert_eq!(wrapped().poll().unwrap(), "caught: wrap");
        assert_eq!(wait(wrapped().into_future()), "caught: wrap");
        let polled = || choose((bad_future().wrap_handler(message), never()));
        assert_eq!(polled().sync(), "caught: future");
        assert_eq!(polled().sync_timeout(FOREVER).unwrap(), "caught: future");
        assert_eq!(polled().poll().unwrap(), "caught: future");
        assert_eq!(wait(polled().into_future()), "caught: future");
    });
    assert_eq!(bad_wrap().wrap_handler(message).sync(), "caught: wrap", "on an OS thread");
}

#[test]
fn a_future_that_panics_later_wakes_the_choice() {
    run(1, || {
        let (tx, rx) = bounded::<()>(1);
        let late = future_evt(async move {
            let _ = rx.recv_async().await;
            panic!("late");
        });
        let chooser = blocked(move || choose((late.wrap_handler(message), never())).sync());
        tx.send(()).unwrap();
        assert_eq!(chooser.join().unwrap(), "caught: late");
    });
}

#[test]
fn a_wrap_that_panics_after_a_wait_has_communicated() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let chooser = blocked(move || {
            let bad = rx.recv_evt().wrap(|got| -> String { panic!("got {got:?}") });
            choose((bad.wrap_handler(message), never())).sync()
        });
        assert_eq!(tx.send(5), Ok(()));
        assert_eq!(chooser.join().unwrap(), "caught: got Ok(5)");
    });
}

#[test]
fn handlers_nest() {
    run(1, || {
        let inner = bad_wrap().wrap_handler(message).wrap_handler(|_| unreachable!());
        assert_eq!(inner.sync(), "caught: wrap");
        let outer = bad_wrap().wrap_handler(|_| panic!("handler")).wrap_handler(message);
        assert_eq!(outer.sync(), "caught: handler");
        let around = always(String::new()).wrap_handler(message).wrap(|_| panic!("around"));
        let left = catch_unwind(AssertUnwindSafe(|| around.sync())).unwrap_err();
        assert_eq!(*left.downcast_ref::<&str>().unwrap(), "around");
        let boxed = choose(vec![bad_guard().wrap_handler(message).boxed(), never().boxed()]);
        assert_eq!(boxed.boxed().sync(), "caught: guard");
    });
}

#[test]
fn one_part_of_all_may_fail() {
    run(1, || {
        let parts = choose_all(vec![
            bad_guard().wrap_handler(message).boxed(),
            always("fine".to_owned()).boxed(),
            bad_future().wrap_handler(message).boxed(),
            bad_wrap().wrap_handler(message).boxed(),
        ]);
        assert_eq!(parts.sync(), ["caught: guard", "fine", "caught: future", "caught: wrap"]);
        let all =
            choose_all([bad_wrap(), bad_wrap()]).wrap_handler(|panic| vec![message(panic), String::new()]);
        assert_eq!(all.sync().len(), 2);
    });
}

#[test]
fn an_event_that_fails_is_one_branch_and_may_lose() {
    run(1, || {
        let called = AtomicU32::new(0);
        let bad = bad_guard().wrap_handler(|_| {
            called.fetch_add(1, Relaxed);
            String::new()
        });
        assert_eq!(prefer((always("first".to_owned()), bad)).sync(), "first");
        assert_eq!(called.load(Relaxed), 0);
    });
}

/// The parts of an event that has failed have not been chosen.
#[test]
fn nacks_of_what_failed_happen() {
    run(1, || {
        let (nacks, nacked) = unbounded();
        let other = nacks.clone();
        let guarded = with_nack(move |nack| -> Always<String> {
            nacks.send(nack).unwrap();
            panic!("guard")
        });
        assert_eq!(guarded.wrap_handler(message).sync(), "caught: guard");
        let beside = with_nack(move |nack| {
            other.send(nack).unwrap();
            never()
        });
        let failing = prefer((beside, bad_future())).wrap_handler(message);
        assert_eq!(choose((failing, never())).sync(), "caught: future");
        for _ in 0..2 {
            assert!(nacked.try_recv().unwrap().sync_timeout(FOREVER).is_some());
        }
        // A `wrap` that panics comes after the choice: that branch was chosen.
        let (nacks, nacked) = unbounded();
        let chosen = with_nack(move |nack| {
            nacks.send(nack).unwrap();
            always(())
        });
        let chosen = chosen.wrap(|()| -> String { panic!("wrap") }).wrap_handler(message);
        assert_eq!(chosen.sync(), "caught: wrap");
        assert!(nacked.recv().unwrap().poll().is_none());
    });
}

#[test]
fn a_cancellation_is_not_handled() {
    run(1, || {
        let handled = Arc::new(AtomicU32::new(0));
        let (_tx, rx) = channel::<String>();
        let waits = |then_blocks: bool| {
            let (handled, rx) = (handled.clone(), rx.clone());
            blocked(move || {
                let first = if then_blocks {
                    always(String::new()).boxed()
                } else {
                    rx.clone().into_recv_evt().wrap(Result::unwrap).boxed()
                };
                let event = first.wrap(move |_| rx.recv().unwrap());
                let event = event.wrap_handler(move |_| {
                    handled.fetch_add(1, Relaxed);
                    String::new()
                });
                choose((event, never())).sync()
            })
        };
        for host in [waits(false), waits(true)] {
            assert!(matches!(host.cancel_and_join(), Err(JoinError::Cancelled(_))));
        }
        assert_eq!(handled.load(Relaxed), 0);
    });
}

#[test]
fn both_parts_of_an_asynchronous_event_have_handlers() {
    run(1, || {
        let bad = || always(1).spawn_evt().s_wrap(|()| -> String { panic!("s_wrap") });
        let (created, pending) = bad().s_wrap_handler(message).a_sync();
        assert_eq!((created.as_str(), pending.sync().unwrap()), ("caught: s_wrap", 1));

        let (tx, rx) = channel::<u32>();
        let work = rx.a_recv_evt().a_wrap(|got| -> String { panic!("a_wrap {got:?}") });
        let ((), pending) = work.a_wrap_handler(message).a_sync();
        tx.send(7).unwrap();
        assert_eq!(pending.sync().unwrap(), "caught: a_wrap Ok(7)");

        for (n, pending) in [
            bad_guard().spawn_evt().a_wrap_handler(message).a_sync().1,
            bad_wrap().spawn_evt().a_wrap_handler(message).a_sync().1,
            bad_future().spawn_evt().a_wrap_handler(message).a_sync().1,
            bad_guard().spawn_evt().a_wrap(|_| unreachable!()).a_wrap_handler(message).a_sync().1,
            always(String::from("fine")).spawn_evt().a_wrap_handler(message).a_sync().1,
        ]
        .into_iter()
        .enumerate()
        {
            let expected = ["caught: guard", "caught: wrap", "caught: future", "caught: guard", "fine"];
            assert_eq!(pending.sync().unwrap(), expected[n]);
        }

        // The handler may block, as it is work.
        let (answer, answers) = channel();
        let ((), pending) = bad_guard().spawn_evt().a_wrap_handler(move |_| answers.recv().unwrap()).a_sync();
        answer.send("handled".to_owned()).unwrap();
        assert_eq!(pending.sync().unwrap(), "handled");
    });
}

#[test]
fn a_cancelled_asynchronous_event_is_not_handled() {
    run(1, || {
        let (_tx, rx) = channel::<String>();
        let event = rx.a_recv_evt().a_wrap(Result::unwrap).a_wrap_handler(|_| unreachable!());
        assert!(matches!(event.a_sync().1.cancel_and_join(), Err(JoinError::Cancelled(_))));
        let blocks =
            always(()).spawn_evt().a_wrap(move |()| rx.recv().unwrap()).a_wrap_handler(|_| unreachable!());
        assert!(matches!(blocks.a_sync().1.cancel_and_join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn an_asynchronous_branch_is_begun_if_it_is_chosen() {
    run(1, || {
        let begun = AtomicU32::new(0);
        let (tx, rx) = channel();
        let send = |n| {
            let (tx, begun) = (&tx, &begun);
            a_guard(move || {
                begun.fetch_add(1, Relaxed);
                tx.a_send_evt(n).s_wrap(|()| "begun")
            })
            .a_trans()
            .wrap(|(created, pending)| (created, Some(pending)))
        };
        let (created, _) = prefer((always(("other", None)), send(1))).sync();
        assert_eq!((created, begun.load(Relaxed)), ("other", 0));
        let _ = send(1); // dropped
        assert_eq!(begun.load(Relaxed), 0);
        assert!(rx.try_recv().is_err());

        let (created, pending) = choose((never(), send(2))).sync();
        assert_eq!((created, begun.load(Relaxed)), ("begun", 1));
        let (_, other) = wait(choose((never(), send(3))).into_future());
        assert_eq!((rx.recv(), rx.recv()), (Ok(2), Ok(3)), "in the order of the calls");
        assert_eq!(pending.unwrap().sync().unwrap(), Ok(()));
        assert_eq!(other.unwrap().sync().unwrap(), Ok(()));
    });
}

#[test]
fn a_choice_of_asynchronous_events_is_a_branch_too() {
    run(2, || {
        let ((a, of_a), (b, of_b)) = (channel::<u32>(), bounded::<u32>(1));
        let first = a_choose((of_a.a_recv_evt(), of_b.a_recv_evt())).a_trans();
        let late = timeout(Duration::ZERO).wrap(|()| None);
        let ((), pending) = prefer((first.wrap(|(_, pending)| Some(((), pending))), late)).sync().unwrap();
        b.send(5).unwrap();
        assert_eq!(pending.sync().unwrap(), Ok(5));
        assert!(a.try_send(1).is_err());
        let theirs = parasite(async move { b.a_send_evt(6).a_trans().await.1.await });
        assert_eq!(of_b.recv(), Ok(6));
        assert_eq!(theirs.join().unwrap().unwrap(), Ok(()));
        spawn(|| ()).join().unwrap();
    });
}
