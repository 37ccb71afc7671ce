//! Shutting down with a deadline: who does not end is named, with what it waits for and where it is.

use crate::common::{FOREVER, within};
use lamprey::{Builder, Runtime, Survivor, Wait, channel, shield, sleep, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(1000);
const SHORT: Duration = Duration::from_millis(50);

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().unwrap()
}

fn named<'a>(survivors: &'a [Survivor], name: &str) -> &'a Survivor {
    survivors.iter().find(|survivor| survivor.thread().name() == Some(name)).unwrap()
}

#[inline(never)]
fn waits_for_ever(rx: &lamprey::Receiver<u32>) {
    let _ = rx.recv();
    std::hint::black_box(());
}

#[inline(never)]
fn computes_for_ever(end: &AtomicBool) {
    while !end.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

#[test]
fn when_all_end_nobody_is_left() {
    within(FOREVER, || {
        let runtime = runtime(2);
        runtime.run(|| {
            for _ in 0..100 {
                spawn(|| sleep(LONG));
            }
            sleep(Duration::from_millis(2));
        });
        let start = Instant::now();
        assert!(runtime.shutdown(LONG).is_empty());
        assert!(start.elapsed() < LONG);
    });
}

#[test]
fn one_that_shields_itself_is_named_with_its_wait_and_its_stack() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let (tx, rx) = channel::<u32>();
        let (started, start) = std::sync::mpsc::channel();
        let (ended, end) = std::sync::mpsc::channel();
        drop(runtime.handle().spawn(|| sleep(LONG)));
        let stubborn = Builder::new().name("stubborn").spawn_in(&runtime.handle(), move || {
            shield(|| {
                started.send(()).unwrap();
                waits_for_ever(&rx);
            });
            ended.send(()).unwrap();
        });
        drop(stubborn);
        start.recv().unwrap();
        let survivors = runtime.shutdown(SHORT);
        let survivor = named(&survivors, "stubborn");
        assert_eq!(survivor.wait(), Some(Wait::Recv));
        let text = survivor.to_string();
        assert!(text.contains("`stubborn`") && text.contains("receive on a channel"), "{text}");
        assert!(text.contains("waits_for_ever") && text.contains("survivors.rs:"), "{text}");
        // The other may not have got round to ending yet, but waits for nothing any more.
        assert!(survivors.len() <= 2, "{survivors:?}");
        assert_eq!(survivors.iter().filter(|survivor| survivor.wait().is_some()).count(), 1, "{survivors:?}");
        // It has not been harmed: what it waits for still comes, and then it ends.
        tx.send(1).unwrap();
        end.recv().unwrap();
    });
}

#[test]
fn one_that_waits_within_a_generator_is_named_with_the_stack_there() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (tx, rx) = channel::<u32>();
        let (started, start) = std::sync::mpsc::channel();
        let (ended, end) = std::sync::mpsc::channel();
        let inside = Builder::new().name("inside").spawn_in(&runtime.handle(), move || {
            let mut generator = swapstack::Generator::new(move |_: &swapstack::Yielder<(), ()>, ()| {
                shield(|| {
                    started.send(()).unwrap();
                    waits_for_ever(&rx);
                });
            });
            generator.resume(());
            ended.send(()).unwrap();
        });
        drop(inside);
        start.recv().unwrap();
        let survivors = runtime.shutdown(SHORT);
        let text = named(&survivors, "inside").to_string();
        assert!(text.contains("waits_for_ever"), "{text}");
        tx.send(1).unwrap();
        end.recv().unwrap();
    });
}

#[test]
fn a_policy_that_computes_is_reported_as_its_worker() {
    struct Stuck(crate::common::Fifo, Arc<AtomicBool>, std::sync::mpsc::Sender<()>);
    impl lamprey::Policy for Stuck {
        fn ready(&mut self, thread: lamprey::Ready, why: lamprey::Why) {
            self.0.ready(thread, why);
        }
        fn next(&mut self, unstarted: &mut lamprey::Unstarted<'_>) -> Option<lamprey::Ready> {
            let next = self.0.next(unstarted);
            if next.is_some() {
                self.2.send(()).unwrap();
                computes_for_ever(&self.1);
            }
            next
        }
    }
    within(FOREVER, || {
        let end = Arc::new(AtomicBool::new(false));
        let theirs = end.clone();
        let (started, start) = std::sync::mpsc::channel();
        let builder = Runtime::builder().workers(1);
        let policy = move || Stuck(crate::common::Fifo::default(), theirs.clone(), started.clone());
        let runtime = builder.policy(policy).build().unwrap();
        drop(runtime.handle().spawn(|| ()));
        start.recv().unwrap();
        let survivors = runtime.shutdown(SHORT);
        assert_eq!(survivors.len(), 1, "{survivors:?}");
        let info = survivors[0].thread();
        assert_eq!((info.kind(), info.worker()), (lamprey::ThreadKind::Os, Some(0)));
        assert!(survivors[0].to_string().contains("worker 0"), "{}", survivors[0]);
        end.store(true, Ordering::Relaxed);
    });
}

