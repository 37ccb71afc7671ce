//! `block`: calls that can only block, from hosts.

use crate::common::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

fn with_pool<T: Send + 'static>(
    workers: usize,
    threads: usize,
    main: impl FnOnce() -> T + Send + 'static,
) -> T {
    within(FOREVER, move || {
        lamprey::Runtime::builder().workers(workers).blocking_threads(threads).build().unwrap().run(main)
    })
}

#[test]
fn a_thousand_calls_go_through_a_pool_of_four() {
    with_pool(2, 4, || {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let hosts: Vec<_> = (0..1000_usize)
            .map(|n| {
                let (running, most) = (running.clone(), most.clone());
                lamprey::spawn(move || {
                    lamprey::block(|| {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        if n % 100 == 0 {
                            thread::sleep(Duration::from_millis(1));
                        }
                        running.fetch_sub(1, Ordering::SeqCst);
                        n * 2
                    })
                })
            })
            .collect();
        let sum: usize = hosts.into_iter().map(|host| host.join().unwrap()).sum();
        assert_eq!(sum, 999_000);
        assert!(most.load(Ordering::SeqCst) <= 4);
    });
}

#[test]
fn the_worker_goes_on_while_every_pool_thread_is_blocked() {
    with_pool(1, 2, || {
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(std::sync::Mutex::new(released));
        let blocked: Vec<_> = (0..3)
            .map(|_| {
                let released = released.clone();
                lamprey::spawn(move || lamprey::block(|| released.lock().unwrap().recv().unwrap()))
            })
            .collect();
        // The worker runs hosts and timers meanwhile, and one of its hosts ends the blocking.
        let other = lamprey::spawn(|| (0..10).for_each(|_| lamprey::sleep(Duration::from_millis(1))));
        other.join().unwrap();
        assert!(blocked.iter().all(|host| !host.is_finished()));
        (0..3).for_each(|_| release.send(()).unwrap());
        blocked.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn it_runs_on_another_kernel_thread_and_may_borrow() {
    with_pool(1, 1, || {
        let here = thread::current().id();
        let mut seen = None;
        lamprey::block(|| seen = Some(thread::current().id()));
        assert!(seen.is_some_and(|there| there != here));
    });
}

#[test]
fn a_panic_reaches_the_caller_with_its_payload() {
    with_pool(1, 1, || {
        let payload =
            catch_unwind(AssertUnwindSafe(|| lamprey::block(|| std::panic::panic_any(7_u8)))).unwrap_err();
        assert_eq!(payload.downcast_ref::<u8>(), Some(&7));
        assert_eq!(lamprey::block(|| 1), 1);
    });
}

#[test]
fn a_call_within_a_call_runs_in_place() {
    with_pool(1, 1, || {
        let (outer, inner) =
            lamprey::block(|| (thread::current().id(), lamprey::block(|| thread::current().id())));
        assert_eq!(outer, inner);
    });
}

#[test]
fn a_host_that_unwinds_makes_the_call_itself() {
    struct BlocksOnDrop(Arc<AtomicBool>);
    impl Drop for BlocksOnDrop {
        fn drop(&mut self) {
            let here = thread::current().id();
            self.0.store(lamprey::block(|| thread::current().id()) == here, Ordering::SeqCst);
        }
    }
    with_pool(1, 1, || {
        let in_place = Arc::new(AtomicBool::new(false));
        let guard = BlocksOnDrop(in_place.clone());
        let host = lamprey::spawn(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(host.join().is_err());
        assert!(in_place.load(Ordering::SeqCst));
    });
}

#[test]
fn a_runtime_that_ends_waits_for_the_calls_under_way() {
    within(FOREVER, || {
        let done = Arc::new(AtomicBool::new(false));
        let theirs = done.clone();
        let runtime = runtime(1);
        let (started, starts) = mpsc::channel();
        let (let_go, held_up) = mpsc::channel::<()>();
        runtime.handle().spawn(move || {
            lamprey::block(move || {
                started.send(()).unwrap();
                let _ = held_up.recv();
                theirs.store(true, Ordering::SeqCst);
            })
        });
        starts.recv().unwrap();
        let stopper = blocked_os(move || {
            drop(runtime);
            done.load(Ordering::SeqCst)
        });
        assert!(!stopper.is_finished());
        drop(let_go);
        assert!(stopper.join().unwrap(), "the call was not waited for");
    });
}

#[test]
fn pool_threads_end_with_their_runtime() {
    fn pool_threads() -> usize {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.filter(|name| name.starts_with("lamprey-pool")).count()
    }
    if role().is_none() {
        // Alone in a process, because other tests have pools of their own.
        let output = again("pool_threads_end_with_their_runtime", "child").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    with_pool(1, 4, || {
        let hosts: Vec<_> = (0..4)
            .map(|_| lamprey::spawn(|| lamprey::block(|| thread::sleep(Duration::from_millis(20)))))
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert!((1..=4).contains(&pool_threads()));
    });
    eventually("the pool's threads are gone", || pool_threads() == 0);
}
