//! Scopes: nothing leaves before its children, whatever happens to any of them.

use crate::common::{FOREVER, run, within};
use lamprey::scope::{isolate, join_all, race};
use lamprey::{
    CancelToken, Cancelled, JoinError, Panics, TimedOut, channel, parasite, scope, sleep, spawn,
    with_timeout, yield_now,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(1000);
const SHORT: Duration = Duration::from_millis(2);

/// Counts when it is dropped.
struct Bell<'a>(&'a AtomicUsize);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn text(payload: Box<dyn std::any::Any + Send>) -> &'static str {
    *payload.downcast::<&'static str>().unwrap()
}

#[test]
fn children_borrow_and_are_waited_for() {
    for workers in [1, 2] {
        run(workers, || {
            let mut numbers = vec![0; 1000];
            scope(|s| {
                for (n, place) in numbers.iter_mut().enumerate() {
                    match n % 3 {
                        0 => drop(s.spawn(move || {
                            yield_now();
                            *place = n;
                        })),
                        1 => drop(s.parasite(async move {
                            lamprey::yield_now_async().await;
                            *place = n;
                        })),
                        _ => drop(s.parasite_fn(move || {
                            yield_now();
                            *place = n;
                        })),
                    }
                }
            });
            assert!(numbers.iter().enumerate().all(|(n, &value)| n == value));
        });
    }
}

#[test]
fn handles_give_results_that_borrow() {
    run(2, || {
        let words = ["one".to_owned(), "two".to_owned(), "three".to_owned()];
        let found = scope(|s| {
            let host = s.spawn(|| &words[0]);
            let stackless = s.parasite(async { &words[1] });
            let stackful = s.parasite_fn(|| {
                sleep(SHORT);
                &words[2]
            });
            [host.join().unwrap(), stackless.join().unwrap(), stackful.join().unwrap()]
        });
        assert_eq!(found, ["one", "two", "three"]);
    });
}

#[test]
fn forgotten_handles_do_not_let_it_go() {
    run(2, || {
        let rung = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..10 {
                std::mem::forget(s.spawn(|| {
                    sleep(SHORT);
                    drop(Bell(&rung));
                }));
                std::mem::forget(s.parasite(async {
                    lamprey::sleep_async(SHORT).await;
                    drop(Bell(&rung));
                }));
                std::mem::forget(s.parasite_fn(|| {
                    sleep(SHORT);
                    drop(Bell(&rung));
                }));
            }
        });
        assert_eq!(rung.load(Ordering::SeqCst), 30);
    });
}

#[test]
fn results_that_nobody_asks_for_are_dropped_before_the_end() {
    for workers in [1, 2] {
        run(workers, || {
            let rung = AtomicUsize::new(0);
            scope(|s| {
                for n in 0..60 {
                    let wait = move || {
                        if n % 2 == 0 {
                            yield_now();
                        }
                    };
                    let bell = Bell(&rung);
                    match n % 3 {
                        0 => drop(s.spawn(move || {
                            wait();
                            bell
                        })),
                        1 => drop(s.parasite(async move {
                            if n % 2 == 0 {
                                lamprey::yield_now_async().await;
                            }
                            bell
                        })),
                        _ => drop(s.parasite_fn(move || {
                            wait();
                            bell
                        })),
                    }
                }
            });
            assert_eq!(rung.load(Ordering::SeqCst), 60);
        });
    }
}

#[test]
fn the_first_panic_cancels_the_others_and_the_body_and_goes_on() {
    for kind in 0..3 {
        for workers in [1, 2] {
            run(workers, move || {
                let (started, rung) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let bell = || {
                    started.fetch_add(1, Ordering::SeqCst);
                    Bell(&rung)
                };
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    scope(|s| {
                        for _ in 0..3 {
                            s.spawn(|| {
                                let _bell = bell();
                                sleep(LONG);
                            });
                            s.parasite(async {
                                let _bell = bell();
                                lamprey::sleep_async(LONG).await;
                            });
                            s.parasite_fn(|| {
                                let _bell = bell();
                                sleep(LONG);
                            });
                        }
                        yield_now();
                        match kind {
                            0 => drop(s.spawn(|| panic!("the first"))),
                            1 => drop(s.parasite(async {
                                lamprey::yield_now_async().await;
                                panic!("the first")
                            })),
                            _ => drop(s.parasite_fn(|| {
                                yield_now();
                                panic!("the first")
                            })),
                        }
                        sleep(LONG);
                    });
                }));
                assert_eq!(text(caught.unwrap_err()), "the first");
                assert_eq!(rung.load(Ordering::SeqCst), started.load(Ordering::SeqCst));
                assert!(!lamprey::is_cancelled());
            });
        }
    }
}

