//! Destructors that block, on a thread that is cancelled: their calls fail, they run to their ends, and nothing is lost, whether the
//! thread unwinds, has never begun, or is over.

use crate::common::*;
use lamprey::{
    HostLocal, Runtime, bounded, host_local, parasite, parasite_fn, scope, sleep, sleep_async, spawn,
    yield_now,
};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Gives itself back when it is dropped, or keeps itself if nobody takes it.
struct Job {
    number: u32,
    back: bounded::Sender<u32>,
    kept: Arc<Mutex<Vec<u32>>>,
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Err(error) = self.back.send(self.number) {
            self.kept.lock().unwrap().push(error.0);
        }
    }
}

host_local! {
    static JOBS: RefCell<Vec<Job>> = RefCell::default();
}

fn keep_here(job: Job) {
    let jobs: &HostLocal<_> = &JOBS;
    jobs.with(|jobs| jobs.borrow_mut().push(job));
}

/// Runs `program` with a source of jobs that nobody takes back; returns those that have kept themselves.
fn kept(program: impl FnOnce(&dyn Fn() -> Job) + Send + 'static) -> (u32, Vec<u32>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let theirs = kept.clone();
    let made = within(FOREVER, move || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let made = runtime.run(move || {
            let (back, taken) = bounded(1);
            back.send(0).unwrap(); // no room
            std::mem::forget(taken);
            let number = std::cell::Cell::new(0);
            program(&|| {
                number.set(number.get() + 1);
                Job { number: number.get(), back: back.clone(), kept: theirs.clone() }
            });
            number.get()
        });
        drop(runtime);
        made
    });
    let mut kept = std::mem::take(&mut *kept.lock().unwrap());
    kept.sort_unstable();
    (made, kept)
}

/// All that were made, each once.
fn all_are_kept(program: impl FnOnce(&dyn Fn() -> Job) + Send + 'static) {
    let (made, kept) = kept(program);
    assert_eq!(kept, Vec::from_iter(1..=made));
}

#[test]
fn of_hosts_that_are_cancelled() {
    all_are_kept(|job| {
        for _ in 0..2 {
            // That waits.
            let its = job();
            let host = spawn(move || (sleep(Duration::MAX), drop(its)));
            yield_now();
            host.cancel();
            drop(host.join());
            // That has not begun.
            let its = job();
            let host = spawn(move || drop(its));
            host.cancel();
            drop(host.join());
            // In a variable of its own.
            let its = job();
            let host = spawn(move || {
                keep_here(its);
                sleep(Duration::MAX);
            });
            yield_now();
            host.cancel();
            drop(host.join());
        }
    });
}

#[test]
fn of_parasites_that_a_cancelled_host_leaves() {
    all_are_kept(|job| {
        for _ in 0..2 {
            let (one, other) = (job(), job());
            let host = spawn(move || {
                let waits = parasite(async move {
                    let _one = one;
                    sleep_async(Duration::MAX).await;
                });
                let stackful = parasite_fn(move || {
                    keep_here(other);
                    sleep(Duration::MAX);
                });
                sleep(Duration::MAX);
                drop((waits, stackful));
            });
            yield_now();
            host.cancel();
            drop(host.join());
        }
    });
}

#[test]
fn of_children_of_a_cancelled_scope() {
    all_are_kept(|job| {
        let (one, other) = (job(), job());
        scope(|s| {
            s.spawn(move || (sleep(Duration::MAX), drop(one)));
            yield_now();
            s.spawn(move || drop(other)); // has not begun
            s.cancel();
        });
    });
}

#[test]
fn of_what_is_left_at_the_end_of_a_runtime() {
    all_are_kept(|job| {
        for _ in 0..2 {
            let its = job();
            parasite(async move {
                let _its = its;
                sleep_async(Duration::MAX).await;
            })
            .detach();
            let its = job();
            parasite_fn(move || {
                keep_here(its);
                sleep(Duration::MAX);
            })
            .detach();
            let its = job();
            spawn(move || (sleep(Duration::MAX), drop(its)));
            yield_now();
            let its = job();
            spawn(move || (sleep(Duration::MAX), drop(its))); // has not begun
        }
    });
}

/// A panic of such a destructor goes no further, and the others run.
#[test]
fn that_panic_there() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    all_are_kept(|job| {
        let its = job();
        let host = spawn(move || drop((its, Panics)));
        host.cancel();
        drop(host.join());
        let (its, panics) = (job(), Panics);
        parasite(async move {
            let (_its, _panics) = (its, panics);
            sleep_async(Duration::MAX).await;
        })
        .detach();
        let its = job();
        parasite(async move {
            let _its = its;
            sleep_async(Duration::MAX).await;
        })
        .detach();
    });
}
