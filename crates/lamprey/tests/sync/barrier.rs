//! The barrier, by the moment.

use crate::common::*;
use futures::poll;
use lamprey::event::{Event, choose, timeout};
use lamprey::sync::{Barrier, BarrierWaitResult};
use lamprey::{JoinError, JoinHandle, TimedOut, spawn, wait};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

fn barrier(n: usize) -> Arc<Barrier> {
    Arc::new(Barrier::new(n))
}

/// A host that is blocked at the barrier.
fn comes(barrier: &Arc<Barrier>) -> JoinHandle<BarrierWaitResult> {
    let barrier = barrier.clone();
    blocked(move || barrier.wait())
}

/// The last of two passes, and is the leader; the first is not.
fn both_pass(barrier: &Barrier, first: JoinHandle<BarrierWaitResult>) {
    assert!(!first.is_finished());
    assert!(barrier.wait().is_leader());
    assert!(!first.join().unwrap().is_leader());
}

#[test]
fn one_alone_passes_and_leads() {
    assert!(Barrier::new(0).wait().is_leader());
    assert!(Barrier::new(1).wait().is_leader());
}

#[test]
fn it_is_as_new_after_each_round() {
    run(1, || {
        let barrier = barrier(2);
        for _ in 0..3 {
            let first = comes(&barrier);
            both_pass(&barrier, first);
        }
    });
}

#[test]
fn one_that_gives_up_has_not_come() {
    run(1, || {
        let barrier = barrier(2);
        assert_eq!(barrier.wait_timeout(SOON), Err(TimedOut));
        let first = comes(&barrier);
        both_pass(&barrier, first);
        let theirs = barrier.clone();
        let patient = blocked(move || theirs.wait_timeout(LATE));
        assert!(barrier.wait_timeout(LATE).unwrap().is_leader());
        assert!(!patient.join().unwrap().unwrap().is_leader());
    });
}

#[test]
fn cancelled_while_it_waits_it_has_not_come() {
    run(1, || {
        let barrier = barrier(2);
        let gone = comes(&barrier);
        gone.cancel();
        assert!(matches!(gone.join(), Err(JoinError::Cancelled(_))));
        let first = comes(&barrier);
        both_pass(&barrier, first);
    });
}

#[test]
fn cancelled_after_the_last_has_come_it_counts() {
    run(1, || {
        let barrier = barrier(2);
        let gone = comes(&barrier);
        gone.cancel();
        // On one worker: it has not gone on yet.
        assert!(barrier.wait().is_leader());
        assert!(matches!(gone.join(), Err(JoinError::Cancelled(_))));
        let first = comes(&barrier);
        both_pass(&barrier, first);
    });
}

#[test]
fn a_future_that_is_dropped_has_not_come_unless_it_was_over() {
    run(1, || {
        let barrier = barrier(2);
        wait(async {
            let mut gone = Box::pin(barrier.wait_async());
            assert!(poll!(&mut gone).is_pending());
            drop(gone);
            let mut first = Box::pin(barrier.wait_async());
            assert!(poll!(&mut first).is_pending());
            assert!(barrier.wait_async().await.is_leader());
            drop(first);
        });
        let first = comes(&barrier);
        both_pass(&barrier, first);
    });
}

#[test]
fn the_loser_of_a_choice_has_not_come() {
    run(1, || {
        let barrier = barrier(2);
        let limited = choose((barrier.wait_evt().wrap(Some), timeout(SOON).wrap(|()| None)));
        assert_eq!(limited.sync(), None);
        let theirs = barrier.clone();
        let chooser =
            blocked(move || choose((theirs.wait_evt().wrap(Some), timeout(LATE).wrap(|()| None))).sync());
        assert!(barrier.wait().is_leader());
        assert!(!chooser.join().unwrap().unwrap().is_leader());
    });
}

#[test]
fn one_that_unwinds_does_not_wait() {
    struct Late(Arc<Barrier>);
    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(self.0.wait_timeout(LATE), Err(TimedOut));
        }
    }
    run(1, || {
        let barrier = barrier(2);
        let late = Late(barrier.clone());
        let host = spawn(move || {
            let _late = late;
            panic!("on purpose");
        });
        let _: Result<(), _> = host.join();
        let first = comes(&barrier);
        both_pass(&barrier, first);
    });
}

#[test]
fn hosts_of_two_runtimes_parasites_and_os_threads_go_in_step() {
    const ROUNDS: usize = 200;
    const N: usize = 7;
    let (barrier, arrived, leaders) = (barrier(N), counter(), counter());
    let step = {
        let (barrier, arrived, leaders) = (barrier.clone(), arrived.clone(), leaders.clone());
        move || {
            for round in 1..=ROUNDS {
                tick(&arrived);
                if barrier.wait().is_leader() {
                    tick(&leaders);
                }
                assert!(count(&arrived) >= round * N, "it passed before all had come");
                barrier.wait();
            }
        }
    };
    let hosts = |n: usize| {
        let step = step.clone();
        std::thread::spawn(move || {
            run(2, move || {
                let hosts: Vec<_> = (0..n).map(|_| spawn(step.clone())).collect();
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
        })
    };
    let runtimes = [hosts(3), hosts(2)];
    let os = std::thread::spawn(step.clone());
    let (theirs, seen) = (arrived.clone(), leaders.clone());
    run(1, move || {
        let parasite = lamprey::parasite(async move {
            for round in 1..=ROUNDS {
                tick(&theirs);
                if barrier.wait_async().await.is_leader() {
                    tick(&seen);
                }
                assert!(count(&theirs) >= round * N);
                barrier.wait_async().await;
            }
        });
        parasite.join().unwrap();
    });
    os.join().unwrap();
    runtimes.into_iter().for_each(|runtime| runtime.join().unwrap());
    assert_eq!((count(&arrived), count(&leaders)), (ROUNDS * N, ROUNDS));
}
