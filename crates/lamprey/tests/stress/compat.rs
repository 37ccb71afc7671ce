//! All kinds of threads and tasks on the same channels, with futures that are dropped in between: every value
//! comes once.

use crate::common::{FOREVER, count, counter, runtime, within};
use futures::stream::{FuturesUnordered, StreamExt};
use lamprey::{
    Receiver, Sender, parasite, parasite_fn, parasite_local, spawn, wait, with_timeout_async, yield_now_async,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
            round(fastrand::Rng::with_seed(seed));
            if Instant::now() >= until {
                break;
            }
        }
    });
}

/// Where numbers go in, how many, and what has come out.
struct Books {
    sent: Arc<AtomicUsize>,
    got: Arc<AtomicUsize>,
    received: Arc<AtomicUsize>,
}

fn round(mut random: fastrand::Rng) {
    let ours = runtime(random.usize(1..=2));
    let other = runtime(random.usize(1..=2));
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let books = Books { sent: counter(), got: counter(), received: counter() };
    let (tx, rx) = lamprey::channel();
    let mut ends = Vec::new();
    for n in 0..random.usize(4..12) {
        // As many values as receivers will take: these go on until all senders are gone.
        let (kind, tx, values) = (random.usize(..), tx.clone(), random.usize(1..200));
        books.sent.fetch_add((1..=values).sum(), Ordering::SeqCst);
        let place = [&ours, &other][n % 2];
        ends.push(start(kind, place, &tokio, send(tx.clone(), values, random.fork()), move || {
            (1..=values).for_each(|n| tx.send(n).unwrap());
        }));
    }
    drop(tx);
    for n in 0..random.usize(2..8) {
        let (kind, rx) = (random.usize(..), rx.clone());
        let (got, received) = (books.got.clone(), books.received.clone());
        let future = receive(rx.clone(), got.clone(), received.clone(), random.fork());
        let place = [&ours, &other][n % 2];
        ends.push(start(kind, place, &tokio, future, move || {
            for n in rx {
                got.fetch_add(n, Ordering::SeqCst);
                received.fetch_add(1, Ordering::SeqCst);
            }
        }));
    }
    // What was handed back after the last sender had gone, and after the other receivers had seen that.
    ends.into_iter().for_each(|end| end.join().unwrap());
    books.got.fetch_add(rx.iter().sum(), Ordering::SeqCst);
    assert_eq!(count(&books.got), count(&books.sent), "after {} values", count(&books.received));
}

/// Runs the future, or the blocking code that does the same, somewhere.
fn start(
    kind: usize,
    place: &lamprey::Runtime,
    tokio: &tokio::runtime::Runtime,
    future: impl Future<Output = ()> + Send + 'static,
    blocking: impl FnOnce() + Send + 'static,
) -> thread::JoinHandle<()> {
    let (handle, tokio) = (place.handle(), tokio.handle().clone());
    let on_host = move |main: Box<dyn FnOnce() + Send>| handle.spawn(main).join().unwrap();
    let run = move || match kind % 9 {
        0 => on_host(Box::new(|| parasite(future).join().unwrap())),
        1 => on_host(Box::new(|| parasite_local(future).join().unwrap())),
        2 => on_host(Box::new(|| wait(future))),
        3 => on_host(Box::new(|| parasite_fn(|| wait(future)).join().unwrap())),
        4 => on_host(Box::new(|| parasite(Box::pin(future)).join().unwrap())),
        5 => on_host(Box::new(|| spawn(blocking).join().unwrap())),
        6 => on_host(Box::new(|| parasite_fn(blocking).join().unwrap())),
        7 => wait(tokio.spawn(future)).unwrap(),
        _ => futures::executor::block_on(future),
    };
    thread::spawn(run)
}

async fn send(tx: Sender<usize>, values: usize, mut random: fastrand::Rng) {
    let mut next = 1;
    while next <= values {
        let several = random.usize(1..6).min(values + 1 - next);
        if random.bool() {
            tx.send_async(next).await.unwrap();
            next += 1;
        } else {
            // Several nodes of one task.
            let some: FuturesUnordered<_> = (next..next + several).map(|n| tx.send_async(n)).collect();
            some.for_each(|sent| async move { sent.unwrap() }).await;
            next += several;
        }
        if random.u8(..) < 30 {
            yield_now_async().await;
        }
    }
}

async fn receive(
    rx: Receiver<usize>,
    got: Arc<AtomicUsize>,
    received: Arc<AtomicUsize>,
    mut random: fastrand::Rng,
) {
    let take = |n| {
        got.fetch_add(n, Ordering::SeqCst);
        received.fetch_add(1, Ordering::SeqCst);
    };
    loop {
        let outcome = match random.u8(..4) {
            0 => rx.recv_async().await,
            // Two of three are dropped, perhaps with a value that they have just been given.
            1 => {
                let some = [(); 3].map(|()| Box::pin(rx.recv_async()));
                futures::future::select_all(some).await.0
            }
            2 => {
                let mut some: FuturesUnordered<_> = (0..3).map(|_| rx.recv_async()).collect();
                some.next().await.unwrap()
            }
            _ => {
                let limit = Duration::from_micros(random.u64(..200));
                match with_timeout_async(limit, rx.recv_async()).await {
                    Ok(outcome) => outcome,
                    Err(_) => continue,
                }
            }
        };
        match outcome {
            Ok(n) => take(n),
            Err(_) => return,
        }
    }
}
