//! Of several branches that can be chosen, each is chosen equally often, whether they are ready or the choice
//! waits; and
//! `prefer` takes the first.
//!
//! [`TRIALS`] is so large that a share is 7.5 standard deviations from the limits of [`assert_even`]: for all
//! shares of all tests together that is a chance below one in a billion to fail.

use crate::common::run;
use lamprey::event::{BoxedEvent, Event, choose, choose_all, never, prefer};
use lamprey::sync::Semaphore;
use lamprey::{Receiver, bounded, channel, parasite, spawn, yield_now};
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const TRIALS: usize = 10_000;

/// How often each branch was chosen.
type Counts = [usize; 5];

#[track_caller]
fn assert_even(what: &str, counts: Counts) {
    let share = TRIALS / counts.len();
    let limits = share * 85 / 100..share * 115 / 100;
    assert!(counts.iter().all(|count| limits.contains(count)), "{what}: {counts:?}");
}

/// An event of the number of a branch, for each of five receives of one channel.
fn five<'a>(rx: &'a Receiver<()>) -> [impl Event<Output = usize, Branch: Send> + Send + 'a; 5] {
    std::array::from_fn(|at| rx.recv_evt().wrap(move |_| at))
}

fn boxed(rx: &Receiver<()>) -> Vec<BoxedEvent<'_, usize>> {
    (0..5).map(|at| rx.recv_evt().wrap(move |_| at).boxed()).collect()
}

fn in_tuple(rx: &Receiver<()>) -> impl Event<Output = usize> + '_ {
    let [a, b, c, d, e] = five(rx);
    choose((a, b, c, d, e))
}

/// Each of the three inner choices is chosen as a whole, and within each of them all five are the same.
fn nested(rx: &Receiver<()>) -> impl Event<Output = usize> + '_ {
    let inner = || choose(five(rx)).boxed();
    choose([inner(), inner(), choose([inner(), never().boxed()]).boxed()])
}

fn of_all(rx: &Receiver<()>) -> impl Event<Output = usize> + '_ {
    choose(five(rx).map(|one| choose_all([one]).wrap(|all| all[0])))
}

/// What a host chooses that synchronises each time: `waits` says whether the sender comes after the choice.
fn chosen_by_hosts(waits: bool, once: impl Fn(&Receiver<()>) -> usize + Send + 'static) -> Counts {
    run(1, move || {
        let ((tx, rx), (go, begin)) = (channel(), channel());
        let sender = spawn(move || {
            while begin.recv().is_ok() {
                tx.send(()).unwrap();
            }
        });
        let mut counts = Counts::default();
        for _ in 0..TRIALS {
            if waits {
                yield_now(); // the sender waits for `go`, and goes on after this host has blocked
            }
            go.send(()).unwrap();
            if !waits {
                yield_now();
            }
            counts[once(&rx)] += 1;
        }
        drop(go);
        sender.join().unwrap();
        counts
    })
}

/// What futures choose whose first poll is before the sender comes.
fn chosen_by_futures<'a, E: Event<Output = usize>>(
    rx: &'a Receiver<()>,
    send: impl Fn(),
    of: impl Fn(&'a Receiver<()>) -> E,
) -> Counts {
    let mut counts = Counts::default();
    for _ in 0..TRIALS {
        let mut context = Context::from_waker(Waker::noop());
        let mut choice = pin!(of(rx).into_future());
        assert!(choice.as_mut().poll(&mut context).is_pending());
        send();
        match choice.poll(&mut context) {
            Poll::Ready(at) => counts[at] += 1,
            Poll::Pending => panic!("what it has got is lost"),
        }
    }
    counts
}

/// Each form of a choice, of branches that are ready and as one that waits.
#[test]
fn hosts_choose_each_branch_equally_often() {
    for waits in [false, true] {
        let check = |what, once: fn(&Receiver<()>) -> usize| {
            assert_even(&format!("{what}, waits: {waits}"), chosen_by_hosts(waits, once));
        };
        check("array", |rx| choose(five(rx)).sync());
        check("tuple", |rx| in_tuple(rx).sync());
        check("boxed", |rx| choose(boxed(rx)).boxed().sync());
        check("nested", |rx| nested(rx).sync());
        check("with never", |rx| choose((never(), choose(five(rx)), never())).sync());
        check("choose_all", |rx| of_all(rx).sync());
        check("within choose_all", |rx| choose_all([choose(five(rx))]).sync()[0]);
        check("future", |rx| lamprey::wait(choose(five(rx)).into_future()));
        check("limited", |rx| choose(five(rx)).sync_timeout(crate::common::FOREVER).unwrap());
    }
    assert_even("poll", chosen_by_hosts(false, |rx| choose(five(rx)).poll().unwrap()));
}

