//! Parasites that become hosts, by themselves, by their slice and by a penalty, and their ends; and work that
//! goes to idle workers.

use crate::common::{Counted, FOREVER, count, counter, runtime, with_ever_longer, within, yield_until};
use lamprey::parasite::{inflate, reify};
use lamprey::{
    JoinError, RuntimeBuilder, Stats, ThreadKind, channel, parasite, parasite_fn, parasite_local, spawn,
    yield_now, yield_now_async,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs `main` in a runtime of its own and gives what that has counted.
fn counted(
    workers: usize,
    set: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + Send + 'static,
    main: impl FnOnce() + Send + 'static,
) -> Stats {
    within(FOREVER, move || {
        let builder = lamprey::Runtime::builder().workers(workers).time_slice(Duration::from_millis(2));
        let runtime = set(builder).build().unwrap();
        runtime.run(main);
        runtime.stats()
    })
}

fn compute(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Several time slices of 2 ms.
const LONG: Duration = Duration::from_millis(20);

mod explicit {
    use super::*;

    #[test]
    fn a_stackless_one_goes_on_as_a_host_and_its_spawner_goes_on_first() {
        let stats = counted(
            2,
            |builder| builder,
            || {
                let there = Arc::new(AtomicBool::new(false));
                let theirs = there.clone();
                let handle = parasite(async move {
                    inflate().await;
                    theirs.store(true, Ordering::SeqCst);
                    let (tx, rx) = channel();
                    let sender = spawn(move || (0..10).for_each(|n| tx.send(n).unwrap()));
                    let mut sum = 0;
                    while let Ok(n) = rx.recv_async().await {
                        sum += n;
                    }
                    yield_now_async().await;
                    sender.await.unwrap();
                    sum
                });
                assert_eq!(handle.join().unwrap(), 45);
                assert!(there.load(Ordering::SeqCst));
            },
        );
        assert_eq!(stats.inflated, 1);
    }

    #[test]
    fn twice_is_once() {
        let stats = counted(
            2,
            |builder| builder,
            || {
                let handle = parasite(async {
                    inflate().await;
                    inflate().await;
                    inflate().await;
                    3
                });
                assert_eq!(handle.join().unwrap(), 3);
            },
        );
        assert_eq!(stats.inflated, 1);
    }

    #[test]
    fn a_local_one_stays_and_waits_its_turn_among_the_hosts() {
        let stats = counted(
            2,
            |builder| builder,
            || {
                let worker = lamprey::current().worker();
                let handle = parasite_local(async move {
                    inflate().await;
                    yield_now_async().await;
                    lamprey::current().worker()
                });
                assert_eq!(handle.join().unwrap(), worker);
            },
        );
        assert_eq!(stats.inflated, 0);
    }

    #[test]
    fn a_stackful_one_goes_to_the_queue_and_its_spawner_goes_on_first() {
        let stats = counted(
            1,
            |builder| builder,
            || {
                let there = Arc::new(AtomicBool::new(false));
                let theirs = there.clone();
                let handle = parasite_fn(move || {
                    inflate().sync();
                    theirs.store(true, Ordering::SeqCst);
                    inflate().sync();
                    yield_now();
                    assert_eq!(lamprey::current().kind(), ThreadKind::Parasite);
                    7
                });
                assert!(!there.load(Ordering::SeqCst) && !handle.is_finished());
                assert_eq!(handle.join().unwrap(), 7);
            },
        );
        assert_eq!(stats.inflated, 1);
    }

    #[test]
    fn one_that_was_attached_lets_go_of_whoever_attached_it() {
        let stats = counted(
            1,
            |builder| builder,
            || {
                let ((tx, rx), (back, out)) = (channel::<u8>(), channel::<u8>());
                let handle = parasite_fn(move || {
                    let n = rx.recv().unwrap();
                    inflate().sync();
                    back.send(n).unwrap();
                });
                tx.send(4).unwrap();
                assert_eq!(out.recv(), Ok(4));
                handle.join().unwrap();
            },
        );
        assert_eq!(stats.inflated, 1);
    }

    #[test]
    fn in_a_host_and_on_an_os_thread_it_does_nothing() {
        let stats = counted(
            1,
            |builder| builder,
            || {
                inflate().sync();
                lamprey::wait(inflate());
                spawn(|| inflate().sync()).join().unwrap();
            },
        );
        assert_eq!(stats.inflated, 0);
        inflate().sync();
        lamprey::wait(inflate());
        futures::executor::block_on(inflate());
    }

    #[test]
    fn an_inflated_one_is_cancelled_while_it_waits_runs_and_has_not_begun() {
        counted(
            2,
            |builder| builder,
            || {
                for round in 0..300 {
                    let (drops, begun) = (counter(), Arc::new(AtomicBool::new(false)));
                    let (held, theirs) = (Counted(drops.clone()), begun.clone());
                    let handle = parasite(async move {
                        let _held = held;
                        inflate().await;
                        theirs.store(true, Ordering::SeqCst);
                        if round % 2 == 0 {
                            std::future::pending::<()>().await;
                        }
                        loop {
                            yield_now_async().await;
                        }
                    });
                    if round % 3 != 0 {
                        yield_until("its second life", || begun.load(Ordering::SeqCst));
                    }
                    let result: Result<(), _> = handle.cancel_and_join();
                    assert!(matches!(result, Err(JoinError::Cancelled(_))));
                    assert_eq!(count(&drops), 1);
                }
            },
        );
    }

    #[test]
    fn inflated_ones_end_with_their_runtime() {
        for workers in [1, 2] {
            let drops = counter();
            let theirs = drops.clone();
            counted(
                workers,
                |builder| builder,
                move || {
                    for n in 0..60 {
                        let held = Counted(theirs.clone());
                        let future = async move {
                            let _held = held;
                            inflate().await;
                            std::future::pending::<()>().await;
                        };
                        match n % 3 {
                            0 => parasite(future).detach(),
                            1 => std::mem::forget(parasite(future)),
                            _ => {
                                let held = Counted(theirs.clone());
                                drop(future);
                                parasite_fn(move || {
                                    let _held = held;
                                    inflate().sync();
                                    let (_tx, rx) = channel::<u8>();
                                    let _ = rx.recv();
                                })
                                .detach();
                            }
                        }
                        if n % 2 == 0 {
                            yield_now();
                        }
                    }
                },
            );
            assert_eq!(count(&drops), 80);
        }
    }
}

mod asynchronous {
    use super::*;

    #[test]
    fn a_new_host_attaches_what_was_prepared() {
        let stats = counted(
            2,
            |builder| builder.offering(false),
            || {
                let place = Arc::new(Mutex::new(None));
                let theirs = place.clone();
                let handle =
                    parasite(async move { reify(move |me| *theirs.lock().unwrap() = Some(me)).await + 1 });
                let me = place.lock().unwrap().take().unwrap();
                let host = me.prepare(4).spawn();
                assert_eq!(handle.join().unwrap(), 5);
                host.join().unwrap();
            },
        );
        assert!(stats.hosts >= 2);
    }
}

mod automatic {
    use super::*;

    /// Runs `main` with ever longer computations until at least so many have become hosts.
    fn makes_hosts(least: u64, set: fn(RuntimeBuilder) -> RuntimeBuilder, main: fn(Duration)) {
        with_ever_longer("so many hosts", |long| counted(2, set, move || main(long)).inflated >= least);
    }

    #[test]
    fn one_that_computes_longer_than_its_slice_is_inflated_when_it_is_woken_next() {
        makes_hosts(
            1,
            |builder| builder.offering(false),
            |long| {
                let (tx, rx) = channel::<u8>();
                let handle = parasite(async move {
                    rx.recv_async().await.unwrap();
                    compute(long);
                    rx.recv_async().await.unwrap();
                    1
                });
                tx.send(1).unwrap();
                yield_now();
                tx.send(2).unwrap();
                assert_eq!(handle.join().unwrap(), 1);
            },
        );
    }

    #[test]
    fn the_next_spawns_of_its_spawner_are_hosts() {
        makes_hosts(
            5,
            |builder| builder.offering(false).penalty(5),
            |long| {
                // The first spawn only looks at the clock.
                parasite(async {}).join().unwrap();
                parasite(async move { compute(long) }).join().unwrap();
                let handles: Vec<_> = (0..20).map(|n| parasite(async move { n })).collect();
                let fns: Vec<_> = (0..20).map(|n| parasite_fn(move || n)).collect();
                let sum: u32 = handles.into_iter().chain(fns).map(|handle| handle.join().unwrap()).sum();
                assert_eq!(sum, 380);
            },
        );
    }

    #[test]
    fn stackful_spawns_are_hosts_too_after_a_long_one() {
        makes_hosts(
            5,
            |builder| builder.offering(false).penalty(5),
            |long| {
                parasite_fn(|| ()).join().unwrap();
                parasite_fn(move || compute(long)).join().unwrap();
                let drops = counter();
                let fns: Vec<_> = (0..20)
                    .map(|n| {
                        let held = Counted(drops.clone());
                        parasite_fn(move || {
                            let _held = held;
                            n
                        })
                    })
                    .collect();
                let sum: u32 = fns.into_iter().map(|handle| handle.join().unwrap()).sum();
                assert_eq!((sum, count(&drops)), (190, 20));
            },
        );
    }

    #[test]
    fn a_stackful_one_that_is_a_host_by_penalty_is_cancelled_before_and_after_it_begins() {
        counted(
            2,
            |builder| builder.offering(false).penalty(100),
            || {
                for round in 0..20 {
                    parasite_fn(|| ()).join().unwrap();
                    parasite_fn(|| compute(LONG)).join().unwrap();
                    let drops = counter();
                    let handles: Vec<_> = (0..50)
                        .map(|_| {
                            let held = Counted(drops.clone());
                            parasite_fn(move || {
                                let _held = held;
                                let (_tx, rx) = channel::<u8>();
                                let _ = rx.recv();
                            })
                        })
                        .collect();
                    (0..round % 4).for_each(|_| yield_now());
                    handles.into_iter().for_each(drop);
                    yield_until("their ends", || count(&drops) == 50);
                }
            },
        );
    }

    #[test]
    fn it_is_turned_off_in_the_builder() {
        let stats = counted(
            2,
            |builder| builder.offering(false).inflation(false),
            || {
                for _ in 0..3 {
                    parasite(async { compute(LONG) }).join().unwrap();
                    parasite_fn(|| compute(LONG)).join().unwrap();
                }
                let (tx, rx) = channel::<u8>();
                let handle = parasite(async move {
                    while rx.recv_async().await.is_ok() {
                        compute(LONG);
                    }
                });
                (0..3).for_each(|n| tx.send(n).unwrap());
                drop(tx);
                handle.join().unwrap();
            },
        );
        assert_eq!((stats.inflated, stats.offered), (0, 0), "{stats:?}");
    }

    #[test]
    fn a_penalty_of_nothing_makes_no_hosts() {
        let stats = counted(
            2,
            |builder| builder.offering(false).penalty(0),
            || {
                for _ in 0..3 {
                    parasite(async { compute(LONG) }).join().unwrap();
                    assert!(parasite(async {}).is_finished());
                }
            },
        );
        assert_eq!(stats.inflated, 0, "{stats:?}");
    }
}

mod offering {
    use super::*;

    /// A tree of parasites that compute a little; gives the workers that took part.
    async fn tree(depth: u32, seen: Arc<Mutex<HashSet<usize>>>) -> u64 {
        if depth == 0 {
            compute(Duration::from_micros(20));
            let worker = lamprey::current().worker().unwrap();
            seen.lock().unwrap().insert(worker);
            return 1;
        }
        let children: Vec<_> = (0..2).map(|_| parasite(boxed(depth - 1, seen.clone()))).collect();
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap();
        }
        sum
    }

    fn boxed(
        depth: u32,
        seen: Arc<Mutex<HashSet<usize>>>,
    ) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
        Box::pin(tree(depth, seen))
    }

    #[test]
    fn gives_work_to_an_idle_worker() {
        within(FOREVER, || {
            let builder = lamprey::Runtime::builder().workers(2).time_slice(Duration::from_millis(2));
            let runtime = builder.inflation(false).build().unwrap();
            // Now and then the other worker takes what it finds ready, before it is offered something.
            while runtime.stats().offered == 0 {
                runtime.run(|| assert_eq!(parasite(tree(10, Arc::default())).join().unwrap(), 1024));
            }
        });
    }

    #[test]
    fn is_turned_off_in_the_builder() {
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let theirs = seen.clone();
        let stats = counted(
            2,
            |builder| builder.inflation(false).offering(false),
            move || {
                (0..5).for_each(|_| assert_eq!(parasite(tree(8, theirs.clone())).join().unwrap(), 256));
            },
        );
        assert_eq!((stats.offered, seen.lock().unwrap().len()), (0, 1), "{stats:?}");
    }

    #[test]
    fn never_moves_a_local_one() {
        counted(
            2,
            |builder| builder,
            || {
                let here = std::thread::current().id();
                for _ in 0..2000 {
                    let handle = parasite_local(async move {
                        compute(Duration::from_micros(5));
                        yield_now_async().await;
                        std::thread::current().id()
                    });
                    assert_eq!(handle.join().unwrap(), here);
                }
            },
        );
    }

    #[test]
    fn what_is_deposited_ends_with_its_runtime() {
        within(FOREVER, || {
            for _ in 0..50 {
                let (drops, started) = (counter(), counter());
                let (theirs, begun) = (drops.clone(), started.clone());
                let runtime = runtime(2);
                runtime.run(move || {
                    for _ in 0..200 {
                        let held = Counted(theirs.clone());
                        crate::common::tick(&begun);
                        parasite(async move {
                            let _held = held;
                            compute(Duration::from_micros(10));
                            std::future::pending::<()>().await;
                        })
                        .detach();
                    }
                });
                drop(runtime);
                assert_eq!(count(&drops), count(&started));
            }
        });
    }
}
