//! The pool alone: its callers are plain OS threads here (hosts: `tests/io/pool.rs`).

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;

fn pool_of(max: usize) -> Pools {
    Pools::of_one(max, Duration::from_secs(10))
}

fn call<T: Send>(pool: &Pools, f: impl FnOnce() -> T + Send) -> T {
    pool.shared().run(f)
}

fn threads(pool: &Pools) -> usize {
    pool.shared().lock().threads
}

/// Polls the condition, because the system decides when a thread ends.
fn eventually(what: &str, is: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(Instant::now() < deadline, "not within 30 s: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_call_may_borrow_and_returns_its_value() {
    let pool = pool_of(2);
    let mut text = String::from("a");
    let length = call(&pool, || {
        text.push('b');
        text.len()
    });
    assert_eq!((length, text.as_str()), (2, "ab"));
}

#[test]
fn one_thread_serves_calls_that_come_one_after_the_other() {
    let pool = pool_of(8);
    for _ in 0..20 {
        call(&pool, || ());
        eventually("the thread rests", || pool.shared().lock().idle.len() == 1);
    }
    assert_eq!(threads(&pool), 1);
}

#[test]
fn grows_to_its_maximum_and_queues_beyond() {
    let pool = pool_of(3);
    let (running, most, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    // Each of the first three waits for the other two, so there must be three threads.
    let together = Barrier::new(3);
    let first = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                call(&pool, || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    if first.fetch_add(1, Ordering::SeqCst) < 3 {
                        together.wait();
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                });
            });
        }
    });
    assert_eq!((done.into_inner(), most.into_inner(), threads(&pool)), (50, 3, 3));
}

#[test]
fn threads_end_after_doing_nothing_for_a_while_and_new_ones_come() {
    let pool = Pools::of_one(4, Duration::from_millis(20));
    for _ in 0..3 {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| call(&pool, || thread::sleep(Duration::from_millis(1))));
            }
        });
        eventually("all threads end", || threads(&pool) == 0);
        assert!(pool.shared().lock().idle.is_empty());
    }
}

#[test]
fn calls_race_with_threads_that_end() {
    let pool = Pools::of_one(2, Duration::from_micros(50));
    thread::scope(|scope| {
        for seed in 0..3_u64 {
            let pool = &pool;
            scope.spawn(move || {
                for turn in 0..300 {
                    assert_eq!(call(pool, || turn * 2), turn * 2);
                    thread::sleep(Duration::from_micros((turn * 7 + seed * 31) % 120));
                }
            });
        }
    });
}

#[test]
fn a_panic_comes_back_with_its_payload_and_the_thread_lives_on() {
    let pool = pool_of(1);
    let payload =
        catch_unwind(AssertUnwindSafe(|| call(&pool, || std::panic::panic_any(42_u8)))).unwrap_err();
    assert_eq!(payload.downcast_ref::<u8>(), Some(&42));
    assert_eq!(call(&pool, || 7), 7);
    assert_eq!(threads(&pool), 1);
}

#[test]
fn dropping_the_pool_ends_its_threads() {
    let pool = pool_of(4);
    let (started, starts) = mpsc::channel();
    call(&pool, || started.send(thread::current().id()).unwrap());
    starts.recv().unwrap();
    let shared = Arc::downgrade(&pool.shared());
    drop(pool);
    eventually("nothing of the pool is left", || shared.strong_count() == 0);
}

#[test]
fn a_pool_dropped_by_its_own_thread_does_not_wait_for_itself() {
    let pool = pool_of(1);
    let shared = pool.shared();
    let own = Arc::clone(&shared);
    shared.run(move || drop(pool));
    eventually("its thread ends", || own.lock().threads == 0);
}

fn pool_of_class(class: Class, max: usize) -> Pools {
    Pools([Arc::new(PoolShared::new(class, max, 0, Duration::from_secs(10)))].into())
}

/// None of its calls is held, and it has at most so many threads.
fn rests_with(pool: &Pools, most: usize) -> bool {
    let shared = pool.shared();
    let state = shared.lock();
    state.lookout.held() == 0 && state.threads <= most && state.counted() == state.threads
}

#[test]
fn calls_of_files_that_are_held_do_not_count() {
    let pool = pool_of_class(Class::Files, 2);
    let (let_go, held_up) = mpsc::channel::<()>();
    let held_up = std::sync::Mutex::new(held_up);
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| call(&pool, || held_up.lock().unwrap().recv().unwrap_err()));
        }
        eventually("all run", || pool.shared().lock().threads >= 20);
        assert_eq!(call(&pool, || 1), 1);
        drop(let_go);
    });
    // Those that were started in the place of others have ended.
    eventually("none is held, and no more rest than may", || rests_with(&pool, 2));
    assert_eq!(call(&pool, || 2), 2);
}

/// Occupies a thread of the pool for this class with a call that nobody wants any more; until the sender is dropped.
fn forsaken(pool: &Pools, class: Class) -> mpsc::Sender<()> {
    let (let_go, held_up) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let forsaken = move || {
        begun.send(()).unwrap();
        let _ = held_up.recv();
    };
    pool.install();
    start(class, forsaken, || false).unwrap();
    has_begun.recv().unwrap();
    let_go
}

#[test]
fn calls_that_nobody_waits_for_do_not_hold_up_the_end() {
    for class in [Class::Files, Class::Lookups] {
        let pool = pool_of_class(class, 1);
        let let_go = forsaken(&pool, class);
        drop(pool);
        drop(let_go);
    }
}

#[test]
fn look_ups_that_nobody_wants_do_not_count() {
    let pool = pool_of_class(Class::Lookups, 2);
    let let_go: Vec<_> = (0..6)
        .map(|n| {
            // One of the two threads may be busy with this, but not both.
            assert_eq!(call(&pool, || n), n);
            forsaken(&pool, Class::Lookups)
        })
        .collect();
    assert_eq!(call(&pool, || 6), 6);
    drop(let_go);
    eventually("none is held, and no more rest than may", || rests_with(&pool, 2));
}

#[test]
fn look_ups_that_are_wanted_count() {
    let pool = pool_of_class(Class::Lookups, 1);
    let (let_go, held_up) = mpsc::channel::<()>();
    let shared = pool.shared();
    thread::scope(|scope| {
        scope.spawn(|| call(&pool, move || held_up.recv().unwrap_err()));
        eventually("it runs", || threads(&pool) == 1 && shared.lock().queue.is_empty());
        let behind = scope.spawn(|| call(&pool, || 1));
        // Looks that are too many rather than none.
        eventually("it is looked at", || shared.lock().lookout.looks() > 3);
        assert!(threads(&pool) == 1 && !behind.is_finished());
        drop(let_go);
        assert_eq!(behind.join().unwrap(), 1);
    });
}