#[test]
fn futures_choose_each_branch_equally_often() {
    let (tx, rx) = channel();
    let send = || tx.try_send(()).unwrap();
    assert_even("array", chosen_by_futures(&rx, send, |rx| choose(five(rx))));
    assert_even("tuple", chosen_by_futures(&rx, send, in_tuple));
    assert_even("boxed", chosen_by_futures(&rx, send, |rx| choose(boxed(rx))));
    assert_even("nested", chosen_by_futures(&rx, send, nested));
    assert_even("choose_all", chosen_by_futures(&rx, send, of_all));
}

#[test]
fn parasites_choose_each_branch_equally_often() {
    let counts = run(1, || {
        let ((tx, rx), (go, begin)) = (channel(), channel());
        let chooser = parasite(async move {
            let mut counts = Counts::default();
            while begin.recv_async().await.is_ok() {
                counts[choose(five(&rx)).await] += 1;
            }
            counts
        });
        for at in 0..TRIALS {
            go.send(()).unwrap();
            if at % 2 == 0 {
                yield_now();
            }
            tx.send(()).unwrap();
        }
        drop(go);
        chooser.join().unwrap()
    });
    assert_even("parasite", counts);
}

/// Buffered channels and locks, as far as they are events of their own.
#[test]
fn other_kinds_are_chosen_equally_often() {
    let mut counts = [Counts::default(); 4];
    let (tx, rx) = bounded(1);
    let permits = Semaphore::new(1);
    for _ in 0..TRIALS {
        tx.send(()).unwrap();
        counts[0][choose([0, 1, 2, 3, 4].map(|at| rx.recv_evt().wrap(move |_| at))).sync()] += 1;
        counts[1][choose([0, 1, 2, 3, 4].map(|at| permits.acquire_evt(1).wrap(move |_| at))).sync()] += 1;

        let mut context = Context::from_waker(Waker::noop());
        let mut waits = pin!(choose([0, 1, 2, 3, 4].map(|at| rx.recv_evt().wrap(move |_| at))).into_future());
        assert!(waits.as_mut().poll(&mut context).is_pending());
        tx.send(()).unwrap();
        let Poll::Ready(at) = waits.poll(&mut context) else { panic!("what it was granted is lost") };
        counts[2][at] += 1;

        let held = permits.acquire(1);
        let mut waits =
            pin!(choose([0, 1, 2, 3, 4].map(|at| permits.acquire_evt(1).wrap(move |_| at))).into_future());
        assert!(waits.as_mut().poll(&mut context).is_pending());
        drop(held);
        let Poll::Ready(at) = waits.poll(&mut context) else { panic!("what it was granted is lost") };
        counts[3][at] += 1;
    }
    counts
        .into_iter()
        .zip(["bounded", "permits", "bounded waits", "permits wait"])
        .for_each(|(counts, what)| assert_even(what, counts));
}

/// Of eight branches, the five in the middle are of one channel: the ones at the ends of that row are chosen
/// as often as the others.
#[test]
fn neighbours_have_the_same_chance() {
    fn eight<'a>(rx: &'a Receiver<()>) -> impl Event<Output = usize> + 'a {
        let [a, b, c, d, e] = five(rx);
        choose((never(), a, b, c, d, e, never(), never()))
    }
    assert_even("ready", chosen_by_hosts(false, |rx| eight(rx).sync()));
    assert_even("waits", chosen_by_hosts(true, |rx| eight(rx).sync()));
}

#[test]
fn prefer_takes_the_first() {
    let first = Counts::from([TRIALS, 0, 0, 0, 0]);
    for waits in [false, true] {
        assert_eq!(chosen_by_hosts(waits, |rx| prefer(five(rx)).sync()), first);
        assert_eq!(chosen_by_hosts(waits, |rx| prefer(boxed(rx)).boxed().sync()), first);
        assert_eq!(chosen_by_hosts(waits, |rx| choose((never(), prefer(five(rx)), never())).sync()), first);
        assert_eq!(chosen_by_hosts(waits, |rx| prefer((prefer(five(rx)), choose(five(rx)))).sync()), first);
        // The choice inside is fair; it comes before all others.
        let counts = chosen_by_hosts(waits, |rx| {
            let [first, ..] = five(rx);
            prefer((choose(five(rx)), first)).sync()
        });
        assert_even("within prefer", counts);
    }
}
