//! Futures that are dropped before they are ready: cancelled, out of time, in a panic, at the end of a runtime.

use crate::{Dropped, nap, run, within};
use lamprey::{JoinError, TimedOut, scope, with_timeout};
use lamprey_compat::tokio as on_tokio;
use std::future::pending;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;
use tokio::time::sleep;

/// In flight for ever, with a timer of tokio's; says so when it waits, and when it is dropped.
async fn endless(started: lamprey::mailbox::Sender<()>, dropped: Sender<bool>) {
    let _dropped = Dropped(dropped);
    started.send(()).unwrap();
    sleep(Duration::from_secs(1_000_000)).await;
}

#[test]
fn a_host_is_cancelled_in_it() {
    run(1, || {
        let (started, mut is_started) = lamprey::mailbox();
        let (dropped, is_dropped) = mpsc::channel();
        let host = lamprey::spawn(move || on_tokio(endless(started, dropped)).wait());
        is_started.recv().unwrap();
        assert!(matches!(host.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(is_dropped.try_recv(), Ok(true));
    });
}

#[test]
fn its_time_is_over() {
    run(1, || {
        let (started, _is_started) = lamprey::mailbox();
        let (dropped, is_dropped) = mpsc::channel();
        let late = with_timeout(Duration::from_millis(5), || on_tokio(endless(started, dropped)).wait());
        assert_eq!(late, Err(TimedOut));
        assert_eq!(is_dropped.try_recv(), Ok(true));
    });
}

#[test]
fn a_parasite_that_is_cancelled_drops_it_in_the_context() {
    run(2, || {
        let (started, mut is_started) = lamprey::mailbox();
        let (dropped, is_dropped) = mpsc::channel();
        let parasite = lamprey::parasite(on_tokio(endless(started, dropped)));
        is_started.recv().unwrap();
        assert!(matches!(parasite.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(is_dropped.try_recv(), Ok(true));
    });
}

#[test]
fn a_panic_in_it_reaches_who_waits_and_the_context_stays() {
    run(1, || {
        let host = lamprey::spawn(|| {
            on_tokio(async {
                sleep(Duration::from_millis(1)).await;
                panic!("in the future");
            })
            .wait()
        });
        let error = host.join().unwrap_err();
        assert!(error.to_string().contains("in the future"), "{error}");
        let parasite = lamprey::parasite(on_tokio(async {
            sleep(Duration::from_millis(1)).await;
            panic!("in the parasite");
        }));
        let error = parasite.join().unwrap_err();
        assert!(error.to_string().contains("in the parasite"), "{error}");
        on_tokio(nap(Duration::from_millis(1))).wait();
    });
}

#[test]
fn a_scope_that_panics_ends_its_children_in_it() {
    run(2, || {
        let (started, mut is_started) = lamprey::mailbox();
        let (dropped, is_dropped) = mpsc::channel();
        let outcome = lamprey::spawn(move || {
            scope(|s| {
                for _ in 0..20 {
                    let (started, dropped) = (started.clone(), dropped.clone());
                    s.spawn(move || on_tokio(endless(started, dropped)).wait());
                }
                (0..20).for_each(|_| is_started.recv().unwrap());
                panic!("the scope");
            })
        });
        assert!(outcome.join().unwrap_err().to_string().contains("the scope"));
        assert_eq!(is_dropped.iter().collect::<Vec<_>>(), [true; 20]);
    });
}

#[test]
fn a_runtime_ends_with_such_futures_in_flight() {
    let (dropped, is_dropped) = mpsc::channel();
    run(2, move || {
        let (started, mut is_started) = lamprey::mailbox();
        for _ in 0..50 {
            let [one, other] = [(); 2].map(|()| on_tokio(endless(started.clone(), dropped.clone())));
            lamprey::spawn(move || one.wait());
            lamprey::parasite(other).detach();
        }
        (0..100).for_each(|_| is_started.recv().unwrap());
    });
    assert_eq!(is_dropped.iter().collect::<Vec<_>>(), [true; 100]);
}

/// Its destructor says that it runs, waits for a moment by Lamprey's clock, and says that it ends.
struct Slow(Sender<&'static str>);

impl Drop for Slow {
    fn drop(&mut self) {
        let _ = self.0.send("runs");
        lamprey::sleep(Duration::from_millis(1));
        let _ = self.0.send("ends");
    }
}

async fn slow(slow: Slow, started: lamprey::mailbox::Sender<()>) {
    let _slow = slow;
    started.send(()).unwrap();
    pending::<()>().await;
}

/// In a host that the end of the runtime unwinds a sleep waits. In a parasite it ends the destructor, whose other fields are dropped.
#[test]
fn a_runtime_that_ends_runs_destructors_that_sleep() {
    let (dropped, is_dropped) = mpsc::channel();
    run(2, move || {
        let (started, mut is_started) = lamprey::mailbox();
        for _ in 0..10 {
            let [one, other] = [(); 2].map(|()| on_tokio(slow(Slow(dropped.clone()), started.clone())));
            lamprey::spawn(move || one.wait());
            lamprey::parasite(other).detach();
        }
        (0..20).for_each(|_| is_started.recv().unwrap());
    });
    let said: Vec<_> = is_dropped.iter().collect();
    assert_eq!(said.iter().filter(|&&word| word == "runs").count(), 20);
    assert!(said.iter().filter(|&&word| word == "ends").count() >= 10);
}

#[test]
fn a_parasite_that_is_cancelled_may_sleep_in_its_destructors() {
    run(1, || {
        let (started, mut is_started) = lamprey::mailbox();
        let (dropped, is_dropped) = mpsc::channel();
        let parasite = lamprey::parasite(on_tokio(slow(Slow(dropped), started)));
        is_started.recv().unwrap();
        assert!(matches!(parasite.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(is_dropped.iter().collect::<Vec<_>>(), ["runs", "ends"]);
    });
}

#[test]
fn one_that_is_dropped_without_a_poll_does_nothing() {
    within(|| {
        let (dropped, is_dropped) = mpsc::channel();
        let witness = Dropped(dropped);
        drop(on_tokio(async move {
            let _witness = witness;
            unreachable!("nobody polls it");
        }));
        assert!(is_dropped.recv().is_ok());
    });
}

#[test]
fn kernel_threads_end_that_have_entered() {
    for _ in 0..20 {
        within(|| {
            assert_eq!(on_tokio(async { sleep(Duration::from_micros(100)).await }).wait(), ());
        });
        run(2, || {
            let hosts = [0; 4].map(|_| lamprey::spawn(|| on_tokio(nap(Duration::from_micros(100))).wait()));
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    }
}
