//! `choose_all`, alone and as a branch, each case by its moment.

use lamprey::event::{Event, always, choose, choose_all, future_evt, never, prefer, timeout, with_nack};
use lamprey::{Receiver, RecvError, Runtime, Sender, channel, parasite, run, spawn, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(3);

/// Runs `f` on an OS thread, on a host, and in a stackful parasite.
fn everywhere(f: impl Fn() + Send + Sync + Copy + 'static) {
    f();
    run(f);
    run(move || lamprey::parasite_fn(f).join().unwrap());
}

fn channels<T>(n: usize) -> (Vec<Sender<T>>, Vec<Receiver<T>>) {
    (0..n).map(|_| channel()).unzip()
}

fn receives<T>(receivers: &[Receiver<T>]) -> Vec<lamprey::RecvEvt<&Receiver<T>>> {
    receivers.iter().map(Receiver::recv_evt).collect()
}

/// As in the paper's form, where each part is a parasite of its own (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
/// *Lightweight Asynchrony Using Parasitic Threads*, 2011, Figure 5).
#[test]
fn parts_meet_each_other_in_every_form_of_a_synchronisation() {
    let parts = |(tx, rx): (Sender<u8>, Receiver<u8>)| {
        vec![
            tx.into_send_evt(1).wrap(|sent| sent.is_ok()).boxed(),
            rx.into_recv_evt().wrap(|got| got == Ok(1)).boxed(),
        ]
    };
    everywhere(move || {
        assert_eq!(choose_all(parts(channel())).sync(), [true, true]);
        assert_eq!(choose_all(parts(channel())).wrap(|all| all).sync(), [true, true]);
        assert_eq!(choose_all(parts(channel())).boxed().sync(), [true, true]);
        assert_eq!(lamprey::event::guard(|| choose_all(parts(channel()))).sync(), [true, true]);
        assert_eq!(lamprey::wait(choose_all(parts(channel())).wrap(|all| all).boxed()), [true, true]);
    });
}

#[test]
fn of_nothing_is_nothing() {
    everywhere(|| {
        assert!(choose_all(Vec::<lamprey::event::Always<u8>>::new()).sync().is_empty());
        assert!(choose((choose_all([] as [lamprey::event::Always<u8>; 0]), never())).sync().is_empty());
    });
}

#[test]
fn what_is_ready_is_taken_at_once_in_order() {
    everywhere(|| {
        assert_eq!(choose_all([always(1), always(2), always(3)]).sync(), [1, 2, 3]);
        assert_eq!(choose_all((always(1), always(2).wrap(|n| n + 1))).poll(), Some(vec![1, 3]));
        assert_eq!(lamprey::wait(choose_all([always(1), always(2)])), [1, 2]);
    });
}

#[test]
fn results_are_in_order_whoever_is_first() {
    everywhere(|| {
        for round in 0..50 {
            let (senders, receivers) = channels(8);
            let sender = std::thread::spawn(move || {
                (0..8).map(|n| (n * 3 + round) % 8).for_each(|at| senders[at].send(at).unwrap());
            });
            let expected: Vec<_> = (0..8).map(Ok).collect();
            match round % 3 {
                0 => assert_eq!(choose_all(receives(&receivers)).sync(), expected),
                1 => assert_eq!(lamprey::wait(choose_all(receives(&receivers))), expected),
                _ => assert_eq!(choose_all(receives(&receivers)).sync_timeout(LONG), Some(expected)),
            }
            sender.join().unwrap();
        }
    });
}

#[test]
fn sends_and_receives_together() {
    run(|| {
        let ((a, from_a), (b, from_b)) = (channel(), channel());
        let echo = spawn(move || b.send(from_a.recv().unwrap() + 1).unwrap());
        let both = choose_all((
            from_b.recv_evt().wrap(Result::ok),
            a.send_evt(1).wrap(|sent| sent.ok().map(|()| 0)),
        ));
        assert_eq!(both.sync(), [Some(2), Some(0)]);
        echo.join().unwrap();
    });
}

#[test]
fn one_that_has_not_begun_loses_as_a_whole() {
    everywhere(|| {
        let (senders, receivers) = channels::<u8>(3);
        let all = choose_all(receives(&receivers));
        assert!(choose((all.wrap(Some), timeout(SHORT).wrap(|()| None))).sync().is_none());
        assert!(choose_all(receives(&receivers)).poll().is_none());
        assert_eq!(prefer((always(vec![]), choose_all(receives(&receivers)))).sync(), []);
        assert!(senders.iter().all(|tx| tx.try_send(1).is_err()), "an offer is still out");
    });
}

#[test]
fn the_first_that_happens_decides_and_the_rest_is_waited_for() {
    everywhere(|| {
        let (senders, receivers) = channels(2);
        let start = Instant::now();
        let sender = std::thread::spawn(move || {
            senders[1].send(2).unwrap();
            std::thread::sleep(4 * SHORT);
            senders[0].send(1).unwrap();
        });
        // The limit passes between the two.
        let all = choose((choose_all(receives(&receivers)).wrap(Some), timeout(LONG).wrap(|()| None)));
        assert_eq!(all.sync_timeout(LONG), Some(Some(vec![Ok(1), Ok(2)])));
        assert!(start.elapsed() >= 4 * SHORT);
        sender.join().unwrap();
    });
}

#[test]
fn a_closed_channel_is_a_result() {
    everywhere(|| {
        let (mut senders, receivers) = channels(2);
        let sender = std::thread::spawn(move || {
            drop(senders.pop());
            senders[0].send(1).unwrap();
        });
        assert_eq!(choose_all(receives(&receivers)).sync(), [Ok(1), Err(RecvError)]);
        sender.join().unwrap();
    });
}

/// The part's wrap answers, and without the answer the other part never comes.
#[test]
fn a_wrap_runs_while_the_others_are_waited_for() {
    for workers in 1..=2 {
        Runtime::builder().workers(workers).build().unwrap().run(|| {
            let ((ask, asked), (answer, answers)) = (channel(), channel());
            let (done, is_done) = channel();
            let client = spawn(move || {
                ask.send(20).unwrap();
                let answer = answers.recv().unwrap();
                done.send(answer + 1).unwrap();
            });
            let serve = asked.recv_evt().wrap(|n| answer.send(n.unwrap() + 1).map(|()| 0).unwrap());
            assert_eq!(choose_all((is_done.recv_evt().wrap(Result::unwrap), serve)).sync(), [22, 0]);
            client.join().unwrap();
        });
    }
}

/// The second of the one comes only after the second of the other.
#[test]
fn one_within_another_waits_for_all_at_once() {
    everywhere(|| {
        let (senders, receivers) = channels(4);
        let sender =
            std::thread::spawn(move || [0, 2, 3, 1].into_iter().for_each(|at| senders[at].send(at).unwrap()));
        let pairs = receivers.chunks(2).map(|pair| choose_all(receives(pair)));
        let all = choose_all(pairs.collect::<Vec<_>>());
        assert_eq!(all.sync(), [[Ok(0), Ok(1)], [Ok(2), Ok(3)]]);
        sender.join().unwrap();
    });
}

#[test]
fn nacks_happen_if_it_is_not_chosen_and_not_if_it_is() {
    everywhere(|| {
        let nacks = Mutex::new(Vec::new());
        let told = |event: lamprey::event::BoxedEvent<'static, u8>| {
            with_nack(|nack| {
                nacks.lock().unwrap().push(nack);
                event
            })
        };
        let fired = || Vec::from_iter(nacks.lock().unwrap().drain(..).map(|nack| nack.poll().is_some()));
        assert_eq!(
            choose_all([told(always(1).boxed()), told(timeout(SHORT).wrap(|()| 2).boxed())]).sync(),
            [1, 2]
        );
        assert_eq!(fired(), [false, false]);
        let never_begun = || choose_all([told(never().boxed()), told(never().boxed())]);
        assert_eq!(prefer((never_begun(), always(vec![]))).sync(), [0; 0]);
        assert_eq!(never_begun().sync_timeout(SHORT), None);
        assert_eq!(never_begun().poll(), None);
        assert_eq!(fired(), [true; 6]);
        let (tx, rx) = channel();
        let sender = std::thread::spawn(move || tx.send(3));
        let first = choose((told(never().boxed()), rx.recv_evt().wrap(Result::unwrap)));
        assert_eq!(choose((choose_all([first]), never())).sync(), [3]);
        assert_eq!(fired(), [true]);
        sender.join().unwrap().unwrap();
    });
}