#[test]
fn a_panic_of_the_body_waits_for_the_children_too() {
    run(2, || {
        let rung = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                s.parasite_fn(|| {
                    let _bell = Bell(&rung);
                    sleep(LONG);
                });
                panic!("the body");
            })
        }));
        assert_eq!(text(caught.unwrap_err()), "the body");
        assert_eq!(rung.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn isolated_a_panic_goes_to_whoever_joins() {
    run(2, || {
        let sum = isolate(|s| {
            let bad = [s.spawn(|| panic!("bad")), s.spawn(|| panic!("bad"))];
            let bad_too = s.parasite(async {
                if true {
                    panic!("bad too")
                }
            });
            let good = s.spawn(|| 7);
            for bad in bad {
                assert!(
                    matches!(bad.join(), Err::<(), _>(JoinError::Panicked(panic)) if panic.message() == "bad")
                );
            }
            let Err(JoinError::Panicked(panic)) = bad_too.join() else { unreachable!() };
            assert_eq!(panic.message(), "bad too");
            assert!(panic.location().unwrap().contains("scope/children.rs"), "{panic:?}");
            good.join().unwrap()
        });
        assert_eq!(sum, 7);
    });
}

#[test]
fn cancelled_from_outside_it_cancels_waits_and_unwinds() {
    for in_body in [true, false] {
        run(2, move || {
            let rung = std::sync::Arc::new(AtomicUsize::new(0));
            let theirs = rung.clone();
            let host = spawn(move || {
                scope(|s| {
                    s.spawn(|| {
                        let _bell = Bell(&theirs);
                        sleep(LONG);
                    });
                    s.parasite(async {
                        let _bell = Bell(&theirs);
                        lamprey::sleep_async(LONG).await;
                    });
                    yield_now();
                    if in_body {
                        sleep(LONG);
                    }
                });
                unreachable!();
            });
            sleep(SHORT * 5);
            host.cancel();
            assert!(matches!(host.join(), Err::<(), _>(JoinError::Cancelled(_))));
            let _ = rung.load(Ordering::SeqCst) >= 1;
        });
    }
}

#[test]
fn a_deadline_around_a_scope_ends_it() {
    run(2, || {
        let ended = with_timeout(SHORT, || {
            scope(|s| {
                s.spawn(|| sleep(LONG));
                s.spawn(|| scope(|inner| drop(inner.spawn(|| sleep(LONG)))));
            })
        });
        assert_eq!(ended, Err(TimedOut));
    });
}

#[test]
fn cancelling_it_cancels_children_that_are_there_and_those_to_come() {
    for workers in [1, 2] {
        run(workers, || {
            scope(|s| {
                for _ in 0..300 {
                    s.spawn(|| sleep(LONG));
                    s.parasite(lamprey::sleep_async(LONG));
                    s.parasite_fn(|| sleep(LONG));
                }
                for _ in 0..3 {
                    yield_now();
                }
                s.cancel();
                assert!(s.is_cancelled());
                let late = [s.spawn(|| sleep(LONG)), s.spawn(|| sleep(LONG))];
                late.into_iter()
                    .for_each(|late| assert!(matches!(late.join(), Err(JoinError::Cancelled(_)))));
                assert!(s.parasite(lamprey::sleep_async(LONG)).join().is_err());
                assert!(s.parasite_fn(|| sleep(LONG)).join().is_err());
                assert!(!lamprey::is_cancelled(), "the body goes on");
            });
        });
    }
}

#[test]
fn children_start_children() {
    run(2, || {
        let count = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..10 {
                s.spawn(|| {
                    for _ in 0..10 {
                        s.spawn(|| count.fetch_add(1, Ordering::SeqCst));
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 100);
    });
}

#[test]
fn one_that_lasts_does_not_keep_what_has_ended() {
    run(1, || {
        let ended = &AtomicUsize::new(0);
        scope(|s| {
            let resident = || {
                let status = std::fs::read_to_string("/proc/self/statm").unwrap();
                status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
            };
            let round = || {
                let before = ended.load(Ordering::SeqCst);
                for _ in 0..2000 {
                    s.spawn(|| (Bell(ended), [0u64; 64]));
                    s.parasite(async {
                        lamprey::yield_now_async().await;
                        drop(Bell(ended));
                        [0u64; 64]
                    });
                }
                while ended.load(Ordering::SeqCst) < before + 4000 {
                    yield_now();
                }
            };
            (0..10).for_each(|_| round());
            let before = resident();
            (0..200).for_each(|_| round());
            let grown = resident().saturating_sub(before);
            assert!(grown < 64 << 20, "{grown} bytes for 800,000 children that have ended");
        });
    });
}

#[test]
fn all_and_the_first_that_succeeds() {
    run(2, || {
        let base = 10;
        assert_eq!(join_all((0..5).map(|n| move || n * base)), [0, 10, 20, 30, 40]);
        assert!(join_all(Vec::<fn() -> u8>::new()).is_empty());
        let caught = catch_unwind(|| {
            join_all((0..5).map(|n| {
                move || {
                    if n == 3 {
                        panic!("three");
                    }
                    sleep(LONG);
                }
            }))
        });
        assert_eq!(text(caught.unwrap_err()), "three");
        let errors: Result<(), _> = race((0..3).map(|n| move || Err(n)));
        let mut errors = errors.unwrap_err();
        errors.sort_unstable();
        assert_eq!(errors, [0, 1, 2]);
        let rung = AtomicUsize::new(0);
        let won = race([LONG, SHORT, LONG].map(|time| {
            let rung = &rung;
            move || {
                let _bell = Bell(rung);
                sleep(time);
                Ok::<_, ()>(time)
            }
        }));
        assert_eq!(won, Ok(SHORT));
        assert!(rung.load(Ordering::SeqCst) >= 1);
    });
}

#[test]
fn in_a_destructor_of_one_that_unwinds_children_are_dropped_unrun() {
    struct Scopes<'a>(&'a Mutex<Vec<&'static str>>);
    impl Drop for Scopes<'_> {
        fn drop(&mut self) {
            scope(|s| {
                self.0.lock().unwrap().push("body");
                s.spawn(|| self.0.lock().unwrap().push("host"));
                s.parasite(async { self.0.lock().unwrap().push("stackless") });
                s.parasite_fn(|| self.0.lock().unwrap().push("stackful"));
            });
        }
    }
    run(1, || {
        let log = Mutex::new(Vec::new());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _scopes = Scopes(&log);
            panic!("unwinds");
        }));
        assert_eq!(text(caught.unwrap_err()), "unwinds");
        assert_eq!(*log.lock().unwrap(), ["body"]);
    });
}

