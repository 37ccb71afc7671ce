//! A choice that a peer has decided returns, also to a thread that is cancelled or out of time just then; one
//! that nobody has decided has not happened. In every form of choice, by every way of being cancelled, of
//! threads and of futures.

use crate::common::{Counted, blocked, count, counter, eventually, run, run_at_once, tick, within};
use lamprey::event::{
    AsyncEvent, BoxedEvent, Event, Nack, always, choose, choose_all, future_evt, guard, never, prefer,
    spawn_evt, timeout, with_nack,
};
use lamprey::sync::{Mutex, RwLock, Semaphore};
use lamprey::{
    Builder, CancelToken, JoinError, Receiver, RecvError, Sender, SwapChannel, channel, parasite,
    parasite_fn, scope, spawn, with_timeout, yield_now,
};
use std::future::{IntoFuture, pending};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(1);

/// What has come, `None` if the other side has gone. (One type, because the compiler takes long for each.)
type Got = Option<u32>;
type Boxed = BoxedEvent<'static, Got>;

fn sends(tx: &Sender<u32>, value: u32) -> Boxed {
    tx.clone().into_send_evt(value).wrap(move |sent| sent.ok().map(|()| value)).boxed()
}

fn receives(rx: &Receiver<u32>) -> Boxed {
    rx.clone().into_recv_evt().wrap(Result::ok).boxed()
}

/// All ways to put an event into a choice that waits for nothing else.
fn forms(event: &dyn Fn() -> Boxed) -> Vec<(&'static str, Boxed)> {
    let unreached = || timeout(LONG).wrap(|()| unreachable!("nobody waits so long"));
    let first = |all: Vec<Got>| all[0];
    vec![
        ("choose", choose((event(), never())).boxed()),
        ("choose, the last", choose((never(), never(), event())).boxed()),
        ("prefer", prefer((never(), event())).boxed()),
        ("of a vector", choose(vec![never().boxed(), event()]).boxed()),
        ("of an array", choose([event(), never().boxed()]).boxed()),
        ("nested", choose((prefer((never(), choose((event(), never())))), never())).boxed()),
        (
            "guarded",
            choose((
                never(),
                guard({
                    let event = event();
                    || event
                }),
            ))
            .boxed(),
        ),
        ("wrapped", choose((event().wrap(Some), never())).wrap(Option::flatten).boxed()),
        (
            "with a nack",
            choose((
                with_nack({
                    let event = event();
                    |_| event
                }),
                never(),
            ))
            .boxed(),
        ),
        ("with a time limit", choose((event(), unreached())).boxed()),
        ("with a future", choose((event(), future_evt(pending()))).boxed()),
        ("with a future and a time limit", choose((future_evt(pending()), event(), unreached())).boxed()),
        ("choose_all", choose_all((event(),)).wrap(first).boxed()),
        ("choose_all of more", choose_all(vec![always(None).boxed(), event()]).wrap(|all| all[1]).boxed()),
        ("choose_all in a choice", choose((choose_all((event(),)).wrap(first), never())).boxed()),
        (
            "choose_all in a choice with a future",
            choose((choose_all([event()]).wrap(first), future_evt(pending()))).boxed(),
        ),
        ("choose_all in choose_all", choose_all((choose_all((event(),)).wrap(first),)).wrap(first).boxed()),
    ]
}

/// Ways to end what a thread waits for.
#[derive(Debug, Clone, Copy)]
enum Way {
    Handle,
    Token,
    /// A stackful parasite, with its scope.
    Stackful,
    /// A host, with its scope.
    Scope,
    Deadline,
    /// It has begun with a limit of its own, too.
    Limited,
}

const WAYS: [Way; 6] = [Way::Handle, Way::Token, Way::Stackful, Way::Scope, Way::Deadline, Way::Limited];

