//! Scopes in which everything happens at the same time: children are born and end, panic, start scopes of
//! their own, and all of them are cancelled from several sides. Whatever happens, nothing leaves before its
//! children.

use crate::common::run;
use lamprey::event::{Event, choose, timeout};
use lamprey::scope::{Scope, isolate, race};
use lamprey::{CancelToken, channel, scope, sleep, spawn, with_timeout, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(2);

fn rounds(mut round: impl FnMut(u64)) {
    let end = Instant::now() + TIME;
    let mut number = 0;
    while Instant::now() < end {
        round(number);
        number += 1;
    }
}

/// Who is there: each child counts while it, and what it borrows, lives.
struct Present<'a>(&'a AtomicUsize);

impl<'a> Present<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a child does.
fn live(random: &mut fastrand::Rng, here: &AtomicUsize) {
    let (_tx, rx) = channel::<u32>();
    match random.u32(0..6) {
        0 => {}
        1 => yield_now(),
        2 => drop(rx.recv()),
        3 => sleep(Duration::from_micros(70)),
        4 => choose((rx.recv_evt().wrap(drop), timeout(Duration::from_micros(70)))).sync(),
        _ => {
            scope(|s| {
                children(s, random.u64(..), here, 3);
                yield_now();
            });
        }
    }
}

/// Starts so many children of random kinds.
fn children<'scope>(s: &'scope Scope<'scope, '_>, seed: u64, here: &'scope AtomicUsize, count: u32) {
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..count {
        let (mut theirs, present) = (random.fork(), Present::new(here));
        match random.u32(0..4) {
            0 => drop(s.parasite_fn(move || {
                let _present = present;
                live(&mut theirs, here);
            })),
            1 => drop(s.parasite(async move {
                let _present = present;
                for _ in 0..theirs.u32(0..4) {
                    lamprey::yield_now_async().await;
                }
                if theirs.bool() {
                    lamprey::sleep_async(Duration::from_secs(1000)).await;
                }
            })),
            _ => drop(s.spawn(move || {
                let _present = present;
                live(&mut theirs, here);
            })),
        }
    }
}

/// The scope's children are all gone when it is left.
fn nobody_is_left(here: &AtomicUsize) {
    assert_eq!(here.load(Ordering::SeqCst), 0, "a child has outlived its scope");
}

#[test]
fn cancel_against_spawn_and_end() {
    for workers in [1, 2] {
        run(workers, || {
            rounds(|seed| {
                let here = AtomicUsize::new(0);
                scope(|s| {
                    std::thread::scope(|os| {
                        let mut random = fastrand::Rng::with_seed(seed);
                        if seed % 4 == 0 {
                            // From an OS thread, while the body starts children.
                            let spins = random.u32(0..20_000);
                            os.spawn(move || {
                                (0..spins).for_each(|_| std::hint::spin_loop());
                                s.cancel();
                            });
                            children(s, seed, &here, 12);
                        }
                    });
                    children(s, !seed, &here, 12);
                    // A child that starts more, and one that cancels.
                    s.spawn(|| children(s, seed, &here, 6));
                    s.spawn(|| {
                        (0..seed % 4).for_each(|_| yield_now());
                        s.cancel();
                    });
                    (0..seed % 3).for_each(|_| yield_now());
                });
                nobody_is_left(&here);
            });
        });
    }
}

#[test]
fn cancelled_from_outside_at_any_moment() {
    for workers in [1, 2] {
        run(workers, || {
            rounds(|seed| {
                let here = AtomicUsize::new(0);
                let mut random = fastrand::Rng::with_seed(seed);
                let body = || {
                    scope(|s| {
                        children(s, seed, &here, 8);
                        (0..seed % 3).for_each(|_| yield_now());
                        s.spawn(|| sleep(Duration::from_secs(1000)));
                    });
                };
                match seed % 3 {
                    0 => {
                        let limit = Duration::from_micros(random.u64(0..300));
                        assert!(with_timeout(limit, body).is_err());
                    }
                    1 => {
                        let token = CancelToken::new();
                        let theirs = token.clone();
                        let turns = random.u32(0..4);
                        drop(spawn(move || {
                            (0..turns).for_each(|_| yield_now());
                            theirs.cancel();
                        }));
                        assert!(token.run(body).is_err());
                    }
                    // By the outer scope; and by its own handle.
                    _ => scope(|outer| {
                        let host = outer.spawn(body);
                        let other = outer.spawn(body);
                        (0..random.u32(0..4)).for_each(|_| yield_now());
                        host.cancel();
                        drop(other);
                        outer.cancel();
                    }),
                }
                nobody_is_left(&here);
                assert!(!lamprey::is_cancelled());
            });
        });
    }
}

#[test]
fn panics_at_the_same_time_as_each_other_and_as_cancellation() {
    for workers in [1, 2] {
        run(workers, || {
            let end = Instant::now() + TIME;
            for seed in (0..150).take_while(|_| Instant::now() < end) {
                let here = AtomicUsize::new(0);
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    scope(|s| {
                        children(s, seed, &here, 8);
                        for n in 0..2 {
                            s.spawn(move || {
                                (0..(seed + n) % 3).for_each(|_| yield_now());
                                // Without a message of the hook.
                                resume_unwind(Box::new("on purpose"));
                            });
                        }
                        if seed % 2 == 0 {
                            s.spawn(|| s.cancel());
                        }
                        if seed % 3 == 0 {
                            // `cancel` lets the body go on, and may come before both panics.
                            sleep(if seed % 2 == 0 {
                                Duration::from_millis(1)
                            } else {
                                Duration::from_secs(1000)
                            });
                        }
                    });
                }));
                nobody_is_left(&here);
                match caught {
                    Err(payload) => assert_eq!(*payload.downcast::<&str>().unwrap(), "on purpose"),
                    // Both were cancelled before they began.
                    Ok(()) => assert!(seed % 2 == 0, "a panic has got lost"),
                }
                assert!(!lamprey::is_cancelled());
            }
        });
    }
}

#[test]
fn isolated_and_racing_ones() {
    for workers in [1, 2] {
        run(workers, || {
            rounds(|seed| {
                let here = AtomicUsize::new(0);
                isolate(|s| {
                    children(s, seed, &here, 6);
                    if seed % 2 == 0 {
                        s.cancel();
                    } else {
                        let limit = Duration::from_micros(seed % 200);
                        sleep(limit);
                        s.cancel();
                    }
                });
                nobody_is_left(&here);
                let won = race((0..5).map(|n| {
                    let here = &here;
                    move || {
                        let _present = Present::new(here);
                        (0..(seed + n) % 3).for_each(|_| yield_now());
                        if n % 2 == 0 { Ok(n) } else { Err(n) }
                    }
                }));
                assert!(won.is_ok_and(|n| n % 2 == 0));
                nobody_is_left(&here);
            });
        });
    }
}
