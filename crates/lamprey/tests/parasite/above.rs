//! What runs where a stackful parasite blocks, before its spawner goes on: the stackful parasites that it has
//! unblocked.

use crate::common::{FOREVER, count, counter, run, run_at_once, tick, within};
use lamprey::{Builder, JoinError, Sender, WakeToken, channel, parasite_fn, spawn, suspend, yield_now};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn those_that_it_has_unblocked_run_before_its_spawner_goes_on() {
    run_at_once(1, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (tx, rx) = channel::<u32>();
        let (never_tx, never) = channel::<()>();
        let theirs = log.clone();
        let waits = parasite_fn(move || {
            let n = rx.recv().unwrap();
            theirs.lock().unwrap().push(n);
        });
        let unblocks = parasite_fn(move || {
            tx.send(1).unwrap();
            let _ = never.recv();
        });
        log.lock().unwrap().push(2);
        drop(never_tx);
        waits.join().unwrap();
        unblocks.join().unwrap();
        assert_eq!(*log.lock().unwrap(), [1, 2]);
    });
}

/// The spawner holds a lock of `std` here, which the one that was ready before takes.
#[test]
fn those_that_were_ready_before_it_started_do_not_run_in_its_start() {
    run_at_once(1, || {
        let lock = Arc::new(Mutex::new(0));
        let ((tx, rx), (tx2, rx2), (never_tx, never)) = (channel::<()>(), channel::<()>(), channel::<()>());
        let (theirs, quick) = (lock.clone(), counter());
        let takes = parasite_fn(move || {
            rx.recv().unwrap();
            *theirs.lock().unwrap() += 1;
        });
        let ran = quick.clone();
        let does_not = parasite_fn(move || {
            rx2.recv().unwrap();
            tick(&ran);
        });
        tx.send(()).unwrap();
        let held = lock.lock().unwrap();
        let blocks = parasite_fn(move || {
            tx2.send(()).unwrap();
            let _ = never.recv();
        });
        assert_eq!((*held, count(&quick)), (0, 1));
        drop((held, never_tx));
        [takes, does_not, blocks].into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(*lock.lock().unwrap(), 1);
    });
}

/// Resumed by another that it has unblocked, while its spawner still waits below.
#[test]
fn one_that_has_blocked_ends_before_its_spawner_goes_on() {
    for own_stack in [false, true] {
        for panics in [false, true] {
            run_at_once(1, move || {
                let ((ask, asked), (answer, answered)) = (channel::<u32>(), channel::<u32>());
                let echo = parasite_fn(move || {
                    let n = asked.recv().unwrap();
                    answer.send(n + 1).unwrap();
                    // A parasite in the context, if it was given back, of the one that ends.
                    parasite_fn(|| ()).join().unwrap();
                });
                let body = move || {
                    ask.send(6).unwrap();
                    let n = answered.recv().unwrap();
                    assert!(!panics, "on purpose");
                    n
                };
                let asks = if own_stack {
                    Builder::new().name("asks").parasite_fn(body).unwrap()
                } else {
                    parasite_fn(body)
                };
                assert!(asks.is_finished());
                match asks.join() {
                    Ok(n) => assert_eq!((n, panics), (7, false)),
                    Err(error) => {
                        assert!(panics && matches!(error, JoinError::Panicked(_)), "{error}");
                        assert_eq!(error.to_string().contains("asks"), own_stack, "{error}");
                    }
                }
                echo.join().unwrap();
            });
        }
    }
}

/// Two parasites wake each other for ever; their spawner ends that after it has gone on.
#[test]
fn a_spawner_goes_on_although_others_wake_each_other_for_ever() {
    within(FOREVER, || {
        run(1, || {
            let over = Arc::new(AtomicBool::new(false));
            let ((tx, rx), (back_tx, back)) = (channel::<()>(), channel::<()>());
            let is_over = over.clone();
            let one = parasite_fn(move || {
                while !is_over.load(Ordering::Relaxed) && rx.recv().is_ok() && back_tx.send(()).is_ok() {}
            });
            let other = parasite_fn(move || while tx.send(()).is_ok() && back.recv().is_ok() {});
            over.store(true, Ordering::Relaxed);
            one.join().unwrap();
            other.join().unwrap();
        });
    });
}

