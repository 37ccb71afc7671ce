//! Mutexes, by the moment: who waits, who goes, and who has the lock then.

use crate::common::{run, runtime};
use lamprey::event::{Event, choose, timeout};
use lamprey::sync::{LockError, LockOptions, LockTimeoutError, Mutex, MutexGuard, Order, TryLockError, Wake};
use lamprey::{parasite, sleep, spawn, yield_now, yield_now_async};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(60);

fn policies() -> [LockOptions; 5] {
    let options = LockOptions::new();
    [
        options,
        options.order(Order::Lifo),
        options.wake(Wake::Switch),
        options.order(Order::Lifo).wake(Wake::Switch),
        options.biased(true),
    ]
}

/// Until all who can run have come to a block.
fn settle() {
    (0..10).for_each(|_| yield_now());
}

#[test]
fn hosts_that_wait_go_on_in_the_order_that_was_chosen() {
    for options in policies() {
        let order = run(1, move || {
            let mutex = Arc::new(Mutex::with_options(Vec::new(), options));
            let guard = mutex.lock().unwrap();
            let hosts: Vec<_> = (0..5)
                .map(|n| {
                    let theirs = mutex.clone();
                    let host = spawn(move || theirs.lock().unwrap().push(n));
                    settle();
                    host
                })
                .collect();
            drop(guard);
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::into_inner(mutex).unwrap().into_inner().unwrap()
        });
        let is_lifo = format!("{options:?}").contains("Lifo");
        let expected = if is_lifo { [4, 3, 2, 1, 0] } else { [0, 1, 2, 3, 4] };
        assert_eq!(order, expected, "{options:?}");
    }
}

#[test]
fn one_who_is_overtaken_is_handed_the_lock_the_next_time() {
    run(1, || {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock().unwrap();
        let theirs = mutex.clone();
        let host = spawn(move || *theirs.lock().unwrap() += 1);
        settle();
        drop(guard); // wakes it
        let guard = mutex.lock().unwrap(); // and overtakes it
        settle(); // it comes, and queues in front
        drop(guard);
        assert!(mutex.try_lock().is_err(), "it was handed the lock");
        host.join().unwrap();
        assert_eq!(*mutex.lock().unwrap(), 1);
    });
}

#[test]
fn unlock_with_switch_runs_the_waiter_at_once() {
    run(1, || {
        let mutex = Arc::new(Mutex::with_options(0, LockOptions::new().wake(Wake::Switch)));
        let guard = mutex.lock().unwrap();
        let theirs = mutex.clone();
        let host = spawn(move || *theirs.lock().unwrap() += 1);
        settle();
        drop(guard);
        assert_eq!(*mutex.try_lock().unwrap(), 1);
        host.join().unwrap();
    });
}