/// Waits for `event`, is cancelled in that, and before it runs again `decide` is called. What the event gave,
/// if it happened.
fn decided_late(way: Way, event: Boxed, decide: &mut dyn FnMut()) -> Option<Got> {
    match way {
        Way::Handle | Way::Limited => {
            let host = blocked(move || match way {
                Way::Handle => event.sync(),
                _ => event.sync_timeout(LONG).expect("nobody waits so long"),
            });
            host.cancel();
            decide();
            value(host.join())
        }
        Way::Token => {
            let token = CancelToken::new();
            let theirs = token.clone();
            let host = blocked(move || theirs.run(|| event.sync()).ok());
            token.cancel();
            decide();
            host.join().unwrap()
        }
        Way::Stackful => scope(|s| {
            let parasite = s.parasite_fn(|| event.sync());
            s.cancel();
            decide();
            value(parasite.join())
        }),
        Way::Scope => scope(|s| {
            let begun = counter();
            let theirs = begun.clone();
            let host = s.spawn(move || {
                tick(&theirs);
                event.sync()
            });
            crate::common::yield_until("its start", || count(&begun) == 1);
            s.cancel();
            decide();
            value(host.join())
        }),
        Way::Deadline => {
            let until = Instant::now() + SHORT;
            let host = blocked(move || with_timeout(SHORT, || event.sync()).ok());
            while Instant::now() < until + SHORT {}
            yield_now(); // the time is over, and it has not run
            decide();
            host.join().unwrap()
        }
    }
}

