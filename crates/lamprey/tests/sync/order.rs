//! What debug builds say of locks that are taken in opposite orders. Reports go to standard error and depend
//! on the environment, so each is made in a process of its own.
#![cfg(debug_assertions)]

use crate::common::{again, blocked, outcome, rerun, role, run};
use lamprey::sync::{Mutex, RwLock};
use std::process::Output;
use std::sync::Arc;

/// The lines that say that an order is wrong.
fn reports(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("lamprey: lock order:")).collect()
}

fn place(line: u32) -> String {
    format!("crates/lamprey/tests/sync/order.rs:{line}:")
}

/// Takes the second while it holds the first.
#[track_caller]
fn both<T>(first: &Mutex<T>, second: &Mutex<T>) {
    let _first = first.lock().unwrap();
    let _second = second.lock().unwrap();
}

fn with_env(test: &str, value: &str) -> (Output, String) {
    let mut command = again(test, "child");
    command.env("LAMPREY_LOCK_ORDER", value);
    outcome(command)
}

#[test]
fn opposite_orders_are_reported_once_with_four_places() {
    const ME: &str = "opposite_orders_are_reported_once_with_four_places";
    const LINE: u32 = line!() + 7;
    if role().is_some() {
        return run(2, || {
            let (a, b) = (Mutex::new(0), Mutex::new(0));
            for _ in 0..3 {
                let way = |take: &dyn Fn()| take();
                way(&|| {
                    let _a = a.lock().unwrap();
                    let _b = b.lock().unwrap();
                });
                way(&|| {
                    let _b = b.lock().unwrap();
                    let _a = a.lock().unwrap();
                });
            }
        });
    }
    let (output, text) = rerun(ME, "child");
    assert!(output.status.success(), "{text}");
    let reports = reports(&text);
    assert_eq!(reports.len(), 1, "{text}");
    for line in [LINE, LINE + 1, LINE + 4, LINE + 5] {
        assert!(reports[0].contains(&place(line)), "{line}: {text}");
    }
    assert!(text.contains("LAMPREY_LOCK_ORDER=off"), "{text}");
}

#[test]
fn a_cycle_of_three_is_found_across_hosts_and_os_threads() {
    const ME: &str = "a_cycle_of_three_is_found_across_hosts_and_os_threads";
    if role().is_some() {
        return run(2, || {
            let locks: Arc<[Mutex<()>; 3]> = Arc::default();
            let pair = |i: usize| {
                let locks = locks.clone();
                move || both(&locks[i], &locks[(i + 1) % 3])
            };
            lamprey::spawn(pair(0)).join().unwrap();
            std::thread::spawn(pair(1)).join().unwrap();
            lamprey::parasite_fn(pair(2)).join().unwrap();
        });
    }
    let (_, text) = rerun(ME, "child");
    assert_eq!(reports(&text).len(), 1, "{text}");
    assert_eq!(text.matches("while it was held").count(), 2, "{text}");
}

#[test]
fn readers_and_writers_have_an_order_too() {
    const ME: &str = "readers_and_writers_have_an_order_too";
    if role().is_some() {
        return run(1, || {
            let (lock, table) = (Mutex::new(0), RwLock::new(0));
            {
                let _table = table.read().unwrap();
                let _lock = lock.lock().unwrap();
            }
            let _lock = lock.lock().unwrap();
            let _table = table.write().unwrap();
        });
    }
    let (_, text) = rerun(ME, "child");
    assert_eq!(reports(&text).len(), 1, "{text}");
}

#[test]
fn one_who_reads_twice_is_told() {
    const ME: &str = "one_who_reads_twice_is_told";
    if role().is_some() {
        return run(1, || {
            let table = RwLock::new(0);
            for _ in 0..2 {
                let _once = table.read().unwrap();
                let _twice = table.read().unwrap();
            }
        });
    }
    let (_, text) = rerun(ME, "child");
    assert_eq!(reports(&text).len(), 1, "{text}");
    assert!(text.contains("Take it once"), "{text}");
}

#[test]
fn what_cannot_deadlock_is_not_reported() {
    const ME: &str = "what_cannot_deadlock_is_not_reported";
    if role().is_some() {
        return run(1, || {
            let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
            // One after the other.
            drop(a.lock().unwrap());
            drop(b.lock().unwrap());
            // Held by different hosts of one worker.
            let theirs = a.clone();
            let (tx, rx) = lamprey::channel::<()>();
            let host = blocked(move || {
                let _a = theirs.lock().unwrap();
                rx.recv().unwrap();
            });
            drop(b.lock().unwrap());
            tx.send(()).unwrap();
            host.join().unwrap();
            // Without waiting.
            {
                let _a = a.lock().unwrap();
                let _b = b.try_lock().unwrap();
            }
            both(&b, &a);
            // Locks that are no more.
            for _ in 0..10 {
                let (c, d) = (Mutex::new(0), Mutex::new(0));
                both(&c, &d);
            }
        });
    }
    let (output, text) = rerun(ME, "child");
    assert!(output.status.success() && !text.contains("lock order"), "{text}");
}

