//! Waiting for a change, and how that ends.

use crate::common::{FOREVER, blocked, blocked_os, run, within, yield_until};
use lamprey::stm::{TVar, atomically, atomically_timeout, check, retry};
use lamprey::{Builder, JoinError, with_timeout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A value whose copies are counted.
#[derive(Clone)]
struct Counted(#[allow(dead_code, reason = "its count is what is looked at")] Arc<()>);

fn counted() -> (Arc<()>, TVar<Counted>) {
    let count = Arc::new(());
    (count.clone(), TVar::new(Counted(count)))
}

#[test]
fn a_change_wakes_a_host() {
    run(1, || {
        let ready = TVar::new(0u32);
        let theirs = ready.clone();
        let host = blocked(move || {
            atomically(|tx| {
                let n = theirs.get(tx)?;
                check(n >= 2)?;
                Ok(n)
            })
        });
        atomically(|tx| ready.set(tx, 1)); // not enough: it waits again
        lamprey::yield_now();
        atomically(|tx| ready.set(tx, 2));
        assert_eq!(host.join().unwrap(), 2);
    });
}

#[test]
fn a_change_wakes_an_os_thread() {
    within(FOREVER, || {
        let ready = TVar::new(false);
        let theirs = ready.clone();
        let thread = blocked_os(move || atomically(|tx| check(theirs.get(tx)?)));
        atomically(|tx| ready.set(tx, true));
        thread.join().unwrap();
    });
}

/// The change comes between the read and the wait, again and again.
#[test]
fn lost_wake_up() {
    run(2, || {
        let turn = TVar::new(0u32);
        let hosts = [0, 1].map(|me| {
            let turn = turn.clone();
            let play = move || {
                for _ in 0..1_000 {
                    atomically(|tx| {
                        check(turn.get(tx)? % 2 == me)?;
                        turn.modify(tx, |n| n + 1)
                    });
                }
            };
            Builder::new().worker(me as usize).spawn(play).unwrap()
        });
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(turn.get_now(), 2_000);
    });
}

#[test]
fn only_a_change_of_what_was_read_wakes() {
    run(1, || {
        let (read, other) = (TVar::new(false), TVar::new(0u32));
        let runs = Arc::new(AtomicUsize::new(0));
        let (theirs, count) = (read.clone(), runs.clone());
        let host = blocked(move || {
            atomically(|tx| {
                count.fetch_add(1, Ordering::Relaxed);
                check(theirs.get(tx)?)
            });
        });
        for n in 0..10 {
            atomically(|tx| other.set(tx, n));
            lamprey::yield_now();
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        atomically(|tx| read.set(tx, true));
        host.join().unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn what_a_waiting_transaction_has_written_is_not_there() {
    run(1, || {
        let (written, ready) = (TVar::new(0u32), TVar::new(false));
        let (theirs, also) = (written.clone(), ready.clone());
        let host = blocked(move || {
            atomically(|tx| {
                theirs.modify(tx, |n| n + 1)?;
                check(also.get(tx)?)
            });
        });
        assert_eq!(written.get_now(), 0);
        atomically(|tx| ready.set(tx, true));
        host.join().unwrap();
        assert_eq!(written.get_now(), 1);
    });
}

#[test]
fn a_cancelled_wait_leaves_nothing() {
    run(1, || {
        let (count, value) = counted();
        let theirs = value.clone();
        let host = blocked(move || {
            atomically(|tx| {
                let copy = theirs.get(tx)?;
                theirs.set(tx, copy)?;
                retry::<()>()
            });
        });
        host.cancel();
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
        // A node that had stayed would keep the variable.
        drop(value);
        assert_eq!(Arc::strong_count(&count), 1);
    });
}

#[test]
fn a_time_limit_ends_a_wait() {
    within(FOREVER, || {
        let (count, value) = counted();
        let soon = Duration::from_millis(1);
        let wait =
            |value: &TVar<Counted>| atomically_timeout(soon, |tx| value.with(tx, |_| ()).and(retry::<()>()));
        assert_eq!(wait(&value), None);
        let theirs = value.clone();
        lamprey::run(move || {
            assert_eq!(atomically_timeout(soon, |tx| theirs.with(tx, |_| ()).and(retry::<()>())), None);
            let limited = with_timeout(soon, || atomically(|tx| theirs.with(tx, |_| ()).and(retry::<()>())));
            assert!(limited.is_err());
        });
        drop(value);
        assert_eq!(Arc::strong_count(&count), 1);
    });
}

#[test]
fn a_time_limit_that_is_not_needed_changes_nothing() {
    run(1, || {
        let value = TVar::new(3);
        assert_eq!(atomically_timeout(FOREVER, |tx| value.get(tx)), Some(3));
        let theirs = value.clone();
        let host = blocked(move || atomically_timeout(Duration::MAX, |tx| check(theirs.get(tx)? == 4)));
        atomically(|tx| value.set(tx, 4));
        assert_eq!(host.join().unwrap(), Some(()));
    });
}

/// One variable changes all the time, the other never: what waits for both leaves no trace at the second.
#[test]
fn waiting_again_and_again_takes_no_memory() {
    run(1, || {
        let (hot, cold) = (TVar::new(0u32), TVar::new(0u32));
        let (theirs, also) = (hot.clone(), cold.clone());
        let host = blocked(move || {
            atomically(|tx| {
                also.get(tx)?;
                check(theirs.get(tx)? == 1_000)
            });
        });
        for n in 1..=1_000 {
            atomically(|tx| hot.set(tx, n));
            lamprey::yield_now();
        }
        host.join().unwrap();
        yield_until("one handle", || cold.get_now() == 0);
    });
}

#[test]
fn the_wait_has_a_reason_of_its_own() {
    run(1, || {
        let ready = TVar::new(false);
        let theirs = ready.clone();
        let host = blocked(move || atomically(|tx| check(theirs.get(tx)?)));
        assert_eq!(lamprey::Wait::Transaction.to_string(), "change of a transactional variable");
        atomically(|tx| ready.set(tx, true));
        host.join().unwrap();
    });
}