/// The nack of a choice inside is heard though the other part has not happened: else that would not happen.
#[test]
fn a_nack_inside_is_not_kept_back_until_the_end() {
    run(|| {
        let ((tx, rx), (told, heard)) = (channel(), channel());
        let server = with_nack(move |nack| {
            spawn(move || {
                nack.sync();
                told.send(2).unwrap();
            });
            never()
        });
        let first = choose((server, rx.recv_evt().wrap(Result::unwrap)));
        spawn(move || tx.send(1));
        assert_eq!(choose_all((first, heard.recv_evt().wrap(Result::unwrap))).sync(), [1, 2]);
    });
}

#[test]
fn time_and_futures_take_part() {
    everywhere(|| {
        let (tx, rx) = channel();
        let start = Instant::now();
        let sender = std::thread::spawn(move || tx.send(3));
        let all = choose_all((
            timeout(SHORT).wrap(|()| 1),
            future_evt(async {
                lamprey::sleep_async(SHORT).await;
                2
            }),
            rx.recv_evt().wrap(Result::unwrap),
            choose((timeout(LONG), timeout(2 * SHORT))).wrap(|()| 4),
        ));
        assert_eq!(all.sync(), [1, 2, 3, 4]);
        assert!(start.elapsed() >= 2 * SHORT);
        sender.join().unwrap().unwrap();
    });
}

