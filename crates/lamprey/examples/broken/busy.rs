//! Programs in which threads have a lot to do, and hold up none for long: nothing is reported. Each comes to its end.

use lamprey::{Builder, channel, compute, sleep, yield_now};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

pub const PROGRAMS: [(&str, fn()); 5] = [
    ("alone", alone),
    ("yields", yields),
    ("changes", changes),
    ("on-the-pool", on_the_pool),
    ("starved", starved),
];

/// The processor's time that the calling kernel thread has had.
fn own_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

fn compute_for(time: Duration) {
    let start = own_time();
    while own_time() - start < time {
        black_box((0..1000_u64).sum::<u64>());
    }
}

const PART: Duration = Duration::from_millis(5);

/// Nobody waits for the thread that computes.
fn alone() {
    let (done, told) = channel();
    let waits = Builder::new().worker(0).spawn(move || told.recv().unwrap()).unwrap();
    yield_now();
    let computes = Builder::new().worker(0).spawn(|| compute_for(Duration::from_millis(500))).unwrap();
    computes.join().unwrap();
    done.send(()).unwrap();
    waits.join().unwrap();
}

/// Two hosts that take turns.
fn yields() {
    let hosts = [(); 2].map(|()| {
        let computes = || {
            (0..20).for_each(|_| {
                compute_for(PART);
                yield_now();
            })
        };
        Builder::new().worker(0).spawn(computes).unwrap()
    });
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

/// Two hosts take turns, after thousands of turns that took no time: the scheduler looks only now and then by then.
fn changes() {
    let hosts = [(); 2].map(|()| {
        let computes = || {
            for _ in 0..5 {
                (0..10_000).for_each(|_| yield_now());
                (0..20).for_each(|_| {
                    compute_for(PART);
                    yield_now();
                });
            }
        };
        Builder::new().worker(0).spawn(computes).unwrap()
    });
    hosts.into_iter().for_each(|host| host.join().unwrap());
}

/// What computes for long does it where it holds up nobody.
fn on_the_pool() {
    let computes =
        Builder::new().worker(0).spawn(|| compute(|| compute_for(Duration::from_millis(500)))).unwrap();
    let ticks =
        Builder::new().worker(0).spawn(|| (0..20).for_each(|_| sleep(Duration::from_millis(10)))).unwrap();
    computes.join().unwrap();
    ticks.join().unwrap();
    lamprey::block(|| std::thread::sleep(Duration::from_millis(300)));
}

/// Two hosts take turns on a machine with so much else to do that a turn takes longer than the limit.
fn starved() {
    for _ in 0..16 {
        std::thread::spawn(|| {
            loop {
                black_box((0..1000_u64).sum::<u64>());
            }
        });
    }
    yields();
}