#[test]
fn a_guard_is_kept_across_blocking_calls() {
    run(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let hosts: Vec<_> = (0..8)
            .map(|_| {
                let mutex = mutex.clone();
                spawn(move || {
                    let mut guard = mutex.lock().unwrap();
                    let before = *guard;
                    sleep(Duration::from_micros(100));
                    *guard = before + 1;
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*mutex.lock().unwrap(), 8);
    });
}

#[test]
fn a_wait_that_times_out_leaves_nothing_behind() {
    run(1, || {
        let mutex = Mutex::new(());
        let guard = mutex.lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        let theirs = &mutex;
        std::thread::scope(|scope| {
            let other =
                scope.spawn(move || matches!(theirs.lock_timeout(SOON), Err(LockTimeoutError::TimedOut)));
            assert!(other.join().unwrap());
        });
        drop(guard);
        assert!(mutex.try_lock().is_ok());
    });
}

#[test]
fn unlock_while_a_waiter_times_out() {
    run(2, || {
        let mutex = Arc::new(Mutex::new(0));
        for n in 0..200 {
            let guard = mutex.lock().unwrap();
            let theirs = mutex.clone();
            let host = spawn(move || {
                theirs.lock_timeout(Duration::from_micros(n * 5)).map_or(0, |mut guard| {
                    *guard += 1;
                    1
                })
            });
            sleep(Duration::from_micros(n * 3));
            drop(guard);
            let got = host.join().unwrap();
            let mut guard = mutex.try_lock().expect("nobody has it");
            assert_eq!(std::mem::take(&mut *guard), got);
        }
    });
}

#[test]
fn a_host_is_cancelled_while_it_waits_or_is_handed_the_lock() {
    for options in policies() {
        run(1, move || {
            for after in [false, true] {
                let mutex = Arc::new(Mutex::with_options((), options));
                let guard = mutex.lock().unwrap();
                let (theirs, behind) = (mutex.clone(), mutex.clone());
                let host = spawn(move || drop(theirs.lock().unwrap()));
                settle();
                let other = spawn(move || drop(behind.lock().unwrap()));
                settle();
                if after {
                    drop(guard);
                    host.cancel();
                } else {
                    host.cancel();
                    drop(guard);
                }
                let _ = host.join();
                other.join().unwrap();
                assert!(!mutex.is_poisoned());
                assert!(mutex.try_lock().is_ok());
            }
        });
    }
}

#[test]
fn a_panic_of_the_holder_poisons() {
    let mutex = Mutex::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = mutex.lock().unwrap();
        panic!("on purpose");
    }));
    assert!(panicked.is_err() && mutex.is_poisoned());
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(mutex.lock_timeout(SOON), Err(LockTimeoutError::Poisoned(_))));
    let error = mutex.lock().unwrap_err();
    assert!(error.to_string().contains("take the guard out"), "{error}");
    *error.into_guard().unwrap() += 1;
    assert!(mutex.lock_evt().sync().is_err());
    mutex.clear_poison();
    assert_eq!(*mutex.lock().unwrap(), 2);
    assert_eq!(mutex.into_inner().unwrap(), 2);
}

#[test]
fn a_guard_that_is_taken_while_unwinding_poisons_nothing() {
    struct Locks<'a>(&'a Mutex<u32>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let mutex = Mutex::new(0);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _locks = Locks(&mutex);
        panic!("on purpose");
    }));
    assert_eq!(*mutex.lock().unwrap(), 1);
}

