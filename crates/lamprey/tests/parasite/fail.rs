//! What goes wrong in a parasite stays in it: panics, ends of runtimes, wild destructors.

use crate::common::{
    Counted, FOREVER, again, count, counter, outcome, rerun, role, run, run_at_once, runtime, tick, within,
    yield_until,
};
use lamprey::parasite::{Parasite, inflate, reify};
use lamprey::{
    JoinError, ParasiteHandle, channel, parasite, parasite_fn, parasite_fn_local, parasite_local, sleep,
    spawn, wait, yield_now, yield_now_async,
};
use std::future::{Future, pending, poll_fn};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Count = Arc<AtomicUsize>;

/// The text that it panicked with.
#[track_caller]
fn panicked<T>(result: Result<T, JoinError>) -> &'static str {
    match result {
        Err(JoinError::Panicked(payload)) => payload.downcast_ref::<&'static str>().expect("a text"),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it has a value"),
    }
}

/// Panics when it is dropped, unless that is during a panic.
struct Wild(Count);

impl Drop for Wild {
    fn drop(&mut self) {
        tick(&self.0);
        if !std::thread::panicking() {
            panic!("a wild destructor");
        }
    }
}

/// Runs `code` when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn at_end<F: FnMut() + Send>(code: F) -> AtEnd<F> {
    AtEnd(code)
}

mod a_panic {
    use super::*;

    #[test]
    fn at_the_first_poll_reaches_the_handle_and_not_the_spawner() {
        run(1, || {
            let drops = counter();
            let held = Counted(drops.clone());
            let handle: ParasiteHandle<()> = parasite(async move {
                let _held = held;
                panic!("at once");
            });
            assert!(handle.is_finished());
            assert_eq!((panicked(handle.join()), count(&drops)), ("at once", 1));
            assert_eq!(panicked(parasite_fn(|| -> u8 { panic!("at once") }).join()), "at once");
            assert_eq!(
                panicked(
                    parasite_local(async {
                        if true {
                            panic!("local")
                        }
                    })
                    .join()
                ),
                "local"
            );
            assert_eq!(
                panicked(
                    parasite_fn_local(|| if true {
                        panic!("local")
                    })
                    .join()
                ),
                "local"
            );
        });
    }

    #[test]
    fn after_a_block_reaches_the_handle_and_not_whoever_unblocked_it() {
        for (workers, inline) in [(1, false), (1, true), (2, false), (2, true)] {
            run(workers, move || {
                let make = if inline { lamprey::channel_attach_inline } else { channel };
                let ((tx, rx), (tx2, rx2)) = (make(), make());
                let stackless: ParasiteHandle<()> = parasite(async move {
                    let _: u8 = rx.recv_async().await.unwrap();
                    panic!("later");
                });
                let stackful: ParasiteHandle<()> = parasite_fn(move || {
                    let _: u8 = rx2.recv().unwrap();
                    panic!("later");
                });
                tx.send(1).unwrap();
                tx2.send(1).unwrap();
                yield_now();
                assert_eq!((panicked(stackless.join()), panicked(stackful.join())), ("later", "later"));
            });
        }
    }

    #[test]
    fn in_an_explicit_attach_does_not_reach_the_caller() {
        run_at_once(1, || {
            let place: Arc<Mutex<Option<Parasite<()>>>> = Arc::default();
            let theirs = place.clone();
            let handle: ParasiteHandle<()> = parasite(async move {
                reify(|me| *theirs.lock().unwrap() = Some(me)).await;
                panic!("attached");
            });
            let me = place.lock().unwrap().take().unwrap();
            me.prepare(()).attach();
            assert_eq!(panicked(handle.join()), "attached");
        });
    }

    #[test]
    fn of_one_does_not_reach_the_parasites_and_hosts_below_it() {
        run_at_once(1, || {
            let outer = parasite(async {
                let inner: ParasiteHandle<()> = parasite(async { panic!("inner") });
                let deep = parasite_fn(|| {
                    let third: ParasiteHandle<()> = parasite(async { panic!("third") });
                    panicked(third.join())
                });
                (panicked(inner.await), deep.await.unwrap())
            });
            assert_eq!(outer.join().unwrap(), ("inner", "third"));
        });
    }