#[test]
fn on_an_os_thread_children_go_to_a_runtime() {
    within(FOREVER, || {
        let runtime = crate::common::runtime(2);
        let count = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                for _ in 0..10 {
                    let host = s.spawn_in(&runtime.handle(), lamprey::Builder::new(), || {
                        yield_now();
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                    host.unwrap().join().unwrap();
                }
                s.spawn_in(&runtime.handle(), lamprey::Builder::new(), || panic!("far away")).unwrap();
                // The body, on its OS thread, is cancelled too.
                channel::<u32>().1.recv().unwrap_err();
                let (_tx, rx) = channel::<u32>();
                let _ = rx.recv();
                unreachable!();
            });
        }));
        assert_eq!(text(caught.unwrap_err()), "far away");
        assert_eq!(count.load(Ordering::SeqCst), 10);
    });
}

#[test]
fn a_long_chain_of_tokens_is_cancelled_and_dropped() {
    let first = CancelToken::new();
    let mut last = first.clone();
    for _ in 0..200_000 {
        last = last.child();
    }
    first.cancel();
    assert!(last.is_cancelled());
}

#[test]
fn a_token_ends_all_that_run_under_it() {
    for workers in [1, 2] {
        run(workers, || {
            let token = CancelToken::new();
            let hosts: Vec<_> = (0..50)
                .map(|n| {
                    let token = if n % 2 == 0 { token.clone() } else { token.child().child() };
                    spawn(move || token.run(|| sleep(LONG)))
                })
                .collect();
            let theirs = token.clone();
            let stackful = lamprey::parasite_fn(move || theirs.run(|| sleep(LONG)));
            let theirs = token.clone();
            let stackless = parasite(async move { theirs.run_async(lamprey::sleep_async(LONG)).await });
            let theirs = token.clone();
            let os = std::thread::spawn(move || theirs.run(|| lamprey::suspend(std::mem::forget)));
            let theirs = token.clone();
            let waits = spawn(move || theirs.wait());
            yield_now();
            sleep(SHORT);
            token.cancel();
            token.cancel();
            hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), Err(Cancelled)));
            assert_eq!(stackful.join().unwrap(), Err(Cancelled));
            assert_eq!(stackless.join().unwrap(), Err(Cancelled));
            assert!(lamprey::block(|| os.join().unwrap()).is_err());
            waits.join().unwrap();
            assert_eq!(token.run(|| unreachable!()), Err::<(), _>(Cancelled));
            assert!(token.child().is_cancelled());
        });
    }
}

#[test]
fn a_policy_of_a_runtime_for_panics_that_nobody_joins() {
    let runtime = lamprey::Runtime::builder().workers(2).panics(Panics::Propagate).build().unwrap();
    within(FOREVER, move || {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(|| {
                assert!(spawn(|| panic!("joined")).join().is_err());
                drop(spawn(|| panic!("not joined")));
                sleep(LONG);
            });
        }));
        assert_eq!(text(caught.unwrap_err()), "not joined");
    });
}

#[test]
fn a_runtime_that_has_failed_does_not_say_that_all_is_well() {
    let runtime = lamprey::Runtime::builder().workers(1).panics(Panics::Propagate).build().unwrap();
    within(FOREVER, move || {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(|| {
                drop(spawn(|| panic!("nobody's")));
                lamprey::shield(|| sleep(SHORT * 5));
                7
            })
        }));
        assert_eq!(text(caught.unwrap_err()), "nobody's");
    });
}
