//! Stackful parasites: start, block anywhere, resume, end, cancel.

use crate::common::{Counted, count, counter, eventually, run, runtime, tick, yield_until};
use lamprey::{
    JoinError, ParasiteHandle, Receiver, Sender, ThreadKind, channel, current, parasite, parasite_fn,
    parasite_fn_local, sleep, spawn, yield_now,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

lamprey::host_local! {
    static MINE: Cell<u32> = Cell::new(0);
}

#[test]
fn one_that_does_not_block_is_over_when_its_spawn_returns() {
    let runtime = runtime(1);
    runtime.run(|| {
        let handle = parasite_fn(|| (current().kind(), current().worker()));
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap(), (ThreadKind::Parasite, Some(0)));
    });
    let stats = runtime.stats();
    assert_eq!((stats.stackful, stats.reified, stats.ran_through()), (1, 0, 1));
}

#[test]
fn one_that_blocks_deep_inside_lets_its_spawner_go_on_and_comes_back() {
    fn deep(depth: u32, rx: &lamprey::Receiver<u32>) -> u32 {
        if depth == 0 { rx.recv().unwrap() } else { deep(depth - 1, rx) + 1 }
    }
    run(1, || {
        let (tx, rx) = channel();
        let handle = parasite_fn(move || deep(50, &rx) + rx.recv().unwrap());
        assert!(!handle.is_finished());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(handle.join().unwrap(), 53);
    });
}

#[test]
fn it_stays_on_its_kernel_thread() {
    run(2, || {
        let (tx, rx) = channel::<()>();
        let home = std::thread::current().id();
        let handle = parasite_fn_local(move || {
            let local = Rc::new(1);
            for _ in 0..100 {
                rx.recv().unwrap();
                assert_eq!(std::thread::current().id(), home);
            }
            *local
        });
        let sender = lamprey::Builder::new()
            .worker(1)
            .spawn(move || (0..100).for_each(|_| tx.send(()).unwrap()))
            .unwrap();
        assert_eq!(handle.join().unwrap(), 1);
        sender.join().unwrap();
    });
}

#[test]
fn many_are_blocked_at_once_and_all_come_back() {
    run(1, || {
        let (tx, rx) = channel::<usize>();
        let handles: Vec<_> = (0..1000)
            .map(|_| {
                let rx = rx.clone();
                parasite_fn(move || rx.recv().unwrap())
            })
            .collect();
        (0..1000).for_each(|n| tx.send(n).unwrap());
        let sum: usize = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, 1000 * 999 / 2);
        assert_eq!(parasite_fn(|| 1).join().unwrap(), 1); // the contexts are good for more
    });
}

#[test]
fn a_panic_stays_inside_before_and_after_a_block() {
    run(1, || {
        let at_once = parasite_fn(|| -> u32 { panic!("at once") });
        assert!(
            matches!(at_once.join(), Err(JoinError::Panicked(payload)) if *payload.downcast_ref::<&str>().unwrap() == "at once")
        );
        let (tx, rx) = channel::<()>();
        let later = parasite_fn(move || -> u32 {
            rx.recv().unwrap();
            panic!("later")
        });
        tx.send(()).unwrap();
        yield_now();
        assert!(
            matches!(later.join(), Err(JoinError::Panicked(payload)) if *payload.downcast_ref::<&str>().unwrap() == "later")
        );
    });
}

/// A parasite that blocks for ever with something to drop.
fn blocked(drops: &std::sync::Arc<std::sync::atomic::AtomicUsize>) -> lamprey::ParasiteHandle<()> {
    let held = Counted(drops.clone());
    let (tx, rx) = channel::<()>();
    parasite_fn(move || {
        let _held = held;
        let _ = rx.recv();
        drop(tx);
    })
}