    #[test]
    fn of_an_inflated_one_reaches_the_handle() {
        run(2, || {
            let stackless: ParasiteHandle<()> = parasite(async {
                inflate().await;
                panic!("as a host");
            });
            let stackful: ParasiteHandle<()> = parasite_fn(|| {
                inflate().sync();
                panic!("as a host");
            });
            assert_eq!((panicked(stackless.join()), panicked(stackful.join())), ("as a host", "as a host"));
        });
    }

    #[test]
    fn through_wait_is_the_callers() {
        run(1, || {
            let host = spawn(|| {
                wait(async {
                    if true {
                        panic!("waited for")
                    }
                })
            });
            assert_eq!(panicked(host.join()), "waited for");
            let fellow = parasite_fn(|| {
                wait(async {
                    yield_now_async().await;
                    panic!("waited for")
                })
            });
            let result: Result<(), _> = fellow.join();
            assert_eq!(panicked(result), "waited for");
        });
    }

    #[test]
    fn of_the_function_of_reify_is_the_parasites_own() {
        run_at_once(1, || {
            let handle = parasite(async { reify(|_: Parasite<()>| panic!("in reify")).await });
            assert_eq!(panicked(handle.join()), "in reify");
            let handle = parasite_fn(|| reify(|_: Parasite<()>| panic!("in reify")).sync());
            assert_eq!(panicked(handle.join()), "in reify");
        });
    }

    #[test]
    fn while_it_unwinds_a_thread_starts_and_ends_parasites() {
        run(1, || {
            let results = Arc::new(Mutex::new(Vec::new()));
            let theirs = results.clone();
            let host = spawn(move || {
                let _end = at_end(move || {
                    let mut results = theirs.lock().unwrap();
                    results.push(parasite(async { 1 }).join().is_ok());
                    results.push(parasite(async { panic!("within a panic") }).join().is_ok_and(|()| true));
                    results.push(parasite_fn(|| 1).join().is_ok());
                    drop(parasite(pending::<()>()));
                    results.push(parasite(pending::<()>()).join().is_ok());
                });
                panic!("outer");
            });
            assert_eq!(panicked::<()>(host.join()), "outer");
            assert_eq!(*results.lock().unwrap(), [true, false, false, false]);
        });
    }

    #[test]
    fn that_nobody_joins_is_reported_and_one_that_is_joined_is_not() {
        const ME: &str = "a_panic::that_nobody_joins_is_reported_and_one_that_is_joined_is_not";
        if role().is_some() {
            std::panic::set_hook(Box::new(|_| {}));
            return runtime(1).run(|| {
                parasite(async {
                    if true {
                        panic!("first unjoined")
                    }
                })
                .detach();
                let (tx, rx) = channel::<u8>();
                parasite(async move {
                    let _ = rx.recv_async().await;
                    panic!("second unjoined");
                })
                .detach();
                let (tx2, rx2) = channel::<u8>();
                parasite_fn(move || {
                    let _ = rx2.recv();
                    panic!("third unjoined");
                })
                .detach();
                tx.send(1).unwrap();
                tx2.send(1).unwrap();
                let joined: ParasiteHandle<()> = parasite(async { panic!("joined") });
                assert_eq!(panicked(joined.join()), "joined");
                sleep(Duration::from_millis(5));
            });
        }
        let (output, text) = rerun(ME, "child");
        assert!(output.status.success(), "{text}");
        for name in ["first", "second", "third"] {
            assert_eq!(text.matches(&format!("{name} unjoined")).count(), 1, "{text}");
        }
        assert!(!text.contains("joined joined") && !text.contains("'joined'"), "{text}");
    }
}

mod a_destructor_that_panics {
    use super::*;

    #[test]
    fn of_a_future_that_is_cancelled_goes_nowhere() {
        for workers in [1, 2] {
            run(workers, || {
                let drops = counter();
                let wild = Wild(drops.clone());
                let handle = parasite(async move {
                    let _wild = wild;
                    pending::<()>().await;
                });
                assert!(matches!(handle.cancel_and_join(), Err(JoinError::Cancelled(_))));
                let wild = Wild(drops.clone());
                let handle = parasite_local(async move {
                    let _wild = wild;
                    pending::<()>().await;
                });
                drop(handle);
                assert_eq!(count(&drops), 2);
            });
        }
    }

