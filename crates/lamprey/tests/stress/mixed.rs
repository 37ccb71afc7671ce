//! The same again, and again, in every mixture: seconds here, minutes with `--ignored`.

use crate::common::{Counted, FOREVER, count, counter, runtime, tick, within};
use lamprey::{
    Builder, Handle, JoinError, Receiver, Sender, WakeToken, channel, current, sleep, spawn, suspend,
    yield_now,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SECONDS: Duration = Duration::from_millis(1500);
const MINUTES: Duration = Duration::from_secs(120);

/// Runs `round` with one seed after the other until `time` is over; a hang fails the test.
fn rounds(time: Duration, round: impl Fn(u64) + Send + 'static) {
    within(FOREVER + time * 2, move || {
        let until = Instant::now() + time;
        // The seed is printed only when a test fails.
        let first = fastrand::u64(..);
        for seed in (0..).map(|n| first.wrapping_add(n)) {
            println!("seed {seed}");
            round(seed);
            if Instant::now() >= until {
                break;
            }
        }
    });
}

/// Two forms of each: seconds, and minutes.
macro_rules! stress {
    ($($round:ident),+) => { $(
        mod $round {
            use super::*;
            #[test]
            fn for_a_second() {
                rounds(SECONDS, super::$round);
            }
            #[test]
            #[ignore = "minutes: run with --ignored"]
            fn for_minutes() {
                rounds(MINUTES, super::$round);
            }
        }
    )+ };
}

stress!(
    pingpong_of_everyone,
    trees_of_hosts,
    random_timeouts,
    storms_of_wakes,
    bursts_with_gaps,
    runtimes_come_and_go,
    tokens_from_everywhere,
    endings_under_load
);

fn echo(rx: &Receiver<u64>, tx: &Sender<u64>) {
    while let Ok(n) = rx.recv() {
        if tx.send(n + 1).is_err() {
            return;
        }
    }
}

/// Pairs across four workers, and with OS threads.
fn pingpong_of_everyone(_seed: u64) {
    let runtime = runtime(4);
    let pairs: Vec<_> = (0..12)
        .map(|n| {
            let (to, from_us) = channel();
            let (back, answers) = channel();
            let other = move || echo(&from_us, &back);
            if n % 4 == 3 {
                drop(std::thread::spawn(other));
            } else {
                drop(Builder::new().worker(n % 4).spawn_in(&runtime.handle(), other).unwrap());
            }
            let ours = move || {
                let mut value = 0;
                for _ in 0..500 {
                    to.send(value).unwrap();
                    value = answers.recv().unwrap();
                }
                value
            };
            Builder::new().worker(n * 3 % 4).spawn_in(&runtime.handle(), ours).unwrap()
        })
        .collect();
    assert!(pairs.into_iter().all(|host| host.join().unwrap() == 500));
}

/// A tree of a random shape; returns how many hosts it had and on which workers they were.
fn tree(depth: u32, seed: u64) -> (u64, u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let until = Instant::now() + Duration::from_micros(random.u64(0..20));
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    let mut sum = (1, 1 << current().worker().unwrap());
    if depth == 0 {
        return sum;
    }
    let children: Vec<_> = (0..random.u32(1..5))
        .map(|_| {
            let seed = random.u64(..);
            spawn(move || tree(depth - 1, seed))
        })
        .collect();
    if random.bool() {
        yield_now();
    }
    for child in children {
        let (hosts, workers) = child.join().unwrap();
        sum = (sum.0 + hosts, sum.1 | workers);
    }
    sum
}

/// The size that [`tree`] has to have.
fn size(depth: u32, seed: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let _ = random.u64(0..20);
    if depth == 0 {
        return 1;
    }
    let seeds: Vec<u64> = (0..random.u32(1..5)).map(|_| random.u64(..)).collect();
    1 + seeds.into_iter().map(|seed| size(depth - 1, seed)).sum::<u64>()
}

fn trees_of_hosts(seed: u64) {
    for workers in [1, 2, 4] {
        let (hosts, places) = runtime(workers).run(|| tree(6, seed));
        assert_eq!(hosts, size(6, seed), "{workers} workers");
        assert!(places < 1 << workers);
    }
}

/// Everybody sends and receives with timeouts around what a meeting takes.
fn random_timeouts(seed: u64) {
    let runtime = runtime(4);
    let (tx, rx) = channel::<u64>();
    let (sent, got) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let hosts: Vec<_> = (0..24_u64)
        .map(|n| {
            let (tx, rx, sent, got) = (tx.clone(), rx.clone(), sent.clone(), got.clone());
            runtime.handle().spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed ^ n);
                for _ in 0..300 {
                    let timeout = Duration::from_micros(random.u64(0..200));
                    if random.bool() {
                        let value = random.u64(1..1 << 40);
                        if tx.send_timeout(value, timeout).is_ok() {
                            sent.fetch_add(value, Ordering::Relaxed);
                        }
                    } else if let Ok(value) = rx.recv_timeout(timeout) {
                        got.fetch_add(value, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    hosts.into_iter().for_each(|host| host.join().unwrap());
    assert_eq!(sent.load(Ordering::Relaxed), got.load(Ordering::Relaxed));
}

/// Many hosts are woken at once, from a host, from an OS thread, and by the end of a channel.
fn storms_of_wakes(seed: u64) {
    let runtime = runtime(4);
    let (tx, rx) = channel::<u64>();
    let hosts: Vec<_> = (0..400)
        .map(|n| {
            let rx = rx.clone();
            Builder::new().worker(n % 4).spawn_in(&runtime.handle(), move || rx.iter().sum::<u64>()).unwrap()
        })
        .collect();
    drop(rx);
    let senders: Vec<_> = (0..3)
        .map(|_| {
            let tx = tx.clone();
            std::thread::spawn(move || (0..400).for_each(|n| tx.send(n).unwrap()))
        })
        .collect();
    senders.into_iter().for_each(|thread| thread.join().unwrap());
    if seed.is_multiple_of(2) {
        runtime.run(move || drop(tx));
    } else {
        drop(tx);
    }
    assert_eq!(hosts.into_iter().map(|host| host.join().unwrap()).sum::<u64>(), 3 * 399 * 200);
}

/// Work comes in bursts, with gaps in which workers fall asleep in every stage of it.
fn bursts_with_gaps(seed: u64) {
    let runtime = runtime(3);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..40 {
        let hosts: Vec<_> = (0..random.u32(1..6))
            .map(|n| {
                runtime.handle().spawn(move || {
                    let child = spawn(move || n);
                    yield_now();
                    child.join().unwrap()
                })
            })
            .collect();
        let many = hosts.len() as u32;
        assert_eq!(hosts.into_iter().map(|host| host.join().unwrap()).sum::<u32>(), many * (many - 1) / 2);
        match random.u32(0..4) {
            0 => std::thread::sleep(Duration::from_micros(random.u64(0..3000))),
            1 => std::thread::sleep(Duration::from_micros(random.u64(0..100))),
            2 => (0..random.u32(0..5000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

/// Runtimes are made, used for a moment and dropped.
fn runtimes_come_and_go(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20 {
        let runtime = runtime(random.usize(1..5));
        match random.u32(0..3) {
            0 => {}
            1 => drop(runtime.handle().spawn(|| sleep(Duration::MAX))),
            _ => assert_eq!(runtime.run(|| spawn(|| 3).join().unwrap()), 3),
        }
    }
}

/// Tokens of suspended hosts are used by hosts, OS threads and other runtimes.
fn tokens_from_everywhere(_seed: u64) {
    let (a, b) = (runtime(2), runtime(2));
    let (tx, rx) = channel::<WakeToken>();
    let serve = |rx: Receiver<WakeToken>| move || rx.iter().for_each(WakeToken::wake);
    let wakers = [a.handle().spawn(serve(rx.clone())), b.handle().spawn(serve(rx.clone()))];
    let waker = std::thread::spawn(serve(rx));
    let suspended = |handle: Handle| {
        let tx = tx.clone();
        handle.spawn(move || {
            for _ in 0..200 {
                suspend(|token| tx.send(token).unwrap_or_else(|_| unreachable!())).unwrap();
            }
        })
    };
    let hosts: Vec<_> =
        (0..10).map(|n| suspended(if n % 2 == 0 { a.handle() } else { b.handle() })).collect();
    hosts.into_iter().for_each(|host| host.join().unwrap());
    drop(tx);
    wakers.into_iter().for_each(|host| host.join().unwrap());
    waker.join().unwrap();
}

/// A runtime ends while its hosts, another runtime and OS threads are in the middle of everything.
fn endings_under_load(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (ending, staying) = (runtime(3), runtime(1));
    let (tx, rx) = channel::<Counted>();
    let (made, dropped) = (counter(), counter());
    let stop = Arc::new(AtomicBool::new(false));
    let life = |seed: u64| {
        let (tx, rx, made, dropped, stop) =
            (tx.clone(), rx.clone(), made.clone(), dropped.clone(), stop.clone());
        move || {
            let mut random = fastrand::Rng::with_seed(seed);
            while !stop.load(Ordering::Relaxed) {
                let timeout = Duration::from_micros(random.u64(0..500));
                match random.u32(0..7) {
                    0 | 1 => {
                        tick(&made);
                        drop(tx.send_timeout(Counted(dropped.clone()), timeout));
                    }
                    2 | 3 => drop(rx.recv_timeout(timeout)),
                    4 => yield_now(),
                    5 => sleep(timeout / 4),
                    _ if lamprey::Handle::current().is_some() => drop(spawn(yield_now).join()),
                    _ => {}
                }
            }
        }
    };
    let killed: Vec<_> = (0..30).map(|_| ending.handle().spawn(life(random.u64(..)))).collect();
    let hosts: Vec<_> = (0..5).map(|_| staying.handle().spawn(life(random.u64(..)))).collect();
    let thread = std::thread::spawn(life(random.u64(..)));
    std::thread::sleep(Duration::from_micros(random.u64(0..5000)));
    drop(ending);
    assert!(killed.into_iter().all(|host| matches!(host.join(), Err(JoinError::Cancelled(_)))));
    stop.store(true, Ordering::Relaxed);
    hosts.into_iter().for_each(|host| host.join().unwrap());
    thread.join().unwrap();
    assert_eq!(count(&made), count(&dropped));
}

#[test]
fn stealing_happens_in_trees_of_computing_hosts() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let deadline = Instant::now() + FOREVER;
        while runtime.run(|| tree(7, fastrand::u64(..))).1 != 0b11 {
            assert!(Instant::now() < deadline, "all hosts of all trees stayed on one worker");
        }
    });
}