#[test]
fn awaited_in_parasites_and_by_another_executor() {
    run(|| {
        let (senders, receivers) = channels(3);
        let p = parasite(async move {
            let first = choose_all(receives(&receivers)).await;
            let second = choose((choose_all(receives(&receivers)), timeout(LONG).wrap(|()| vec![]))).await;
            (first, second)
        });
        for n in 0..2 {
            senders.iter().rev().for_each(|tx| tx.send(n).unwrap());
        }
        assert_eq!(p.join().unwrap(), (vec![Ok(0); 3], vec![Ok(1); 3]));
    });
    let (senders, receivers) = channels(3);
    let sender = std::thread::spawn(move || senders.iter().rev().for_each(|tx| tx.send(1).unwrap()));
    let got = futures::executor::block_on(async { choose_all(receives(&receivers)).await });
    assert_eq!(got, [Ok(1); 3]);
    sender.join().unwrap();
}

/// Dropped after the first part has happened: what was received goes back.
#[test]
fn given_up_half_way_it_hands_plain_values_back() {
    run(|| {
        let (senders, receivers) = channels(2);
        let theirs = receivers.clone();
        let waits = parasite(async move { choose_all(receives(&theirs)).await });
        senders[0].send(7).unwrap();
        yield_now();
        assert!(!waits.is_finished());
        drop(waits);
        assert_eq!(receivers[0].recv(), Ok(7));
        assert!(senders[1].try_send(8).is_err(), "an offer is still out");
    });
}

#[test]
fn a_host_that_is_cancelled_half_way_takes_its_offers_back() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (senders, receivers) = channels(2);
    let (give, given) = std::sync::mpsc::channel();
    let tx = senders[0].clone();
    runtime.run(move || {
        drop(spawn(move || {
            let nacked = with_nack(move |nack| {
                give.send(nack).unwrap();
                never()
            });
            choose_all((receivers[0].recv_evt(), receivers[1].recv_evt(), nacked)).sync()
        }));
        tx.send(7).unwrap();
        yield_now();
    });
    let nack = given.recv().unwrap();
    assert!(nack.clone().poll().is_none());
    drop(runtime);
    assert!(nack.poll().is_some());
    assert!(senders.iter().all(|tx| tx.send(1).is_err()));
}