    #[test]
    fn of_a_future_that_is_ready_is_a_panic_of_the_parasite_and_its_value_is_dropped() {
        run(1, || {
            let (drops, values) = (counter(), counter());
            let (wild, value) = (Wild(drops.clone()), Counted(values.clone()));
            let mut slot = Some(value);
            // Its own field, dropped when the future is, after it was ready.
            let handle = parasite(poll_fn(move |_| {
                let _wild = &wild;
                std::task::Poll::Ready(slot.take().unwrap())
            }));
            assert_eq!(panicked(handle.join()), "a wild destructor");
            assert_eq!((count(&drops), count(&values)), (1, 1));
        });
    }

    #[test]
    fn of_a_value_that_nobody_wants_goes_nowhere() {
        run(1, || {
            let drops = counter();
            let (tx, rx) = channel::<u8>();
            let wild = Wild(drops.clone());
            parasite(async move {
                let _ = rx.recv_async().await;
                wild
            })
            .detach();
            tx.send(1).unwrap();
            yield_until("its end", || count(&drops) == 1);
            let (tx, rx) = channel::<u8>();
            let wild = Wild(drops.clone());
            parasite_fn(move || {
                let _ = rx.recv();
                wild
            })
            .detach();
            tx.send(1).unwrap();
            yield_until("its end", || count(&drops) == 2);
            // The worker goes on.
            assert_eq!(spawn(|| 1).join().unwrap(), 1);
        });
    }

    /// Wherever the outcome is: in the handle if the parasite was over at once, or with the parasite.
    #[test]
    fn of_an_outcome_that_nobody_wants_goes_nowhere() {
        run_at_once(1, || {
            let drops = counter();
            let wild = || Wild(drops.clone());
            let (one, two, three, four) = (wild(), wild(), wild(), wild());
            drop(parasite(async move { one }));
            parasite(async move { two }).detach();
            drop(parasite_fn(move || three));
            lamprey::scope(|s| drop(s.parasite(async move { four })));
            assert_eq!(count(&drops), 4);

            let (one, two, three, four) = (wild(), wild(), wild(), wild());
            drop(parasite(async move { panic_any(one) }));
            parasite(async move { panic_any(two) }).detach();
            drop(parasite_fn(move || panic_any(three)));
            let later = parasite(async move {
                yield_now_async().await;
                panic_any(four);
            });
            while !later.is_finished() {
                lamprey::yield_now();
            }
            drop(later);
            assert_eq!(count(&drops), 8);
        });
    }

    #[test]
    fn of_a_stackful_one_that_is_cancelled_goes_nowhere_else() {
        run(1, || {
            let drops = counter();
            let wild = Wild(drops.clone());
            let handle = parasite_fn(move || {
                let _wild = wild;
                let (_tx, rx) = channel::<u8>();
                let _ = rx.recv();
            });
            assert!(handle.cancel_and_join().is_err());
            assert_eq!(count(&drops), 1);
        });
    }

    #[test]
    fn of_a_host_that_polls_is_its_own() {
        run(1, || {
            let drops = counter();
            let theirs = drops.clone();
            let host = spawn(move || {
                let wild = Wild(theirs);
                wait(async move { drop(wild) });
            });
            assert_eq!(panicked(host.join()), "a wild destructor");
            assert_eq!(count(&drops), 1);
        });
    }
}

#[test]
fn what_it_holds_is_dropped_before_its_outcome_is_seen() {
    for workers in [1, 2] {
        run_at_once(workers, || {
            for cancel in [false, true] {
                let log = Arc::new(Mutex::new(Vec::new()));
                let (first, second) = (log.clone(), log.clone());
                let (tx, rx) = channel::<u8>();
                let handle = parasite(async move {
                    let _first = at_end(move || first.lock().unwrap().push("first"));
                    let _second = at_end(move || second.lock().unwrap().push("second"));
                    let _ = rx.recv_async().await;
                });
                if cancel {
                    assert!(handle.cancel_and_join().is_err());
                } else {
                    tx.send(1).unwrap();
                    handle.join().unwrap();
                }
                assert_eq!(*log.lock().unwrap(), ["second", "first"]);
            }
        });
    }
}

mod when_the_runtime_ends {
    use super::*;

    /// Runs `main`, ends the runtime, and checks that as many were dropped as `main` says.
    fn ended(workers: usize, main: fn(&Count) -> usize) {
        within(FOREVER, move || {
            let drops = counter();
            let theirs = drops.clone();
            let runtime = runtime(workers);
            let made = runtime.run(move || main(&theirs));
            drop(runtime);
            assert_eq!(count(&drops), made);
        });
    }