#[test]
fn one_that_computes_is_named_with_its_stack_and_so_are_those_behind_it() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let end = Arc::new(AtomicBool::new(false));
        let theirs = end.clone();
        let (started, start) = std::sync::mpsc::channel();
        let host = runtime.handle().spawn(move || {
            drop(Builder::new().name("behind").spawn(|| sleep(LONG)));
            lamprey::yield_now();
            lamprey::yield_now();
            let busy = Builder::new().name("busy").spawn(move || {
                started.send(()).unwrap();
                computes_for_ever(&theirs);
            });
            drop(busy);
        });
        start.recv().unwrap();
        let survivors = runtime.shutdown(SHORT);
        let text: String = survivors.iter().map(|survivor| format!("{survivor}\n")).collect();
        let busy = named(&survivors, "busy");
        assert_eq!(busy.wait(), None);
        assert!(busy.to_string().contains("computes_for_ever"), "{text}");
        assert_eq!(named(&survivors, "behind").wait(), Some(Wait::Sleep));
        assert!(!survivors.iter().any(|survivor| survivor.thread().name() == Some("ended")));
        end.store(true, Ordering::Relaxed);
        let _ = host.join();
    });
}

#[test]
fn one_that_catches_its_cancellation_and_goes_on_is_named() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let end = Arc::new(AtomicBool::new(false));
        let theirs = end.clone();
        let (started, start) = std::sync::mpsc::channel();
        let clings = Builder::new().name("clings").spawn_in(&runtime.handle(), move || {
            started.send(()).unwrap();
            while !theirs.load(Ordering::Relaxed) {
                let _ = std::panic::catch_unwind(|| sleep(LONG));
            }
        });
        start.recv().unwrap();
        let survivors = runtime.shutdown(SHORT);
        assert_eq!(named(&survivors, "clings").wait(), None);
        end.store(true, Ordering::Relaxed);
        let _ = clings.unwrap().join();
    });
}

#[test]
fn from_a_host_of_another_runtime_and_from_an_own_one() {
    within(FOREVER, || {
        let other = runtime(1);
        other.run(|| {
            let runtime = runtime(1);
            runtime.run(|| drop(spawn(|| sleep(LONG))));
            assert!(runtime.shutdown(LONG).is_empty());
        });
        let own = Arc::new(runtime(1));
        let theirs = std::sync::Mutex::new(Some(runtime(1)));
        let handle = theirs.lock().unwrap().as_ref().unwrap().handle();
        let host = handle.spawn(move || theirs.into_inner().unwrap().unwrap().shutdown(LONG).len());
        // It cannot wait for itself.
        assert!(matches!(host.join(), Ok(0) | Err(lamprey::JoinError::Cancelled(_))));
        drop(own);
    });
}

/// Starts its like when it is dropped, which happens when that one is cancelled.
struct Heirs;

impl Drop for Heirs {
    fn drop(&mut self) {
        let heirs = Heirs;
        drop(lamprey::spawn(move || {
            let _heirs = &heirs;
            lamprey::sleep(Duration::MAX);
        }));
    }
}

/// No started thread is found, and yet it is not over.
#[test]
fn hosts_whose_destructors_start_hosts_for_ever_are_not_passed_over() {
    const ME: &str = "hosts_whose_destructors_start_hosts_for_ever_are_not_passed_over";
    if crate::common::role().is_none() {
        return crate::common::alone(ME);
    }
    let runtime = crate::common::runtime(1);
    runtime.run(|| {
        drop(lamprey::spawn(|| {
            let _heirs = Heirs;
            lamprey::sleep(Duration::MAX);
        }));
        lamprey::yield_now();
    });
    assert!(!runtime.shutdown(SHORT).is_empty());
    std::process::exit(0); // they never end
}