#[test]
fn a_panic_in_a_wrap_is_the_callers() {
    run(|| {
        let (senders, receivers) = channels::<u8>(2);
        let sender = senders[0].clone();
        spawn(move || sender.send(1));
        let event = choose_all((
            receivers[0].recv_evt().wrap(|got| -> u8 { panic!("wrapped {}", got.unwrap()) }),
            receivers[1].recv_evt().wrap(Result::unwrap),
        ));
        let caught = catch_unwind(AssertUnwindSafe(|| event.sync())).unwrap_err();
        assert_eq!(caught.downcast_ref::<String>().unwrap(), "wrapped 1");
        assert!(senders[1].try_send(1).is_err(), "an offer is still out");
    });
}

/// While it unwinds, a host does not wait: what can fail does.
#[test]
fn in_a_destructor_of_a_panic_it_fails() {
    struct OnDrop<F: FnMut()>(F);
    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    run(|| {
        let (_senders, receivers) = channels::<u8>(2);
        let mut got = Vec::new();
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _on_drop = OnDrop(|| got = choose_all(receives(&receivers)).sync());
            panic!("on purpose");
        }));
        assert_eq!(got, [Err(RecvError); 2]);
    });
}

/// Two that want the same values, as the producers come: each value reaches one of them.
#[test]
fn several_at_the_same_channels_share_the_values() {
    const N: usize = 6;
    const ROUNDS: u64 = if cfg!(miri) { 5 } else { 2000 };
    for workers in 1..=2 {
        Runtime::builder().workers(workers).build().unwrap().run(|| {
            let (senders, receivers) = channels::<u64>(N);
            let consumers: Vec<_> = (0..2)
                .map(|odd| {
                    let receivers = receivers.clone();
                    spawn(move || {
                        let all = || choose_all(receives(&receivers));
                        let sum = |got: Vec<Result<u64, _>>| got.into_iter().map(Result::unwrap).sum::<u64>();
                        (0..ROUNDS)
                            .map(|_| sum(if odd == 1 { all().sync() } else { lamprey::wait(all()) }))
                            .sum()
                    })
                })
                .collect();
            for tx in senders {
                spawn(move || (0..2 * ROUNDS).for_each(|n| tx.send(n).unwrap()));
            }
            let sum: u64 =
                consumers.into_iter().map(|host: lamprey::JoinHandle<u64>| host.join().unwrap()).sum();
            assert_eq!(sum, N as u64 * (2 * ROUNDS) * (2 * ROUNDS - 1) / 2);
        });
    }
}

/// Waits when it is dropped, for what comes by itself.
struct Pauses(Receiver<u32>);

impl Drop for Pauses {
    fn drop(&mut self) {
        let started = Instant::now();
        let pause = || timeout(SHORT).wrap(|()| 1);
        assert_eq!(choose_all([pause(), pause()]).sync(), [1, 1]);
        assert_eq!(choose_all((pause(), always(3))).sync(), [1, 3]);
        assert_eq!(choose((choose_all([pause()]), never())).sync(), [1]);
        assert!(started.elapsed() >= 3 * SHORT);
        assert_eq!(choose_all([self.0.recv_evt()]).sync(), [Err(RecvError)]);
    }
}

#[test]
fn a_host_that_unwinds_waits_for_what_comes_by_itself() {
    run(|| {
        let (tx, rx) = channel();
        let host = spawn(move || {
            let _pauses = Pauses(rx);
            lamprey::sleep(Duration::MAX);
        });
        yield_now();
        host.cancel();
        assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))));
        drop(tx);
    });
}