    /// Counted from the call on: one that is offered to another worker may never have been polled when the
    /// runtime ends.
    fn held<F: Future>(drops: Count, then: F) -> impl Future<Output = ()> + use<F> {
        let held = Counted(drops);
        async move {
            let _held = held;
            then.await;
            pending::<()>().await;
        }
    }

    #[test]
    fn idle_ones_are_dropped() {
        for workers in [1, 2, 4] {
            ended(workers, |drops| {
                for n in 0..1000 {
                    match n % 3 {
                        0 => parasite(held(drops.clone(), pending::<()>())).detach(),
                        1 => parasite_local(held(drops.clone(), pending::<()>())).detach(),
                        _ => std::mem::forget(parasite(held(drops.clone(), pending::<()>()))),
                    }
                }
                1000
            });
        }
    }

    #[test]
    fn queued_ones_are_dropped() {
        for workers in [1, 2] {
            ended(workers, |drops| {
                let (tx, rx) = channel::<u8>();
                for _ in 0..100 {
                    let rx = rx.clone();
                    parasite(held(drops.clone(), async move { rx.recv_async().await })).detach();
                }
                (0..100).for_each(|n| tx.send(n).unwrap());
                (0..100).for_each(|_| parasite(held(drops.clone(), yield_now_async())).detach());
                200
            });
        }
    }

    #[test]
    fn running_ones_are_dropped() {
        for workers in [1, 2] {
            ended(workers, |drops| {
                for _ in 0..20 {
                    parasite(held(drops.clone(), async {
                        loop {
                            yield_now_async().await;
                        }
                    }))
                    .detach();
                    parasite(held(
                        drops.clone(),
                        poll_fn(|cx| {
                            cx.waker().wake_by_ref();
                            std::task::Poll::<()>::Pending
                        }),
                    ))
                    .detach();
                }
                yield_now();
                40
            });
        }
    }

    #[test]
    fn hosted_and_reified_ones_are_dropped() {
        static PLACES: Mutex<Vec<Parasite<u8>>> = Mutex::new(Vec::new());
        for workers in [1, 2] {
            ended(workers, |drops| {
                for _ in 0..20 {
                    parasite(held(drops.clone(), inflate())).detach();
                    parasite(held(drops.clone(), async {
                        reify(|me| PLACES.lock().unwrap().push(me)).await
                    }))
                    .detach();
                    let held = Counted(drops.clone());
                    parasite_fn(move || {
                        let _held = held;
                        reify(|me: Parasite<u8>| PLACES.lock().unwrap().push(me)).sync();
                    })
                    .detach();
                }
                yield_now();
                60
            });
            // After the end: prepared, attached, or only dropped.
            for (n, place) in std::mem::take(&mut *PLACES.lock().unwrap()).into_iter().enumerate() {
                match n % 3 {
                    0 => place.prepare(1).attach(),
                    1 => drop(place.prepare(1)),
                    _ => drop(place),
                }
            }
        }
    }

    #[test]
    fn stackful_ones_unwind() {
        for workers in [1, 2] {
            ended(workers, |drops| {
                for n in 0..400 {
                    let held = Counted(drops.clone());
                    parasite_fn(move || {
                        let _held = held;
                        match n % 5 {
                            0 => sleep(Duration::from_secs(1000)),
                            1 => drop(channel::<u8>().1.recv_timeout(Duration::from_secs(1000)).is_ok()),
                            2 => parasite(pending::<()>()).join().unwrap(),
                            3 => wait(pending::<()>()),
                            _ => loop {
                                yield_now();
                            },
                        }
                    })
                    .detach();
                }
                400
            });
        }
    }