/// Two that wake each other without channels, of which one starts others that sleep: each of these blocks above it.
#[test]
fn a_spawner_goes_on_although_those_above_it_start_others() {
    within(FOREVER, || {
        run(1, || {
            let over = Arc::new(AtomicBool::new(false));
            let places: [Arc<Mutex<Option<WakeToken>>>; 2] = Default::default();
            let turns = |me: usize, starts: bool| {
                let ([mine, other], over) = ([places[me].clone(), places[1 - me].clone()], over.clone());
                parasite_fn(move || {
                    for turn in 0.. {
                        if let Some(token) = { other.lock().unwrap().take() } {
                            token.wake();
                        }
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                        if starts && turn % 20 == 0 {
                            parasite_fn(|| lamprey::sleep(Duration::from_micros(50))).detach();
                        }
                        let _ = suspend(|token| *mine.lock().unwrap() = Some(token));
                    }
                })
            };
            let (one, other) = (turns(0, true), turns(1, false));
            let (_never_tx, never) = channel::<()>();
            let first = places[0].clone();
            let wakes = parasite_fn(move || {
                if let Some(token) = { first.lock().unwrap().take() } {
                    token.wake();
                }
                let _ = never.recv_timeout(Duration::from_millis(1));
            });
            over.store(true, Ordering::Relaxed);
            wakes.join().unwrap();
            for place in &places {
                if let Some(token) = { place.lock().unwrap().take() } {
                    token.wake();
                }
            }
            one.join().unwrap();
            other.join().unwrap();
        });
    });
}

/// It blocks; one that runs in its place starts a third, which unblocks it; so it ends above that one's starter, whose
/// next starts use its context again, or free it, before its own spawner goes on.
#[test]
fn the_error_of_one_that_ended_before_its_spawner_went_on_names_it() {
    for name in [None, Some("first")] {
        run_at_once(1, move || {
            let builder = || name.map_or_else(Builder::new, |name| Builder::new().name(name));
            let ((tx, rx), (go_tx, go)) = (channel::<()>(), channel::<()>());
            let (_keep, never) = channel::<()>();
            let id = Arc::new(AtomicU64::new(0));
            let theirs = id.clone();
            let starter = parasite_fn(move || {
                rx.recv().unwrap();
                let unblocks = parasite_fn(move || {
                    go_tx.send(()).unwrap();
                    let _ = never.recv();
                });
                for n in 0..4 {
                    let again =
                        name.map_or_else(Builder::new, |_| Builder::new().name(format!("another {n}")));
                    again.parasite_fn(|| ()).unwrap().join().unwrap();
                }
                unblocks
            });
            let ends = builder().parasite_fn(move || {
                tx.send(()).unwrap();
                go.recv().unwrap();
                theirs.store(lamprey::current().id(), Ordering::Relaxed);
                std::panic::resume_unwind(Box::new("thrown without a word"))
            });
            let outcome: Result<(), JoinError> = ends.unwrap().join();
            let thread = outcome.unwrap_err().thread().expect("it ran").clone();
            assert_eq!(thread.name(), name);
            assert_eq!(thread.id(), id.load(Ordering::Relaxed));
            drop(starter.join().unwrap());
        });
    }
}

/// How many nodes of a tree have started and not ended, now and at most.
#[derive(Default)]
struct Alive(AtomicUsize, AtomicUsize);

impl Alive {
    fn begin(&self) {
        self.1.fetch_max(self.0.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A tree of parasites, each of which sends the sum of its children's leaves to its parent.
fn tree(leaves: usize, out: &Sender<usize>, alive: &Arc<Alive>) {
    alive.begin();
    if leaves == 1 {
        out.send(1).unwrap();
    } else {
        let (tx, rx) = channel();
        for _ in 0..10 {
            let (tx, alive) = (tx.clone(), alive.clone());
            parasite_fn(move || tree(leaves / 10, &tx, &alive)).detach();
        }
        out.send((0..10).map(|_| rx.recv().unwrap()).sum()).unwrap();
    }
    alive.end();
}

#[test]
fn a_tree_needs_as_many_stacks_as_it_is_deep_and_wide() {
    // Also beside a host that is always ready, which must not put those that are unblocked behind it.
    for beside in [false, true] {
        run_at_once(1, move || {
            let (alive, over) = (Arc::<Alive>::default(), Arc::new(AtomicBool::new(false)));
            let theirs = over.clone();
            let yields = spawn(move || {
                while beside && !theirs.load(Ordering::Relaxed) {
                    yield_now()
                }
            });
            let (tx, rx) = channel();
            let theirs = alive.clone();
            parasite_fn(move || tree(10_000, &tx, &theirs)).detach();
            assert_eq!(rx.recv().unwrap(), 10_000);
            over.store(true, Ordering::Relaxed);
            yields.join().unwrap();
            let most = alive.1.load(Ordering::Relaxed);
            // Some 60. More where a tool makes it slow: time slices end within it.
            assert!(most < 2_000, "{most} of 11,111 at a time");
        });
    }
}
