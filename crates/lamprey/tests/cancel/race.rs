//! Cancellations from everywhere against the start, the blocks, the wakes and the end of what is cancelled,
//! and against the drop of whatever it is done with.

use crate::common::{Counted, FOREVER, count, counter, eventually, run, within};
use lamprey::{
    CancelToken, JoinError, JoinHandle, Runtime, channel, parasite, parasite_fn, shield, sleep, spawn, wait,
    with_deadline, yield_now,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long each test goes on.
const TIME: Duration = Duration::from_secs(2);

/// Runs `round` again and again, for a while; each gets its number.
fn rounds(mut round: impl FnMut(usize)) -> usize {
    let end = Instant::now() + TIME;
    let mut number = 0;
    while Instant::now() < end {
        round(number);
        number += 1;
    }
    number
}

fn spin(random: &mut fastrand::Rng) {
    (0..random.u32(0..300)).for_each(|_| std::hint::spin_loop());
}

/// What a host does that is to be cancelled; its end counts.
fn life(kind: usize, rx: &lamprey::Receiver<u32>, _bell: &Counted) {
    match kind % 7 {
        0 => {}
        1 => yield_now(),
        2 => drop(rx.recv()),
        3 => sleep(Duration::from_micros(60)),
        4 => shield(yield_now),
        5 => wait(lamprey::yield_now_async()),
        _ => loop {
            yield_now();
        },
    }
}

/// Does something with a handle that is about cancelling.
fn meddle(handle: JoinHandle<()>, random: &mut fastrand::Rng) {
    spin(random);
    handle.cancel();
    match random.u32(0..4) {
        0 => drop(handle),
        1 => {
            handle.cancel();
            drop(handle);
        }
        2 => {
            let shared = Arc::new(handle);
            let theirs = shared.clone();
            spawn_or_here(move || theirs.cancel());
            shared.cancel();
        }
        _ => match handle.join() {
            Ok(()) | Err(JoinError::Cancelled(_)) => {}
            Err(error) => panic!("{error}"),
        },
    }
}

fn spawn_or_here(f: impl FnOnce() + Send + 'static) {
    if lamprey::Handle::current().is_some() { drop(spawn(f)) } else { f() }
}

#[test]
fn handles_from_all_sides_against_start_block_wake_and_end() {
    for workers in [1, 2] {
        run(workers, move || {
            let (born, gone) = (counter(), counter());
            let (away, orders) = mpsc::channel::<JoinHandle<()>>();
            let far = std::thread::spawn(move || {
                let mut random = fastrand::Rng::with_seed(1);
                orders.into_iter().for_each(|handle| meddle(handle, &mut random));
            });
            let (near, jobs) = lamprey::bounded::<JoinHandle<()>>(4);
            let neighbour = spawn(move || {
                let mut random = fastrand::Rng::with_seed(2);
                jobs.iter().for_each(|handle| meddle(handle, &mut random));
            });
            let mut random = fastrand::Rng::with_seed(3);
            let (tx, rx) = channel();
            rounds(|number| {
                let (rx, bell, kind) = (rx.clone(), Counted(gone.clone()), random.usize(..));
                crate::common::tick(&born);
                let handle = spawn(move || life(kind, &rx, &bell));
                match number % 3 {
                    0 => away.send(handle).unwrap(),
                    1 => near.send(handle).unwrap(),
                    _ => {
                        (0..random.u32(0..3)).for_each(|_| yield_now());
                        // Woken and cancelled at once.
                        let _ = tx.try_send(1);
                        meddle(handle, &mut random);
                    }
                }
            });
            drop((away, near, tx));
            neighbour.join().unwrap();
            lamprey::block(move || far.join().unwrap());
            eventually("the end of all", || count(&born) == count(&gone));
        });
    }
}

/// A level that is left just when its wire is cut has not been cancelled, or has, and then the thread is as
/// before.
#[test]
fn a_wire_that_is_cut_against_hook_and_unhook() {
    for workers in [1, 2] {
        run(workers, || {
            let (cutter, orders) = mpsc::channel::<(CancelToken, u32)>();
            let far = std::thread::spawn(move || {
                for (token, spins) in orders {
                    (0..spins).for_each(|_| std::hint::spin_loop());
                    token.cancel();
                }
            });
            let mut random = fastrand::Rng::with_seed(4);
            rounds(|number| {
                let token = CancelToken::new();
                let users: Vec<_> = (0..4)
                    .map(|n| {
                        let token = if n == 3 { token.child() } else { token.clone() };
                        spawn(move || use_until_cancelled(&token, n))
                    })
                    .collect();
                let theirs = token.clone();
                let stackful = parasite_fn(move || use_until_cancelled(&theirs, 1));
                let theirs = token.clone();
                let stackless =
                    parasite(
                        async move { while theirs.run_async(lamprey::yield_now_async()).await.is_ok() {} },
                    );
                // Not in each round: threads are dear.
                let theirs = token.clone();
                let outside =
                    (number % 8 == 0).then(|| std::thread::spawn(move || use_until_cancelled(&theirs, 1)));
                match number % 3 {
                    0 => cutter.send((token.clone(), random.u32(0..3000))).unwrap(),
                    1 => {
                        (0..random.u32(0..5)).for_each(|_| yield_now());
                        token.cancel();
                    }
                    _ => {
                        let theirs = token.clone();
                        drop(spawn(move || theirs.cancel()));
                        cutter.send((token.clone(), random.u32(0..3000))).unwrap();
                    }
                }
                users.into_iter().for_each(|user| user.join().unwrap());
                stackful.join().unwrap();
                stackless.join().unwrap();
                outside.into_iter().for_each(|thread| lamprey::block(move || thread.join().unwrap()));
                assert!(token.is_cancelled());
            });
            drop(cutter);
            lamprey::block(move || far.join().unwrap());
        });
    }
}

/// Enters and leaves the token's level again and again.
fn use_until_cancelled(token: &CancelToken, kind: usize) {
    let (_tx, rx) = channel::<u32>();
    let mut turn = 0;
    while let Ok(()) = token.run(|| match kind {
        0 => {}
        1 => yield_now(),
        2 => drop(token.run(|| token.run(|| rx.recv()))),
        _ => sleep(Duration::from_micros(100)),
    }) {
        turn += 1;
        if kind == 0 && turn % 8 == 0 {
            yield_now();
        }
        assert!(!lamprey::is_cancelled(), "outside of the token");
    }
    assert!(!lamprey::is_cancelled(), "outside of the token");
    // A whole thread that could not block any more would hang or unwind here.
    yield_now();
}

/// A sleep of the very length of its deadline, and an inner deadline of the outer one's.
#[test]
fn deadlines_that_pass_when_the_operation_completes() {
    let race = || {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut late, mut in_time) = (0usize, 0usize);
        rounds(|number| {
            let at = Instant::now() + Duration::from_micros(random.u64(0..150));
            let done = AtomicBool::new(false);
            let outcome = with_deadline(at, || {
                match number % 3 {
                    0 => sleep(at.saturating_duration_since(Instant::now())),
                    1 => drop(with_deadline(at, || sleep(Duration::from_micros(70)))),
                    _ => wait(lamprey::sleep_async(at.saturating_duration_since(Instant::now()))),
                }
                done.store(true, Ordering::Relaxed);
            });
            assert_eq!(outcome.is_ok(), done.load(Ordering::Relaxed), "it has happened or it has not");
            assert!(!lamprey::is_cancelled());
            if outcome.is_ok() {
                in_time += 1
            } else {
                late += 1
            }
            yield_now();
        });
        assert!(late + in_time > 0);
    };
    run(1, race);
    run(2, move || spawn(race).join().unwrap());
    within(FOREVER, race);
}