    #[test]
    fn destructors_block_spawn_and_send() {
        for workers in [1, 2] {
            ended(workers, |drops| {
                let (tx, rx) = channel::<u64>();
                let (tx2, rx2) = channel::<u64>();
                for n in 0..90 {
                    let (tx, rx2, ends, drops) = (tx.clone(), rx2.clone(), drops.clone(), drops.clone());
                    let end = at_end(move || {
                        match n % 6 {
                            0 => drop(tx.send(1).is_ok()),
                            1 => drop(rx2.recv().is_ok()),
                            2 => sleep(Duration::from_millis(1)),
                            3 => drop(spawn(|| ()).join().is_ok()),
                            4 => {
                                let held = Counted(ends.clone());
                                parasite(async move {
                                    let _held = held;
                                    pending::<()>().await;
                                })
                                .detach();
                            }
                            _ => {
                                let held = Counted(ends.clone());
                                drop(parasite_fn(move || drop(held)).join());
                            }
                        };
                        tick(&ends);
                    });
                    // Made here, as in `held`.
                    let both = (end, Counted(drops));
                    let future = async move {
                        let _both = both;
                        pending::<()>().await;
                    };
                    if n % 2 == 0 { parasite(future).detach() } else { parasite_local(future).detach() }
                }
                std::mem::forget((rx, tx2));
                // Blocking calls fail there, so all get to their tick.
                90 + 90 + 2 * 15
            });
        }
    }

    #[test]
    fn a_parasite_is_refused_in_a_destructor_and_dropped_at_once() {
        within(FOREVER, || {
            let (drops, results) = (counter(), Arc::new(Mutex::new(Vec::new())));
            let (theirs, log) = (drops.clone(), results.clone());
            let runtime = runtime(1);
            runtime.run(move || {
                let end = at_end(move || {
                    let held = Counted(theirs.clone());
                    let handle = parasite(async move {
                        let _held = held;
                        1
                    });
                    log.lock().unwrap().push(handle.is_finished());
                });
                parasite(async move {
                    let _end = end;
                    pending::<()>().await;
                })
                .detach();
            });
            drop(runtime);
            assert_eq!((count(&drops), results.lock().unwrap().len()), (1, 1));
        });
    }

    #[test]
    fn handles_and_senders_elsewhere_find_it_over() {
        within(FOREVER, || {
            for workers in [1, 2] {
                for kind in 0..4 {
                    let (tx, rx) = channel::<u8>();
                    let runtime = runtime(workers);
                    let handle = runtime.run(move || match kind {
                        0 => parasite(async move { rx.recv_async().await.is_ok() }),
                        1 => parasite_local(async move { rx.recv_async().await.is_ok() }),
                        2 => parasite_fn(move || rx.recv().is_ok()),
                        _ => parasite(async move {
                            inflate().await;
                            rx.recv_async().await.is_ok()
                        }),
                    });
                    drop(runtime);
                    assert!(tx.send(1).is_err());
                    assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
                }
            }
        });
    }

    #[test]
    fn a_parasite_of_another_runtime_hears_of_it() {
        within(FOREVER, || {
            let (one, two) = (runtime(2), runtime(2));
            for round in 0..50_u64 {
                let short = lamprey::Runtime::builder().workers(1 + (round % 2) as usize).build().unwrap();
                let (tx, rx) = channel::<u64>();
                let theirs = short.run(move || {
                    parasite(async move {
                        let mut sum = 0;
                        while let Ok(n) = rx.recv_async().await {
                            sum += n;
                        }
                        sum
                    })
                });
                // (The runtime lives: `run` may be called again.)
                let joiner = one.handle().spawn(move || theirs.join().is_ok());
                let sender = two.handle().spawn(move || (0..10).take_while(|n| tx.send(*n).is_ok()).count());
                if round % 3 == 0 {
                    sender.join().unwrap();
                    joiner.join().unwrap();
                    drop(short);
                } else {
                    drop(short);
                    sender.join().unwrap();
                    joiner.join().unwrap();
                }
            }
        });
    }

    #[test]
    fn under_load_everything_is_dropped_once() {
        within(FOREVER, || {
            for round in 0..30_u64 {
                let (made, drops) = (counter(), counter());
                let (theirs, gone) = (made.clone(), drops.clone());
                let runtime = runtime(2);
                runtime.run(move || {
                    let mut random = fastrand::Rng::with_seed(round);
                    let (tx, rx) = channel::<Counted>();
                    for _ in 0..300 {
                        let (tx, rx, theirs, gone) = (tx.clone(), rx.clone(), theirs.clone(), gone.clone());
                        let make = move || {
                            tick(&theirs);
                            Counted(gone.clone())
                        };
                        match random.u8(0..4) {
                            0 => parasite(async move {
                                let _held = make();
                                while tx.send_async(make()).await.is_ok() {}
                            })
                            .detach(),
                            1 => parasite(async move {
                                let _held = make();
                                while rx.recv_async().await.is_ok() {}
                            })
                            .detach(),
                            2 => parasite_fn(move || {
                                let _held = make();
                                while tx.send(make()).is_ok() {}
                            })
                            .detach(),
                            _ => parasite_fn(move || {
                                let _held = make();
                                while rx.recv().is_ok() {}
                            })
                            .detach(),
                        }
                    }
                    yield_now();
                });
                drop(runtime);
                assert_eq!(count(&drops), count(&made));
            }
        });
    }
}

