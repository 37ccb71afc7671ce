//! What a panic carries is dropped by whoever has it last, and that runs code of the program, which may panic
//! again.

use crate::common::{FOREVER, count, counter, eventually, run, tick, within};
use lamprey::scope::{Backoff, Restart, Supervisor};
use std::future::Future;
use std::io::Write;
use std::panic::panic_any;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// A payload whose destructor panics with another one, so often.
struct Worse(u32);

impl Drop for Worse {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Worse(self.0 - 1));
        }
    }
}

/// Its destructor panics with such a payload.
struct Bad(Arc<AtomicUsize>);

impl Drop for Bad {
    fn drop(&mut self) {
        tick(&self.0);
        panic_any(Worse(2));
    }
}

/// Panics with such a payload when it is woken.
struct BadWaker(Arc<AtomicUsize>);

impl Wake for BadWaker {
    fn wake(self: Arc<Self>) {
        tick(&self.0);
        panic_any(Worse(2));
    }
}

#[test]
fn a_result_that_panics_when_it_is_dropped_does_not_end_its_pool_thread() {
    within(FOREVER, || {
        let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        runtime.run(|| {
            let drops = counter();
            for round in 1..=3 {
                let (begun, begins) = std::sync::mpsc::channel();
                let (go_on, goes_on) = std::sync::mpsc::channel();
                let theirs = drops.clone();
                let waits = lamprey::parasite(async move {
                    lamprey::block_async(move || {
                        begun.send(()).unwrap();
                        goes_on.recv().unwrap();
                        Bad(theirs)
                    })
                    .await;
                });
                eventually("the call", || begins.try_recv().is_ok());
                assert!(waits.cancel_and_join().is_err());
                go_on.send(()).unwrap();
                assert_eq!(lamprey::block(|| 1), 1);
                eventually("its drop", || count(&drops) == round);
            }
        });
        drop(runtime);
    });
}

#[test]
fn a_closure_that_panics_when_it_is_dropped_does_not_end_its_pool_thread() {
    within(FOREVER, || {
        let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        runtime.run(|| {
            let drops = counter();
            let bad = Bad(drops.clone());
            let failed = lamprey::parasite(lamprey::block_async(move || drop(bad))).join();
            std::mem::forget(failed.unwrap_err());
            assert_eq!(lamprey::block(|| 1), 1);
            assert_eq!(count(&drops), 1);
        });
        drop(runtime);
    });
}

#[test]
fn a_waker_that_panics_with_a_payload_that_panics_ends_nothing_else() {
    run(1, || {
        let wakes = counter();
        let waker = Waker::from(Arc::new(BadWaker(wakes.clone())));
        let mut context = Context::from_waker(&waker);
        let mut asleep = pin!(lamprey::sleep_async(Duration::from_millis(1)));
        assert!(asleep.as_mut().poll(&mut context).is_pending());
        let mut blocks = pin!(lamprey::block_async(|| std::thread::sleep(Duration::from_millis(5))));
        assert!(blocks.as_mut().poll(&mut context).is_pending());
        let (ours, theirs) = lamprey::net::UnixStream::pair().unwrap();
        let mut byte = [0];
        let mut reads = pin!(theirs.read_async(&mut byte));
        assert!(reads.as_mut().poll(&mut context).is_pending());
        (&ours).write_all(&[1]).unwrap();
        eventually("all wakes", || count(&wakes) == 3);
        assert!(asleep.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        lamprey::wait(blocks);
        assert_eq!(lamprey::wait(reads).unwrap(), 1);
    });
}

#[test]
fn an_outcome_that_nobody_wants_may_panic_with_a_payload_that_panics() {
    run(2, || {
        let drops = counter();
        for _ in 0..3 {
            let bad = || Bad(drops.clone());
            let (a, b, c) = (bad(), bad(), bad());
            let host = lamprey::spawn(move || a);
            let parasite = lamprey::parasite(async move {
                lamprey::yield_now_async().await;
                b
            });
            let thread = lamprey::parasite_fn(move || {
                lamprey::yield_now();
                c
            });
            drop(host);
            parasite.detach();
            thread.detach();
        }
        for _ in 0..3 {
            drop(lamprey::spawn(|| panic_any(Worse(2))));
            lamprey::parasite(async {
                lamprey::yield_now_async().await;
                panic_any(Worse(2))
            })
            .detach();
        }
        eventually("all drops", || count(&drops) == 9);
    });
}

#[test]
fn a_supervisor_outlives_a_child_that_panics_with_a_payload_that_panics() {
    run(1, || {
        let starts = counter();
        let theirs = starts.clone();
        let child = move || {
            tick(&theirs);
            if count(&theirs) < 3 {
                panic_any(Worse(2));
            }
            Ok(())
        };
        let supervisor = Supervisor::<String>::typed()
            .backoff(Backoff::new(Duration::ZERO))
            .child("child", Restart::OnFailure, child)
            .on_failure(|_| {});
        assert!(supervisor.run().is_ok());
        assert_eq!(count(&starts), 3);
    });
}