#[test]
fn a_cancelled_holder_poisons() {
    run(1, || {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let host = spawn(move || {
            let _guard = theirs.lock().unwrap();
            sleep(LONG);
        });
        settle();
        host.cancel();
        let _ = host.join();
        assert!(matches!(mutex.lock(), Err(LockError::Poisoned(_))));
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    struct Locks(Arc<Mutex<()>>, Arc<AtomicBool>);
    impl Drop for Locks {
        fn drop(&mut self) {
            let refused = matches!(self.0.lock(), Err(LockError::Unwinding))
                && matches!(self.0.lock_timeout(LONG), Err(LockTimeoutError::Unwinding))
                && matches!(self.0.lock_evt().sync(), Err(LockError::Unwinding));
            self.1.store(refused, Ordering::Relaxed);
        }
    }
    run(1, || {
        let (mutex, refused) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
        let guard = mutex.lock().unwrap();
        let locks = Locks(mutex.clone(), refused.clone());
        let host = spawn(move || {
            let _locks = locks;
            panic!("on purpose");
        });
        assert!(host.join().is_err());
        drop(guard);
        assert!(refused.load(Ordering::Relaxed));
    });
}

#[test]
fn a_choice_takes_one_lock_and_leaves_the_others_alone() {
    run(2, || {
        let locks: Vec<_> = (0..3).map(|_| Arc::new(Mutex::new(0))).collect();
        for n in 0..300 {
            let guards: Vec<_> = locks.iter().map(|lock| lock.lock().unwrap()).collect();
            let theirs = locks.clone();
            let chooser = spawn(move || {
                let events: Vec<_> = theirs.iter().map(|lock| lock.lock_evt()).collect();
                *choose(events).sync().unwrap() += 1;
            });
            if n % 2 == 0 {
                settle();
            }
            drop(guards);
            chooser.join().unwrap();
        }
        let total: u32 = locks.iter().map(|lock| *lock.try_lock().expect("a loser is held")).sum();
        assert_eq!(total, 300);
    });
}

#[test]
fn a_choice_between_a_lock_and_time_and_a_channel() {
    run(1, || {
        let mutex = Mutex::new(());
        let (tx, rx) = lamprey::channel();
        let guard = mutex.lock().unwrap();
        let which = |timed: Duration| {
            choose((
                mutex.lock_evt().wrap(|_| "lock"),
                rx.recv_evt().wrap(|_| "channel"),
                timeout(timed).wrap(|()| "time"),
            ))
            .sync()
        };
        assert_eq!(which(SOON), "time");
        let sender = spawn(move || tx.send(()));
        assert_eq!(which(LONG), "channel");
        sender.join().unwrap().unwrap();
        drop(guard);
        assert_eq!(mutex.lock_evt().wrap(|_| "lock").sync(), "lock");
        assert!(mutex.try_lock().is_ok());
    });
}

#[test]
fn a_parasite_keeps_a_guard_across_awaits() {
    run(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let parasites: Vec<_> = (0..20)
            .map(|_| {
                let mutex = mutex.clone();
                parasite(async move {
                    let mut guard: MutexGuard<'_, u32> = mutex.lock_async().await.unwrap();
                    let before = *guard;
                    yield_now_async().await;
                    *guard = before + 1;
                })
            })
            .collect();
        parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
        assert_eq!(*mutex.lock().unwrap(), 20);
    });
}

#[test]
fn a_parasite_is_cancelled_while_it_waits() {
    run(1, || {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.lock().unwrap();
        let theirs = mutex.clone();
        let waits = parasite(async move { drop(theirs.lock_async().await) });
        let behind = mutex.clone();
        let other = spawn(move || drop(behind.lock().unwrap()));
        settle();
        let _ = waits.cancel_and_join();
        drop(guard);
        other.join().unwrap();
        assert!(mutex.try_lock().is_ok());
    });
}

#[test]
fn a_task_of_another_executor_waits() {
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock().unwrap();
    let theirs = mutex.clone();
    let task = crate::common::blocked_os(move || {
        futures::executor::block_on(async move {
            *theirs.lock_async().await.unwrap() += 1;
        });
    });
    drop(guard);
    task.join().unwrap();
    assert_eq!(*mutex.lock().unwrap(), 1);
}

#[test]
fn two_runtimes_and_os_threads_use_one_mutex() {
    const TURNS: usize = 2000;
    for options in policies() {
        let mutex = Arc::new(Mutex::with_options(0, options));
        let add = |mutex: &Mutex<usize>| (0..TURNS).for_each(|_| *mutex.lock().unwrap() += 1);
        let runtimes = [1, 2].map(|workers| {
            let mutex = mutex.clone();
            std::thread::spawn(move || {
                runtime(workers).run(move || {
                    let hosts: Vec<_> = (0..4)
                        .map(|_| {
                            let mutex = mutex.clone();
                            spawn(move || add(&mutex))
                        })
                        .collect();
                    hosts.into_iter().for_each(|host| host.join().unwrap());
                });
            })
        });
        add(&mutex);
        runtimes.into_iter().for_each(|runtime| runtime.join().unwrap());
        assert_eq!(*mutex.lock().unwrap(), 9 * TURNS, "{options:?}");
    }
}

#[test]
fn what_std_has_too() {
    let mut mutex = Mutex::<u32>::default();
    *mutex.get_mut().unwrap() = 3;
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 3, poisoned: false, .. }");
    let guard = mutex.lock().unwrap();
    assert_eq!(format!("{mutex:?} {guard:?} {guard}"), "Mutex { data: <locked>, poisoned: false, .. } 3 3");
    drop(guard);
    let unsized_one: &Mutex<[u8]> = &Mutex::from([1, 2]);
    unsized_one.lock().unwrap()[0] = 7;
    assert_eq!(*unsized_one.lock().unwrap(), [7, 2]);
}