/// Limits the address space of this process to what it has and `more` bytes.
fn limit_memory(more: u64) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let now = statm.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let limit = libc::rlimit { rlim_cur: now + more, rlim_max: now + more };
    // SAFETY: reads the structure that it is given.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

#[test]
fn without_memory_the_handle_says_so_and_the_future_is_dropped() {
    const ME: &str = "without_memory_the_handle_says_so_and_the_future_is_dropped";
    if role().is_none() {
        let (output, text) = outcome(again(ME, "child"));
        assert!(output.status.success(), "{:?} {text}", output.status);
        return;
    }
    run_at_once(1, || large().spawn(no_memory).unwrap().join().unwrap());
}

/// A host on which large futures can be built.
fn large() -> lamprey::Builder {
    lamprey::Builder::new().stack_size(1 << 20)
}

fn no_memory() {
    let drops = counter();
    let mut handles = Vec::with_capacity(1 << 20);
    limit_memory(256 << 20);
    let refused = loop {
        let held = Counted(drops.clone());
        let large = [0_u8; 60 << 10];
        let handle = parasite(async move {
            let _held = held;
            pending::<()>().await;
            std::hint::black_box(&large);
        });
        if handle.is_finished() {
            break handle;
        }
        handles.push(handle);
    };
    assert!(matches!(refused.join(), Err(JoinError::NoStack(_))));
    assert_eq!(count(&drops), 1);
    // What is given back can be used again.
    let made = handles.len();
    drop(handles);
    assert_eq!(count(&drops), made + 1);
    assert_eq!(parasite(async { 1 }).join().unwrap(), 1);
}

#[test]
fn without_stacks_the_handle_of_a_stackful_one_says_so() {
    const ME: &str = "without_stacks_the_handle_of_a_stackful_one_says_so";
    if role().is_none() {
        let (output, text) = outcome(again(ME, "child"));
        assert!(output.status.success(), "{:?} {text}", output.status);
        return;
    }
    run_at_once(1, || {
        let drops = counter();
        let mut handles = Vec::with_capacity(1 << 20);
        limit_memory(256 << 20);
        let refused = loop {
            let held = Counted(drops.clone());
            let handle = parasite_fn(move || {
                let _held = held;
                wait(pending::<()>());
            });
            if handle.is_finished() {
                break handle;
            }
            handles.push(handle);
            assert!(handles.len() < 1 << 20);
        };
        assert!(matches!(refused.join(), Err(JoinError::NoStack(_))));
        assert_eq!(count(&drops), 1);
        let made = handles.len();
        drop(handles);
        yield_until("their ends", || count(&drops) == made + 1);
        assert_eq!(parasite_fn(|| 1).join().unwrap(), 1);
    });
}

#[test]
fn a_foreign_waker_may_drop_another_future_of_the_same_channel() {
    struct Dropper(Mutex<Option<Box<dyn Send>>>, AtomicUsize);
    impl std::task::Wake for Dropper {
        fn wake(self: Arc<Self>) {
            self.1.fetch_add(1, Ordering::SeqCst);
            let other = self.0.lock().unwrap().take();
            drop(other);
        }
    }
    within(FOREVER, || {
        let (tx, rx) = channel::<u8>();
        let (first, second) = (rx.clone(), rx);
        let dropper = Arc::new(Dropper(Mutex::new(None), AtomicUsize::new(0)));
        let waker = std::task::Waker::from(dropper.clone());
        let mut cx = std::task::Context::from_waker(&waker);
        let mut one = Box::pin(async move { first.recv_async().await });
        let mut two = Box::pin(async move { second.recv_async().await });
        assert!(one.as_mut().poll(&mut cx).is_pending());
        let mut noop = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(two.as_mut().poll(&mut noop).is_pending());
        *dropper.0.lock().unwrap() = Some(Box::new(two));
        drop(tx);
        assert_eq!(dropper.1.load(Ordering::SeqCst), 1);
        assert!(one.as_mut().poll(&mut cx).is_ready());
    });
}
