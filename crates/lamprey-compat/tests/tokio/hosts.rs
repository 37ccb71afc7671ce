//! Many hosts of one kernel thread are in the context at the same time.

use crate::{has_context, nap, run};
use lamprey_compat::tokio as on_tokio;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

#[test]
fn hosts_block_in_the_middle_of_a_poll_beside_others_that_do() {
    run(2, || {
        let hosts: Vec<_> = (0..100u64)
            .map(|n| {
                lamprey::spawn(move || {
                    for round in 0..5 {
                        let moment = Duration::from_micros((n * 37 + round * 101) % 1500);
                        let future = on_tokio(async move {
                            sleep(moment).await;
                            lamprey::sleep(moment); // blocks the host, within the poll
                            assert!(has_context());
                            lamprey::yield_now();
                            timeout(moment, std::future::pending::<()>()).await.unwrap_err();
                            lamprey::wait(on_tokio(nap(moment))); // one within the other
                            assert!(has_context());
                            n
                        });
                        assert_eq!(future.wait(), n);
                    }
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

/// What a `LocalSet` notes for its tasks is set back in the order in which its hosts go on, which is the wrong one.
#[test]
fn a_budget_that_is_left_behind_in_disorder_holds_up_nobody() {
    run(1, || {
        let (first, may_first) = lamprey::bounded::<()>(1);
        let (second, may_second) = lamprey::bounded::<()>(1);
        let (within, mut are_within) = lamprey::mailbox();
        let hosts = [may_first, may_second].map(|may_go_on| {
            let within = within.clone();
            let host = lamprey::spawn(move || {
                on_tokio(LocalSet::new().run_until(async move {
                    let task = tokio::task::spawn_local(async move {
                        within.send(()).unwrap();
                        may_go_on.recv().unwrap();
                    });
                    task.await.unwrap();
                }))
                .wait();
            });
            are_within.recv().unwrap(); // within the poll of its local task
            host
        });
        first.send(()).unwrap();
        lamprey::sleep(Duration::from_millis(1));
        second.send(()).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        // The budget of a task is 128 operations.
        let (sender, mut receiver) = mpsc::unbounded_channel();
        (0..1000).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        let sum = on_tokio(async move {
            let mut sum = 0;
            while let Some(n) = receiver.recv().await {
                sum += n;
            }
            sum
        });
        assert_eq!(sum.wait(), 499_500);
    });
}

#[test]
fn ten_thousand_hosts_sleep_by_tokios_clock() {
    run(2, || {
        let hosts: Vec<_> = (0..10_000u64)
            .map(|n| lamprey::spawn(move || on_tokio(nap(Duration::from_millis(20 + n % 50))).wait()))
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn parasites_find_the_context_on_whatever_worker_polls_them() {
    run(2, || {
        let all: Vec<_> = (0..1000u64)
            .map(|n| {
                lamprey::parasite(on_tokio(async move {
                    for _ in 0..3 {
                        sleep(Duration::from_micros(n % 700)).await;
                        assert!(has_context());
                    }
                    n
                }))
            })
            .collect();
        assert_eq!(all.into_iter().map(|one| one.join().unwrap()).sum::<u64>(), 499_500);
    });
}

#[test]
fn blocking_code_enters_for_its_constructors() {
    run(1, || {
        lamprey_compat::tokio::enter();
        let sleeps: Vec<_> = (0..10).map(|_| sleep(Duration::from_millis(1))).collect();
        sleeps.into_iter().for_each(lamprey::wait);
        lamprey::spawn(|| assert!(has_context())).join().unwrap(); // the same kernel thread
    });
}