#[test]
fn a_report_can_be_a_panic_or_nothing() {
    const ME: &str = "a_report_can_be_a_panic_or_nothing";
    if role().is_some() {
        return run(1, || {
            let (a, b) = (Mutex::new(0), Mutex::new(0));
            both(&a, &b);
            both(&b, &a);
        });
    }
    let (output, text) = with_env(ME, "panic");
    assert!(!output.status.success() && text.contains("panicked at"), "{text}");
    assert!(text.contains("lock order: "), "{text}");
    let (output, text) = with_env(ME, "off");
    assert!(output.status.success() && !text.contains("lock order"), "{text}");
}

#[test]
fn a_value_that_is_not_known_is_named() {
    const ME: &str = "a_value_that_is_not_known_is_named";
    if role().is_some() {
        return run(1, || drop(Mutex::new(0).lock()));
    }
    let (output, text) = with_env(ME, "loud");
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("LAMPREY_LOCK_ORDER is \"loud\"") && text.contains("`off`"), "{text}");
}

#[test]
fn a_host_that_takes_what_it_holds_is_told() {
    const ME: &str = "a_host_that_takes_what_it_holds_is_told";
    if role().is_some() {
        return run(2, || {
            // Held until another host lets it go: no deadlock, but nobody can know.
            let lock: &'static Mutex<u32> = Box::leak(Box::default());
            for _ in 0..2 {
                let guard = lock.lock().unwrap();
                // On this worker: it runs once this host waits.
                let here = lamprey::current().worker().unwrap();
                let host = lamprey::Builder::new().worker(here).spawn(move || drop(guard)).unwrap();
                drop(lock.lock().unwrap());
                host.join().unwrap();
            }
        });
    }
    let (output, text) = rerun(ME, "child");
    assert!(output.status.success(), "{text}");
    let reports = reports(&text);
    assert_eq!((reports.len(), reports[0].matches("tests/sync/order.rs:").count()), (1, 2), "{text}");
    let (output, text) = with_env(ME, "panic");
    assert!(!output.status.success() && text.contains("waits for itself"), "{text}");
}

/// They share the kernel thread of the simulation; one runs while the other one waits.
#[test]
fn calls_on_the_pool_of_a_simulation_hold_their_own_locks() {
    const ME: &str = "calls_on_the_pool_of_a_simulation_hold_their_own_locks";
    if role().is_some() {
        return lamprey::Runtime::simulated(0).run(|| {
            let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
            // The only order in which one thread takes both.
            both(&b, &a);
            let in_call = |lock: Arc<Mutex<i32>>, millis| {
                lamprey::spawn(move || {
                    lamprey::block(move || {
                        let _guard = lock.lock().unwrap();
                        lamprey::sleep(std::time::Duration::from_millis(millis));
                    });
                })
            };
            let first = in_call(a, 50);
            lamprey::sleep(std::time::Duration::from_millis(10));
            in_call(b, 0).join().unwrap();
            first.join().unwrap();
        });
    }
    let (output, text) = with_env(ME, "panic");
    assert!(output.status.success() && !text.contains("lock order"), "{text}");
}

/// What is checked grows with what a thread does, not with all that was ever locked: otherwise this takes minutes.
#[test]
fn thousands_of_locks() {
    run(1, || {
        let (first, many): (Mutex<()>, Vec<_>) = (Mutex::new(()), (0..10_000).map(Mutex::new).collect());
        many.iter().for_each(|lock| {
            let _first = first.lock().unwrap();
            drop(lock.lock().unwrap());
        });
        let before: Vec<_> = (0..3_000).map(Mutex::new).collect();
        for lock in &before {
            let _lock = lock.lock().unwrap();
            drop(first.lock().unwrap());
        }
        // All at once.
        for _ in 0..3 {
            drop(before.iter().map(|lock| lock.lock().unwrap()).collect::<Vec<_>>());
        }
    });
}

/// Also where the lock that was taken first is one of many that are held.
#[test]
fn an_order_across_many_locks_is_reported() {
    const ME: &str = "an_order_across_many_locks_is_reported";
    if role().is_some() {
        return run(1, || {
            let locks: Vec<_> = (0..100).map(Mutex::new).collect();
            drop(locks.iter().map(|lock| lock.lock().unwrap()).collect::<Vec<_>>());
            let _last = locks[99].lock().unwrap();
            drop(locks[0].lock().unwrap());
        });
    }
    let (output, text) = rerun(ME, "child");
    assert!(output.status.success(), "{text}");
    assert_eq!(reports(&text).len(), 1, "{text}");
}