/// Handles and tokens outlive the runtime, and are used while it ends.
#[test]
fn cancelling_while_the_runtime_ends_and_after() {
    within(FOREVER, || {
        let mut random = fastrand::Rng::with_seed(6);
        rounds(|number| {
            let (born, gone) = (counter(), counter());
            let runtime = Runtime::builder().workers(1 + number % 2).build().unwrap();
            let (token, begun) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
            let handles: Vec<_> = (0..12)
                .map(|n| {
                    let (bell, token, begun) = (Counted(gone.clone()), token.clone(), begun.clone());
                    crate::common::tick(&born);
                    runtime.handle().spawn(move || {
                        let _bell = bell;
                        begun.fetch_add(1, Ordering::SeqCst);
                        let (_tx, rx) = channel::<u32>();
                        match n % 3 {
                            0 => drop(token.run(|| rx.recv())),
                            1 => drop(rx.recv()),
                            _ => loop {
                                yield_now();
                            },
                        }
                    })
                })
                .collect();
            let (all, cutter) = (Arc::new(handles), token.clone());
            let theirs = all.clone();
            let spins = random.u32(0..100_000);
            let far = std::thread::spawn(move || {
                (0..spins).for_each(|_| std::hint::spin_loop());
                theirs.iter().step_by(2).for_each(JoinHandle::cancel);
                cutter.cancel();
                theirs.iter().for_each(JoinHandle::cancel);
            });
            (0..random.u32(0..100_000)).for_each(|_| std::hint::spin_loop());
            if number % 2 == 0 {
                runtime.shutdown(Duration::from_secs(50));
            } else {
                drop(runtime);
            }
            far.join().unwrap();
            all.iter().for_each(JoinHandle::cancel);
            drop(all);
            assert_eq!(count(&born), count(&gone), "{} begun", begun.load(Ordering::SeqCst));
        });
    });
}
