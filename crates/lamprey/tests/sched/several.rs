//! Several runtimes in one process, beside and inside each other.

use crate::common::{FOREVER, run, runtime, within};
use lamprey::{Handle, Runtime, channel, current, spawn, yield_now};

#[test]
fn hosts_of_two_runtimes_and_an_os_thread_pass_a_value_round() {
    within(FOREVER, || {
        let (a, b) = (runtime(1), runtime(2));
        let (to_a, from_main) = channel::<u64>();
        let (to_b, from_a) = channel();
        let (to_main, from_b) = channel();
        let first = a.handle().spawn(move || from_main.iter().for_each(|n| to_b.send(n + 1).unwrap()));
        let second = b.handle().spawn(move || from_a.iter().for_each(|n| to_main.send(n + 1).unwrap()));
        let mut value = 0;
        for _ in 0..1000 {
            to_a.send(value).unwrap();
            value = from_b.recv().unwrap();
        }
        assert_eq!(value, 2000);
        drop(to_a);
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn a_host_runs_a_runtime_of_its_own() {
    let sum = run(1, || {
        let mut local = vec![1, 2, 3];
        let inner: u32 = lamprey::run(|| {
            local.push(4);
            local.iter().map(|&n| spawn(move || n * 2)).map(|host| host.join().unwrap()).sum()
        });
        yield_now();
        inner + local.len() as u32
    });
    assert_eq!(sum, 24);
}

#[test]
fn a_host_waits_in_the_run_of_another_runtime_without_holding_its_worker_up() {
    within(FOREVER, || {
        let (a, b) = (runtime(1), runtime(1));
        let (tx, rx) = channel();
        a.run(|| {
            // Only while the caller's worker goes on can this one send.
            spawn(move || tx.send(7).unwrap());
            assert_eq!(b.run(|| rx.recv()), Ok(7));
        });
    });
}

#[test]
fn a_host_runs_in_its_own_runtime() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let value = runtime.run(|| {
            let here = current().id();
            runtime.run(|| {
                assert_ne!(current().id(), here);
                spawn(|| 5).join().unwrap()
            })
        });
        assert_eq!(value, 5);
    });
}

#[test]
fn a_panic_comes_through_two_runtimes() {
    let caught = within(FOREVER, || {
        let (a, b) = (runtime(1), runtime(1));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            a.run(|| b.run(|| std::panic::panic_any(11_u8)));
        }))
    });
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&11_u8));
}

#[test]
fn a_handle_is_that_of_the_callers_runtime() {
    let (a, b) = (runtime(1), runtime(3));
    assert!(Handle::current().is_none());
    assert_eq!(a.run(|| Handle::current().unwrap().workers()), 1);
    assert_eq!(b.run(|| Handle::current().unwrap().workers()), 3);
    let from_a = a.run(|| Handle::current().unwrap());
    assert_eq!(b.run(|| from_a.spawn(|| Handle::current().unwrap().workers()).join().unwrap()), 1);
}

#[test]
fn a_runtime_is_dropped_by_a_host_of_another() {
    run(1, || {
        let other = runtime(2);
        let (tx, rx) = channel::<()>();
        let blocked = other.handle().spawn(move || rx.recv().unwrap_or_default());
        yield_now();
        drop(other);
        assert!(matches!(blocked.join(), Err(lamprey::JoinError::Cancelled(_)) | Ok(())));
        assert!(tx.try_send(()).is_err());
    });
}

#[test]
fn many_runtimes_at_once() {
    within(FOREVER, || {
        let runtimes: Vec<Runtime> = (0..20).map(|_| runtime(2)).collect();
        let hosts: Vec<_> = runtimes
            .iter()
            .enumerate()
            .map(|(at, runtime)| runtime.handle().spawn(move || spawn(move || at).join().unwrap()))
            .collect();
        assert_eq!(hosts.into_iter().map(|host| host.join().unwrap()).sum::<usize>(), 190);
    });
}

#[test]
fn numbers_are_told_apart_by_their_runtime_only() {
    let (a, b) = (runtime(1), runtime(1));
    let id = |runtime: &Runtime| runtime.handle().spawn(|| current().id()).join().unwrap();
    assert_eq!(id(&a), id(&b), "each runtime counts for itself");
}
