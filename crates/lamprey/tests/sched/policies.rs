//! The policies that come with the crate, and what a policy is asked: parasites, places, idleness.

use crate::common::{FOREVER, within};
use lamprey::policy::{
    EarliestDeadline, Fifo, Hybrid, Idle, Lifo, NewThread, Parasites, Place, Priority, Random, Workers,
};
use lamprey::{
    Builder, JoinError, Policy, Ready, Runtime, ThreadKind, Unstarted, Why, bounded, channel, current,
    parasite, parasite_fn, sleep, spawn, yield_now, yield_now_async,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn with<P: Policy>(workers: usize, make: impl Fn() -> P + Send + Sync + 'static) -> Runtime {
    Runtime::builder().workers(workers).policy(make).build().unwrap()
}

/// One runtime for each policy.
fn all(workers: usize) -> Vec<(&'static str, Runtime)> {
    let mut all = vec![
        ("fifo", with(workers, Fifo::default)),
        ("lifo", with(workers, Lifo::default)),
        ("priority", with(workers, Priority::default)),
        ("deadline", with(workers, EarliestDeadline::default)),
        ("hybrid", with(workers, Hybrid::default)),
        ("hybrid of 0", with(workers, || Hybrid::with_overtaking(0))),
    ];
    all.extend((0..4).map(|seed| ("random", with(workers, move || Random::seeded(seed)))));
    all
}

/// Numbers go through hosts, parasites with and without a stack, yields, sleeps, and parasites of parasites. Their
/// sum.
fn mixed() -> u64 {
    let (tx, rx) = bounded(4);
    let (back, answers) = channel::<u64>();
    let mut parasites: Vec<_> = (0..20)
        .map(|n| {
            let (rx, back) = (rx.clone(), back.clone());
            Builder::new().priority(n % 3).class(n as u32).parasite(async move {
                while let Ok(number) = rx.recv_async().await {
                    if number % 3 == 0 {
                        yield_now_async().await;
                    }
                    back.send_async(number).await.unwrap();
                }
            })
        })
        .map(Result::unwrap)
        .collect();
    parasites.extend((0..10).map(|n| {
        let (rx, back) = (rx.clone(), back.clone());
        Builder::new()
            .priority(n % 2)
            .parasite_fn(move || {
                while let Ok(number) = rx.recv() {
                    let back = back.clone();
                    parasite_fn(move || back.send(number).unwrap()).detach();
                    yield_now();
                }
            })
            .unwrap()
    }));
    drop((rx, back));
    let senders: Vec<_> = (0..10)
        .map(|n| {
            let tx = tx.clone();
            let deadline = Instant::now() + Duration::from_millis(n);
            Builder::new().deadline(deadline).affinity(n % 2).spawn(move || {
                for number in 0..50 {
                    if number % 17 == 0 {
                        sleep(Duration::from_micros(number * n));
                    }
                    tx.send(number).unwrap();
                }
            })
        })
        .map(Result::unwrap)
        .collect();
    drop(tx);
    let sum = answers.iter().sum();
    senders.into_iter().for_each(|host| host.join().unwrap());
    parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
    sum
}

#[test]
fn a_program_of_hosts_and_parasites_runs_under_every_policy() {
    within(FOREVER, || {
        for workers in [1, 2] {
            for (name, runtime) in all(workers) {
                for _ in 0..3 {
                    assert_eq!(runtime.run(mixed), 12_250, "{name}, {workers} workers");
                }
            }
        }
    });
}

#[test]
fn a_runtime_ends_with_blocked_and_ready_parasites_under_every_policy() {
    struct Ends(Arc<Mutex<u32>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    within(FOREVER, || {
        for workers in [1, 2] {
            for (name, runtime) in all(workers) {
                let ended = Arc::new(Mutex::new(0));
                let theirs = ended.clone();
                runtime.run(move || {
                    let (tx, rx) = channel::<()>();
                    for n in 0..30 {
                        let (ends, rx) = (Ends(theirs.clone()), rx.clone());
                        match n % 3 {
                            0 => parasite(async move {
                                let _ends = ends;
                                rx.recv_async().await
                            })
                            .detach(),
                            1 => parasite(async move {
                                let _ends = ends;
                                loop {
                                    yield_now_async().await;
                                }
                            })
                            .detach(),
                            _ => parasite_fn(move || {
                                let _ends = ends;
                                rx.recv()
                            })
                            .detach(),
                        }
                    }
                    sleep(Duration::from_millis(2));
                    std::mem::forget(tx);
                });
                drop(runtime);
                assert_eq!(*ended.lock().unwrap(), 30, "{name}, {workers} workers");
            }
        }
    });
}

#[test]
fn parasites_are_cancelled_under_every_policy() {
    within(FOREVER, || {
        for (name, runtime) in all(1) {
            runtime.run(|| {
                let (_tx, rx) = channel::<()>();
                let theirs = rx.clone();
                let stackless = parasite(async move { theirs.recv_async().await });
                assert!(matches!(stackless.cancel_and_join(), Err(JoinError::Cancelled(_))), "{name}");
                let stackful = parasite_fn(move || rx.recv());
                assert!(matches!(stackful.cancel_and_join(), Err(JoinError::Cancelled(_))), "{name}");
            });
        }
    });
}

/// What `wake` wakes, in the order in which it runs, on one worker. Each thread says its number when it has been
/// woken.
fn order_of_woken(runtime: &Runtime, builder: impl Fn(i32) -> Builder + Send + 'static) -> Vec<i32> {
    runtime.run(move || {
        let (go, order) = (Vec::new(), Arc::new(Mutex::new(Vec::new())));
        let (mut go, mut threads) = (go, Vec::new());
        for n in 0..9 {
            let ((tx, rx), order) = (lamprey::oneshot::<()>(), order.clone());
            go.push(tx);
            threads.push(match n % 3 {
                0 => {
                    let said = async move {
                        rx.await.unwrap();
                        order.lock().unwrap().push(n);
                    };
                    builder(n).parasite(said).unwrap()
                }
                1 => builder(n)
                    .parasite_fn(move || {
                        rx.recv().unwrap();
                        order.lock().unwrap().push(n);
                    })
                    .unwrap(),
                _ => {
                    let host = builder(n).spawn(move || {
                        rx.recv().unwrap();
                        order.lock().unwrap().push(n);
                    });
                    parasite(async move { host.unwrap().await.unwrap() })
                }
            });
        }
        sleep(Duration::from_millis(5)); // the hosts have blocked
        go.into_iter().for_each(|tx| tx.send(()).unwrap());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        Arc::into_inner(order).unwrap().into_inner().unwrap()
    })
}

#[test]
fn hosts_and_parasites_have_one_order() {
    within(FOREVER, || {
        let named = |n: i32| Builder::new().name(n.to_string());
        assert_eq!(order_of_woken(&with(1, Fifo::default), named), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(order_of_woken(&with(1, Lifo::default), named), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let by_priority = |n: i32| Builder::new().priority((n * 5) % 9);
        let mut expected: Vec<i32> = (0..9).collect();
        expected.sort_by_key(|n| -((n * 5) % 9));
        assert_eq!(order_of_woken(&with(1, Priority::default), by_priority), expected);
        let now = Instant::now();
        let by_deadline = move |n: i32| {
            let seconds = 100 + (n as u64 * 5) % 9;
            Builder::new().deadline(now + Duration::from_secs(seconds))
        };
        expected.reverse();
        assert_eq!(order_of_woken(&with(1, EarliestDeadline::default), by_deadline), expected);
    });
}

#[test]
fn a_seed_decides_the_order() {
    within(FOREVER, || {
        let order = |seed| order_of_woken(&with(1, move || Random::seeded(seed)), |_| Builder::new());
        assert_eq!(order(1), order(1));
        assert!((2..20).any(|seed| order(seed) != order(1)));
    });
}

type Entry = (ThreadKind, Option<String>, u32, Why);

/// Notes what comes to a policy, parasites as well.
#[derive(Default)]
struct Watching<P>(P, Arc<Mutex<Vec<Entry>>>);

impl<P: Policy> Policy for Watching<P> {
    fn ready(&mut self, thread: Ready, why: Why) {
        let name = thread.name().map(str::to_owned);
        self.1.lock().unwrap().push((thread.kind(), name, thread.hints().class, why));
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.next(unstarted)
    }
    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

#[test]
fn a_policy_sees_parasites_with_what_was_said_of_them() {
    let seen = Arc::default();
    let theirs = Arc::clone(&seen);
    let runtime = with(1, move || Watching(Fifo::default(), Arc::clone(&theirs)));
    runtime.run(|| {
        let (tx, rx) = channel::<u32>();
        let theirs = rx.clone();
        let stackless = Builder::new().name("stackless").class(7).parasite(async move {
            yield_now_async().await;
            theirs.recv_async().await
        });
        let stackful = Builder::new().name("stackful").class(8).parasite_fn(move || rx.recv());
        sleep(Duration::from_millis(1)); // both have blocked
        (0..2).for_each(|n| tx.send(n).unwrap());
        stackless.unwrap().join().unwrap().unwrap();
        stackful.unwrap().join().unwrap().unwrap();
    });
    let seen = seen.lock().unwrap();
    for (name, class, why) in
        [("stackless", 7, Why::Yielded), ("stackless", 7, Why::Woken), ("stackful", 8, Why::Woken)]
    {
        let entry = (ThreadKind::Parasite, Some(name.to_owned()), class, why);
        assert!(seen.contains(&entry), "{entry:?} not in {seen:?}");
    }
}

#[test]
fn the_default_policy_within_another_takes_parasites_too() {
    with(1, Watching::<Hybrid>::default).run(|| {
        let (tx, rx) = channel::<u32>();
        let theirs = rx.clone();
        let stackless = parasite(async move {
            yield_now_async().await;
            theirs.recv_async().await
        });
        let host = spawn(move || rx.recv());
        (0..2).for_each(|n| tx.send(n).unwrap());
        assert_eq!(stackless.join().unwrap().unwrap() + host.join().unwrap().unwrap(), 1);
    });
}

/// Threads of one group start on one worker.
#[derive(Default)]
struct Grouped(Fifo);

impl Policy for Grouped {
    fn ready(&mut self, thread: Ready, why: Why) {
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.next(unstarted)
    }
    fn place(&mut self, new: &NewThread<'_>, workers: &Workers<'_>) -> Place {
        assert!(
            workers.here() < workers.len() && (0..workers.len()).all(|worker| workers.hosts(worker) < 1000)
        );
        match (new.name(), new.hints().affinity) {
            (Some("here"), _) => Place::Here,
            (Some("nowhere"), _) => Place::On(1000),
            (_, Some(group)) => Place::On(group as usize % workers.len()),
            _ => Place::Anywhere,
        }
    }
}

#[test]
fn a_policy_places_hosts() {
    within(FOREVER, || {
        let runtime = with(3, Grouped::default);
        runtime.run(|| {
            let here = current().worker().unwrap();
            let on = |builder: Builder| builder.spawn(|| current().worker().unwrap()).unwrap();
            let grouped: Vec<_> = (0..60).map(|n| (n, on(Builder::new().affinity(n)))).collect();
            let stay: Vec<_> = (0..60).map(|_| on(Builder::new().name("here"))).collect();
            let anywhere: Vec<_> = (0..60).map(|_| on(Builder::new().name("nowhere"))).collect();
            let usual: Vec<_> = (0..60).map(|_| spawn(yield_now)).collect();
            // The kernel thread is held up: what may be taken is taken.
            std::thread::sleep(Duration::from_millis(20));
            for (n, host) in grouped {
                assert_eq!(host.join().unwrap(), n as usize % 3);
            }
            stay.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), here));
            assert!(anywhere.into_iter().all(|host| host.join().unwrap() < 3));
            usual.into_iter().for_each(|host| host.join().unwrap());
            // The program's own word stands.
            let asked = Builder::new().affinity(1).worker(2).spawn(|| current().worker().unwrap());
            assert_eq!(asked.unwrap().join().unwrap(), 2);
            // From outside.
            let handle = lamprey::Handle::current().unwrap();
            let outside = std::thread::spawn(move || {
                Builder::new().affinity(4).spawn_in(&handle, || current().worker().unwrap()).unwrap()
            });
            assert_eq!(lamprey::block(|| outside.join().unwrap()).join().unwrap(), 1);
        });
    });
}

/// Says what a worker without work does.
struct Idles(Fifo, Idle);

impl Policy for Idles {
    fn ready(&mut self, thread: Ready, why: Why) {
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.next(unstarted)
    }
    fn idle(&mut self) -> Idle {
        self.1
    }
}

#[test]
fn a_policy_says_what_idle_workers_do() {
    within(FOREVER, || {
        let for_ever = Idle::Spin(Duration::MAX);
        for idle in [Idle::LookForWork, Idle::Spin(Duration::from_micros(100)), Idle::Sleep, for_ever] {
            let runtime = with(2, move || Idles(Fifo::default(), idle));
            assert_eq!(runtime.run(mixed), 12_250, "{idle:?}");
            // Messages between the two workers, each of which sleeps meanwhile.
            runtime.run(|| {
                let (tx, rx) = channel();
                let there = Builder::new().worker(1).spawn(move || {
                    for n in 0..20 {
                        sleep(Duration::from_micros(200));
                        tx.send(n).unwrap();
                    }
                });
                assert_eq!(rx.iter().sum::<u32>(), 190);
                there.unwrap().join().unwrap();
            });
        }
    });
}
