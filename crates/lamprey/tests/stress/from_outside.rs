//! OS threads, threads of tokio and hosts of another runtime start parasites in a runtime that ends meanwhile: each future is
//! dropped once, and each joiner has a result, or hears that it was cancelled.

use crate::common::{Counted, FOREVER, count, counter, runtime, tick, within};
use lamprey::{Builder, Handle, JoinError, ParasiteHandle};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::{Duration, Instant};

const SECONDS: Duration = Duration::from_millis(1500);
const MINUTES: Duration = Duration::from_secs(120);

#[test]
fn for_a_second() {
    rounds(SECONDS);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn for_minutes() {
    rounds(MINUTES);
}

fn rounds(time: Duration) {
    within(FOREVER + time * 2, move || {
        let until = Instant::now() + time;
        let first = fastrand::u64(..);
        for seed in (0..).map(|n| first.wrapping_add(n)) {
            println!("seed {seed}");
            round(&mut fastrand::Rng::with_seed(seed));
            if Instant::now() >= until {
                break;
            }
        }
    });
}

#[derive(Clone)]
struct Books {
    started: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

/// Starts one that yields, waits or ends, at random.
fn start(handle: &Handle, books: &Books, random: &mut fastrand::Rng) -> ParasiteHandle<usize> {
    tick(&books.started);
    let (held, yields, kind) = (Counted(books.dropped.clone()), random.usize(0..4), random.usize(0..3));
    let future = async move {
        let held = held;
        for _ in 0..yields {
            lamprey::yield_now_async().await;
        }
        match kind {
            0 => lamprey::sleep_async(Duration::from_micros(50)).await,
            1 => std::future::pending().await,
            _ => {}
        }
        drop(held);
        kind
    };
    let workers = handle.workers();
    match random.usize(0..3) {
        0 => Builder::new()
            .worker(random.usize(0..workers))
            .name("placed")
            .parasite_in(handle, future)
            .unwrap(),
        _ => handle.parasite(future),
    }
}

/// Starts many, and does with each handle what can be done with one.
fn starts(handle: &Handle, books: &Books, seed: u64) {
    let random = &mut fastrand::Rng::with_seed(seed);
    let mut kept = Vec::new();
    for _ in 0..random.usize(1..200) {
        let one = start(handle, books, random);
        match random.usize(0..5) {
            0 => one.detach(),
            1 => drop(one),
            2 => is_well(one.cancel_and_join()),
            _ => kept.push(one),
        }
    }
    for one in kept {
        // Those that wait for ever are cancelled by the end of the runtime, or here.
        if random.bool() {
            one.cancel();
            is_well(one.join());
        } else {
            one.detach();
        }
    }
}

fn is_well(outcome: Result<usize, JoinError>) {
    match outcome {
        Ok(kind) => assert!(kind < 3),
        Err(error) => assert!(matches!(error, JoinError::Cancelled(_)), "{error}"),
    }
}

fn round(random: &mut fastrand::Rng) {
    let books = Books { started: counter(), dropped: counter() };
    let ours = runtime(random.usize(1..=2));
    let other = runtime(random.usize(1..=2));
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let handle = ours.handle();
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (handle, books, seed) = (handle.clone(), books.clone(), random.u64(..));
            thread::spawn(move || starts(&handle, &books, seed))
        })
        .collect();
    let hosts: Vec<_> = [&other, &ours]
        .into_iter()
        .map(|place| {
            let (handle, books, seed) = (handle.clone(), books.clone(), random.u64(..));
            place.handle().spawn(move || starts(&handle, &books, seed))
        })
        .collect();
    let task = {
        let (handle, books, seed) = (handle.clone(), books.clone(), random.u64(..));
        tokio.spawn(async move { starts(&handle, &books, seed) })
    };
    thread::sleep(Duration::from_micros(random.u64(0..2000)));
    drop(ours);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    for host in hosts {
        match host.join() {
            Ok(()) | Err(JoinError::Cancelled(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    tokio.block_on(task).unwrap();
    starts(&handle, &books, random.u64(..));
    assert_eq!(count(&books.dropped), count(&books.started));
}