fn value<T>(outcome: Result<T, JoinError>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(JoinError::Cancelled(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_send_that_has_happened_returns() {
    run(1, || {
        for way in WAYS {
            let (tx, rx) = channel();
            for (form, event) in forms(&|| sends(&tx, 7)) {
                let mut got = None;
                let ended = decided_late(way, event, &mut || got = rx.try_recv().ok());
                assert_eq!(got.map(Some), ended, "{way:?}, {form}");
                assert!(rx.try_recv().is_err(), "{way:?}, {form}: it is still there");
                // By these ways the peer comes in between, certainly.
                assert!(got.is_some() || matches!(way, Way::Deadline), "{way:?}, {form}");
            }
        }
    });
}

#[test]
fn a_receive_that_has_happened_returns() {
    run(1, || {
        for way in WAYS {
            let (tx, rx) = channel();
            for (form, event) in forms(&|| receives(&rx)) {
                let mut sent = false;
                let ended = decided_late(way, event, &mut || sent = tx.try_send(7).is_ok());
                assert_eq!(ended, sent.then_some(Some(7)), "{way:?}, {form}");
                assert!(rx.try_recv().is_err(), "{way:?}, {form}: it is still there");
            }
        }
    });
}

#[test]
fn what_nobody_has_decided_has_not_happened() {
    run(1, || {
        for way in WAYS {
            let (tx, rx) = channel();
            for (form, event) in forms(&|| sends(&tx, 7)) {
                assert_eq!(decided_late(way, event, &mut || ()), None, "{way:?}, {form}");
                assert!(rx.try_recv().is_err(), "{way:?}, {form}: the offer is still there");
            }
        }
    });
}

/// It hears of its cancellation at its next blocking call.
#[test]
fn the_next_call_unwinds() {
    run(1, || {
        let (tx, rx) = channel();
        let reached = counter();
        let theirs = reached.clone();
        let host = blocked(move || {
            choose((tx.send_evt(1), never())).sync().unwrap();
            tick(&theirs);
            choose((tx.send_evt(2), never())).sync().unwrap();
            tick(&theirs);
        });
        host.cancel();
        assert_eq!(rx.try_recv(), Ok(1));
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
        assert_eq!((count(&reached), rx.try_recv().is_err()), (1, true));
    });
}

/// A lock server's client: the branch that was granted gets no nack, in whatever choice it stands.
#[test]
fn a_granted_branch_gets_no_nack() {
    run(1, || {
        for way in WAYS {
            let (nacks, keeps) = nacks();
            let (granted, wait) = channel();
            let client = || {
                with_nack({
                    let (wait, keeps) = (wait.clone(), keeps.clone());
                    move |nack| {
                        keeps(nack);
                        receives(&wait)
                    }
                })
                .boxed()
            };
            for (form, event) in forms(&client) {
                let mut is_granted = false;
                let ended = decided_late(way, event, &mut || is_granted = granted.try_send(1).is_ok());
                assert_eq!(ended, is_granted.then_some(Some(1)), "{way:?}, {form}");
                assert_eq!(nacks(), [!is_granted], "{way:?}, {form}");
            }
        }
    });
}

/// Keeps nacks; which of those that have been kept since the last look have happened.
fn nacks() -> (impl Fn() -> Vec<bool>, impl Fn(Nack) + Clone + Send + 'static) {
    let place = Arc::new(std::sync::Mutex::new(Vec::new()));
    let theirs = place.clone();
    let look = move || {
        let nacks: Vec<Nack> = std::mem::take(&mut *place.lock().unwrap());
        nacks.into_iter().map(|nack| nack.poll().is_some()).collect()
    };
    (look, move |nack| theirs.lock().unwrap().push(nack))
}

#[test]
fn all_branches_but_the_decided_one_get_their_nack() {
    run(1, || {
        for decides in [true, false] {
            let ((tx, rx), (nacks, keeps)) = (channel(), nacks());
            let branch = |event: Boxed| {
                let keeps = keeps.clone();
                let nacked = with_nack(move |nack| {
                    keeps(nack);
                    event
                });
                nacked.boxed()
            };
            let lucky = branch(receives(&rx));
            let [one, two, three] = std::array::from_fn(|_| branch(never().boxed()));
            let event = choose((lucky, one, choose((two, prefer([three])))));
            let ended =
                decided_late(Way::Handle, event.boxed(), &mut || assert!(!decides || tx.try_send(1).is_ok()));
            assert_eq!(ended, decides.then_some(Some(1)));
            assert_eq!(nacks(), [!decides, true, true, true]);
        }
    });
}

/// Polls it once, and drops it after `then`.
fn begins(event: Boxed, then: impl FnOnce()) {
    let mut future = pin!(event.into_future());
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    then();
}

#[test]
fn a_future_that_is_dropped_after_it_was_decided_gets_no_nack() {
    run(1, || {
        let ((tx, rx), (nacks, keeps)) = (channel(), nacks());
        for (form, event) in forms(&|| receives(&rx)) {
            let keeps = keeps.clone();
            let event = with_nack(move |nack| {
                keeps(nack);
                event
            });
            begins(choose((event, never())).boxed(), || assert!(tx.try_send(7).is_ok(), "{form}"));
            assert_eq!(nacks(), [false], "{form}");
            assert_eq!(rx.try_recv(), Ok(7), "{form}: what it had received goes back");
        }
    });
}

#[test]
fn a_future_that_is_dropped_undecided_gets_its_nack() {
    run(1, || {
        let (nacks, keeps) = nacks();
        let branch = || {
            let keeps = keeps.clone();
            let nacked = with_nack(move |nack| {
                keeps(nack);
                never()
            });
            nacked.boxed()
        };
        for (form, event) in forms(&branch) {
            begins(event, || ());
            assert_eq!(nacks(), [true], "{form}");
        }
    });
}

/// Half of a `choose_all` has happened: what was received goes back, and no granted part gets its nack.
#[test]
fn half_a_choose_all_is_taken_back() {
    run(1, || {
        for as_future in [false, true] {
            let ((give, given), (tx, rx), (_other, nothing)) = (channel(), channel(), channel());
            let (nacks, keeps) = nacks();
            let part = |event: Boxed| {
                let keeps = keeps.clone();
                let nacked = with_nack(move |nack| {
                    keeps(nack);
                    event
                });
                nacked.boxed()
            };
            let result = |got: Got| got.ok_or(RecvError);
            // The last one has no wrap: it only waits, and is finished last.
            let all = choose_all((
                part(sends(&give, 1)).wrap(result),
                part(receives(&nothing)).wrap(result),
                rx.clone().into_recv_evt(),
            ));
            if as_future {
                let mut all = pin!(all.into_future());
                let mut poll = || all.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(poll().is_pending());
                assert_eq!(given.try_recv(), Ok(1)); // chosen with that; the others wait from the next poll on
                assert!(poll().is_pending());
                assert_eq!(tx.try_send(2), Ok(()));
            } else {
                let host = blocked(move || all.sync());
                host.cancel();
                assert_eq!((given.try_recv(), tx.try_send(2)), (Ok(1), Ok(())));
                assert!(value(host.join()).is_none());
            }
            assert_eq!(rx.try_recv(), Ok(2), "it went back");
            assert_eq!(nacks(), [false, true]);
        }
    });
}

#[test]
fn a_whole_choose_all_returns() {
    run(1, || {
        for met in 0..=4 {
            let ((give, given), (tx, rx)) = (channel(), channel());
            let result = |got: Got| got.ok_or(RecvError);
            let all = choose_all((
                sends(&give, 1).wrap(result),
                receives(&rx).wrap(result),
                choose_all([rx.clone().into_recv_evt()]).wrap(|all| all[0]),
                rx.clone().into_recv_evt(),
            ));
            let host = blocked(move || all.sync());
            host.cancel();
            assert!(met < 1 || given.try_recv().is_ok());
            (2..=met).for_each(|n| tx.try_send(n).unwrap());
            let ended = value(host.join()).map(|all| all.into_iter().map(Result::unwrap).sum());
            assert_eq!(ended, (met == 4).then_some(10));
            // What a part had received is there for the next, whatever became of the others.
            let left: u32 = rx.try_iter().sum();
            assert_eq!(left, if met == 4 { 0 } else { (2..=met).sum() });
        }
    });
}

/// A `wrap` runs after the communication, and is the next that may block.
#[test]
fn a_wrap_that_blocks_after_the_decision_unwinds() {
    run(1, || {
        let ((tx, rx), (_keep, never_sent)) = (channel(), channel::<u8>());
        let reached = counter();
        let theirs = reached.clone();
        let host = blocked(move || {
            let sent = tx.send_evt(1).wrap(|sent| {
                sent.unwrap();
                tick(&theirs);
                never_sent.recv().unwrap()
            });
            choose((sent, never())).sync()
        });
        host.cancel();
        assert_eq!(rx.try_recv(), Ok(1));
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(count(&reached), 1);
    });
}

#[test]
fn a_wrap_that_panics_after_the_decision_is_heard() {
    run(1, || {
        let (tx, rx) = channel();
        let (nacks, keeps) = nacks();
        let host = blocked(move || {
            let sent = with_nack(|nack| {
                keeps(nack);
                tx.send_evt(1).wrap(|_| panic!("on purpose"))
            });
            choose((sent, never::<()>())).sync()
        });
        host.cancel();
        assert_eq!(rx.try_recv(), Ok(1));
        assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
        assert_eq!(nacks(), [false]);
    });
}

/// The other side goes, perhaps because the whole runtime does: who is cancelled hears of that, and not of a
/// failure.
#[test]
fn a_cancelled_thread_whose_peers_have_gone_is_cancelled() {
    run(1, || {
        for at in 0..forms(&|| never().boxed()).len() {
            let mut ends = Vec::new();
            let ends_of = std::cell::RefCell::new(&mut ends);
            let event = || {
                let (tx, rx) = channel();
                ends_of.borrow_mut().push(tx);
                receives(&rx).wrap(|got| Some(got.unwrap())).boxed()
            };
            let (form, event) = forms(&event).swap_remove(at);
            let ended = decided_late(Way::Handle, event, &mut || ends.clear());
            assert_eq!(ended, None, "{form}");
        }
    });
}

#[test]
fn a_lock_that_was_handed_over_is_returned() {
    run(1, || {
        let (mutex, rwlock) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
        let semaphore = Arc::new(Semaphore::new(0));
        for _ in 0..2 {
            let (guard, theirs) = (mutex.lock().unwrap(), mutex.clone());
            let host = blocked(move || {
                choose((theirs.lock_evt(), never())).sync().map(|mut guard| *guard += 1).is_ok()
            });
            host.cancel();
            drop(guard);
            assert_eq!(value(host.join()), Some(true));

            let (guard, theirs) = (rwlock.write().unwrap(), rwlock.clone());
            let host = blocked(move || {
                choose((theirs.write_evt(), never())).sync().map(|mut guard| *guard += 1).is_ok()
            });
            host.cancel();
            drop(guard);
            assert_eq!(value(host.join()), Some(true));

            let theirs = semaphore.clone();
            let host = blocked(move || choose((theirs.acquire_evt(2), never())).sync().map(drop).is_ok());
            host.cancel();
            semaphore.add_permits(2);
            assert_eq!(value(host.join()), Some(true));
            assert!(semaphore.try_acquire(2).is_ok_and(|permit| {
                permit.forget();
                true
            }));
        }
        assert_eq!((*mutex.lock().unwrap(), *rwlock.read().unwrap()), (2, 2));
    });
}

/// Both have swapped, or none has.
#[test]
fn a_swap_has_happened_to_both_or_none() {
    run(1, || {
        for (form, way) in WAYS.into_iter().enumerate() {
            let channel = Arc::new(SwapChannel::new());
            let theirs = channel.clone();
            let swap = guard(move || {
                // (An event that owns its channel.)
                let channel = theirs;
                future_evt(async move { channel.swap_async(1).await })
            });
            let mut partner = None;
            let ended = decided_late(way, swap.wrap(Some).boxed(), &mut || {
                let theirs = channel.clone();
                partner = Some(spawn(move || with_timeout(SHORT, || theirs.swap(2)).ok()));
                if form % 2 == 0 {
                    yield_now();
                }
            });
            let partner = partner.unwrap().join().unwrap();
            assert!(
                ended.is_none() || ended == Some(Some(2)) && partner == Some(1),
                "{way:?}: {ended:?}, {partner:?}"
            );
        }
        let swap = Arc::new(SwapChannel::new());
        let (mine, theirs) = (swap.clone(), swap.clone());
        let first = blocked(move || mine.swap(1));
        let second = spawn(move || theirs.swap(2));
        first.cancel();
        yield_now(); // whichever of the two runs first
        second.cancel();
        let both = (value(first.join()), value(second.join()));
        assert!(matches!(both, (Some(2), Some(1)) | (None, None)), "{both:?}");
    });
}

#[test]
fn an_answer_that_has_come_is_returned() {
    run(1, || {
        let (tx, rx) = lamprey::oneshot();
        let host = blocked(move || rx.recv());
        host.cancel();
        assert_eq!(tx.send(1), Ok(()));
        assert_eq!(value(host.join()), Some(Ok(1)));

        let (client, server) = lamprey::rpc();
        let host = blocked(move || client.call(1));
        let (question, reply) = server.recv().unwrap();
        yield_now();
        host.cancel();
        assert_eq!(reply.send(question + 1), Ok(()));
        assert_eq!(value(host.join()), Some(Ok(2)));
    });
}

/// What only a poll takes is left for the next.
#[test]
fn what_lies_in_a_buffer_stays_or_is_returned() {
    run(1, || {
        for way in WAYS {
            let (tx, rx) = lamprey::bounded(1);
            let (tx, rx) = (Arc::new(tx), Arc::new(rx));
            let theirs = rx.clone();
            let event = choose((future_evt(async move { theirs.recv_async().await.ok() }), never()));
            let ended = decided_late(way, event.boxed(), &mut || tx.send(1).unwrap());
            assert_eq!(rx.try_recv().is_ok(), ended.is_none(), "{way:?}: {ended:?}");

            tx.send(1).unwrap();
            let theirs = tx.clone();
            let event =
                choose((future_evt(async move { theirs.send_async(2).await.ok().map(|()| 2) }), never()));
            let ended = decided_late(way, event.boxed(), &mut || assert_eq!(rx.recv(), Ok(1)));
            assert_eq!(rx.try_recv().is_ok(), ended.is_some(), "{way:?}: {ended:?}");
        }
    });
}

#[test]
fn a_join_that_has_happened() {
    run(1, || {
        let (tx, rx) = channel::<()>();
        let mut inner = spawn(move || rx.recv().is_err());
        let outer = blocked(move || choose((inner.join_evt().wrap(|r| r.is_ok()), never())).sync());
        outer.cancel();
        drop(tx);
        assert!(matches!(value(outer.join()), None | Some(true)));
    });
}

/// The communication that an asynchronous event has begun: taken back, or its result is there.
#[test]
fn an_asynchronous_event_that_has_happened_is_not_taken_back() {
    run(1, || {
        let (tx, rx) = channel();
        let ((), sent) = tx.a_send_evt(1).a_sync();
        assert_eq!(rx.try_recv(), Ok(1));
        assert!(matches!(sent.cancel_and_join(), Ok(Ok(()))));

        let ((), got) = rx.a_recv_evt().a_sync();
        assert_eq!(tx.try_send(2), Ok(()));
        assert!(matches!(got.cancel_and_join(), Ok(Ok(2))));

        for (form, event) in forms(&|| sends(&tx, 3)) {
            let ((), sent) = event.spawn_evt().a_sync();
            let got = rx.try_recv();
            let ended = sent.cancel_and_join();
            assert!(got.is_ok() && matches!(ended, Ok(Some(3))), "{form}: {got:?}, {ended:?}");
        }

        let ((), sent) = tx.a_send_evt(4).a_sync();
        assert!(matches!(sent.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert!(rx.try_recv().is_err());
    });
}

/// What is done with the result is ended, though the communication has happened; a panic of a wrap is heard.
#[test]
fn the_work_of_an_asynchronous_event_is_ended() {
    run(1, || {
        let (tx, rx) = channel();
        let dropped = counter();
        let (worked, theirs) = (counter(), dropped.clone());
        let tick_it = worked.clone();
        let ((), got) = rx.a_recv_evt().a_wrap(move |_| tick(&tick_it)).a_sync();
        assert!(tx.try_send(Counted(theirs)).is_ok());
        assert!(matches!(got.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!((count(&worked), count(&dropped)), (0, 1));

        let panics = rx.into_recv_evt().wrap(|_| panic!("on purpose"));
        let ((), got) = panics.spawn_evt().a_sync();
        assert!(tx.try_send(Counted(dropped)).is_ok());
        assert!(matches!(got.cancel_and_join(), Err::<(), _>(JoinError::Panicked(_))));
    });
}

#[test]
fn a_result_that_has_come_is_returned() {
    run(1, || {
        for in_a_choice in [false, true] {
            let (tx, rx) = channel();
            let ((), got) = rx.a_recv_evt().a_wrap(|got| got.unwrap()).a_sync();
            let host = blocked(move || match in_a_choice {
                true => choose((got, never())).sync(),
                false => got.sync(),
            });
            host.cancel();
            tx.send(1).unwrap();
            // Its turn comes after that of the implicit thread, or it was cancelled.
            assert!(matches!(value(host.join()), None | Some(Ok(1))));
        }
        let (ready, begin) = channel::<()>();
        let ((), got) = spawn_evt(move || begin.recv().is_err()).a_sync();
        let ((), other) = spawn_evt(|| true).a_sync();
        let host = blocked(move || choose_all((got, other)).sync().into_iter().all(Result::unwrap));
        drop(ready);
        assert_eq!(value(host.join()), Some(true));
    });
}

/// What a thread on another worker decides just as the time is over.
#[test]
fn a_choice_with_a_limit_has_happened_or_not() {
    const ROUNDS: u32 = 4000;
    for others in [false, true] {
        run(2, move || {
            let (tx, rx) = channel::<u32>();
            let receiver = Builder::new().worker(1).spawn(move || rx.iter().count()).unwrap();
            let mut sent = 0;
            for n in 0..ROUNDS {
                let event = match others {
                    false => choose((tx.send_evt(n), never())).boxed(),
                    true => choose((tx.send_evt(n), future_evt(pending()))).boxed(),
                };
                let limit = Duration::from_micros(u64::from(n % 40));
                if let Ok(result) = with_timeout(limit, || event.sync()) {
                    result.unwrap();
                    sent += 1;
                }
            }
            drop(tx);
            assert_eq!(receiver.join().unwrap(), sent, "received, though it was not sent");
        });
    }
}

/// The same of a thread outside of every runtime, whose limit or token ends the choice.
#[test]
fn a_choice_of_an_os_thread_has_happened_or_not() {
    const ROUNDS: u32 = 2000;
    let (tx, rx) = channel::<u32>();
    let receiver = std::thread::spawn(move || rx.iter().count());
    let sent = within(crate::common::FOREVER, move || {
        let (mut sent, mut random) = (0, fastrand::Rng::new());
        for n in 0..ROUNDS {
            let event = choose((tx.send_evt(n), never()));
            let result = if n % 2 == 0 {
                with_timeout(Duration::from_micros(random.u64(0..40)), || event.sync()).ok()
            } else {
                let token = CancelToken::new();
                let theirs = token.clone();
                let spins = random.u32(0..2000);
                std::thread::scope(|s| {
                    s.spawn(move || {
                        (0..spins).for_each(|_| std::hint::spin_loop());
                        theirs.cancel();
                    });
                    token.run(|| event.sync()).ok()
                })
            };
            sent += usize::from(result.is_some_and(|sent| sent.is_ok()));
        }
        sent
    });
    assert_eq!(receiver.join().unwrap(), sent, "received, though it was not sent");
}

/// A stackless parasite is dropped where it stands: what it had been given goes back.
#[test]
fn a_parasite_that_is_cancelled_after_the_decision_gives_back() {
    run_at_once(1, || {
        let (tx, rx) = channel();
        for (form, event) in forms(&|| receives(&rx)) {
            let parasite = parasite(async move { event.await.unwrap() });
            let sent = tx.try_send(7).is_ok();
            let ended = value(parasite.cancel_and_join());
            let back = rx.try_recv().ok();
            assert!(
                sent && ended.or(back) == Some(7) && ended.and(back).is_none(),
                "{form}: {ended:?}, {back:?}"
            );
        }
        let (tx, rx): (Sender<u8>, Receiver<u8>) = channel();
        let parasite = parasite_fn(move || choose((rx.recv_evt(), never())).sync());
        assert_eq!(tx.try_send(1), Ok(()));
        drop(parasite);
        eventually("the parasite's end", || tx.try_send(2) == Err(lamprey::TrySendError::Disconnected(2)));
    });
}