#[test]
fn dropping_the_handle_unwinds_it_on_the_same_worker_another_and_from_an_os_thread() {
    run(2, || {
        let drops = counter();
        drop(blocked(&drops));
        yield_until("dropped here", || count(&drops) == 1);
        let handle = blocked(&drops);
        lamprey::Builder::new().worker(1).spawn(move || drop(handle)).unwrap().join().unwrap();
        eventually("dropped from the other worker", || count(&drops) == 2);
        let handle = blocked(&drops);
        lamprey::block(move || drop(handle));
        eventually("dropped from an OS thread", || count(&drops) == 3);
        assert!(matches!(blocked(&drops).cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(count(&drops), 4);
    });
}

#[test]
fn a_handle_that_is_dropped_after_the_end_drops_the_result_once() {
    run(1, || {
        let drops = counter();
        let theirs = drops.clone();
        drop(parasite_fn(move || Counted(theirs)));
        assert_eq!(count(&drops), 1);
        let (theirs, (tx, rx)) = (drops.clone(), channel::<()>());
        let handle = parasite_fn(move || {
            rx.recv().unwrap();
            Counted(theirs)
        });
        tx.send(()).unwrap();
        yield_until("ended", || handle.is_finished());
        drop(handle);
        assert_eq!(count(&drops), 2);
        let (theirs, (tx, rx)) = (drops.clone(), channel::<()>());
        parasite_fn(move || {
            rx.recv().unwrap();
            Counted(theirs)
        })
        .detach();
        tx.send(()).unwrap();
        yield_until("dropped", || count(&drops) == 3);
    });
}

#[test]
fn it_may_yield_sleep_join_use_the_pool_and_start_others_of_all_kinds() {
    run(2, || {
        let handle = parasite_fn(|| {
            yield_now();
            sleep(Duration::from_millis(1));
            let inner = parasite_fn(|| {
                yield_now();
                1
            });
            let stackless = parasite(async {
                lamprey::yield_now_async().await;
                2
            });
            let host = spawn(|| 3);
            let pooled = lamprey::block(|| 4);
            let waited = lamprey::wait(async {
                lamprey::yield_now_async().await;
                5
            });
            inner.join().unwrap() + stackless.join().unwrap() + host.join().unwrap() + pooled + waited
        });
        assert_eq!(handle.join().unwrap(), 15);
    });
}

#[test]
fn attached_in_one_another_they_end_in_any_order() {
    run(1, || {
        let (tx_a, rx_a) = channel::<()>();
        let (tx_b, rx_b) = channel::<()>();
        let outer = parasite_fn(move || {
            let inner = parasite_fn(move || {
                rx_b.recv().unwrap();
                2
            });
            rx_a.recv().unwrap();
            inner.join().unwrap() + 1
        });
        tx_a.send(()).unwrap();
        yield_now();
        tx_b.send(()).unwrap();
        assert_eq!(outer.join().unwrap(), 3);
    });
}

#[test]
fn each_has_its_own_host_local_values_and_leaves_none_behind() {
    run(1, || {
        MINE.with(|mine| mine.set(1));
        for _ in 0..3 {
            let handle = parasite_fn(|| {
                let before = MINE.with(|mine| mine.replace(7));
                yield_now();
                (before, MINE.with(Cell::get))
            });
            assert_eq!(handle.join().unwrap(), (0, 7));
        }
        assert_eq!(MINE.with(Cell::get), 1);
    });
}

/// A local value that waits, when it is dropped, until the test says so.
struct Waits(RefCell<Option<Receiver<()>>>);

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(go) = self.0.take() {
            go.recv().unwrap();
        }
    }
}

lamprey::host_local! {
    static WAITS: Waits = Waits(RefCell::new(None));
}

type End = fn() -> String;

#[test]
fn one_ends_after_the_destructors_of_its_local_values_which_may_block() {
    fn with_a_local_value(has_blocked: bool, end: End) -> (Sender<()>, ParasiteHandle<String>) {
        let (tx, rx) = channel();
        let parasite = parasite_fn(move || {
            WAITS.with(|waits| waits.0.replace(Some(rx)));
            if has_blocked {
                yield_now();
            }
            end()
        });
        (tx, parasite)
    }
    let panics = || -> String { std::panic::resume_unwind(Box::new("on purpose")) };
    let cases: [(End, Option<&str>); 2] = [(|| "done".to_owned(), Some("done")), (panics, None)];
    for (end, outcome) in cases {
        for has_blocked in [false, true] {
            run(1, move || {
                let (go, parasite) = with_a_local_value(has_blocked, end);
                (0..5).for_each(|_| yield_now());
                assert!(!parasite.is_finished(), "its destructor waits");
                go.send(()).unwrap();
                assert_eq!(parasite.join().ok().as_deref(), outcome);

                let (go, detached) = with_a_local_value(has_blocked, end);
                detached.detach();
                (0..5).for_each(|_| yield_now());
                go.send(()).unwrap();
            });
        }
    }
}

#[test]
fn the_end_of_the_runtime_unwinds_those_that_are_left() {
    let drops = counter();
    let runtime = runtime(2);
    let theirs = drops.clone();
    runtime.run(move || {
        (0..20).for_each(|_| blocked(&theirs).detach());
        let handle = blocked(&theirs);
        std::mem::forget(handle);
        let sleeper = Counted(theirs.clone());
        parasite_fn(move || {
            let _sleeper = sleeper;
            sleep(Duration::from_secs(1000));
        })
        .detach();
    });
    eventually("all wait", || runtime.stats().reified + runtime.stats().inflated >= 22);
    drop(runtime);
    assert_eq!(count(&drops), 22);
}

#[test]
fn timeouts_reach_one_that_is_attached_and_one_that_is_not() {
    run(1, || {
        let (_tx, rx) = channel::<()>();
        let ended = counter();
        let theirs = ended.clone();
        let handle = parasite_fn(move || {
            for _ in 0..3 {
                assert!(rx.recv_timeout(Duration::from_millis(1)).is_err());
                tick(&theirs);
            }
        });
        handle.join().unwrap();
        assert_eq!(count(&ended), 3);
    });
}
