//! Wait groups: what ends a wait, what does not, and counts that cannot be.

use crate::common::{FOREVER, blocked, blocked_os, run};
use futures::poll;
use lamprey::event::{Event, choose, never};
use lamprey::sync::{WaitGroup, WaitGroupError};
use lamprey::{JoinError, parasite, spawn, wait, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

#[test]
fn a_group_without_members_is_not_waited_for() {
    let group = WaitGroup::new();
    group.wait();
    assert_eq!(group.wait_timeout(Duration::ZERO), Ok(()));
    assert_eq!(group.wait_evt().poll(), Some(()));
    wait(group.wait_async());
}

#[test]
fn all_that_wait_go_when_the_last_member_has_left() {
    run(1, || {
        let group = WaitGroup::new();
        let (first, second) = (group.member(), group.member());
        let handle = || group.clone();
        let waits = {
            let (calls, awaits, chooses) = (handle(), handle(), handle());
            [
                blocked(move || calls.wait()),
                blocked(move || wait(awaits.wait_async())),
                blocked(move || choose((chooses.wait_evt(), never())).sync()),
            ]
        };
        let (of_parasite, of_os_thread) = (handle(), handle());
        let stackless = parasite(async move { of_parasite.wait_async().await });
        let os_thread = blocked_os(move || of_os_thread.wait());
        drop(first);
        yield_now();
        assert!(waits.iter().all(|host| !host.is_finished()) && !stackless.is_finished());
        drop(second);
        waits.into_iter().for_each(|host| host.join().unwrap());
        stackless.join().unwrap();
        os_thread.join().unwrap();
    });
}

/// The count was 0 for a moment: who waited then does not wait for those that come later.
#[test]
fn a_wait_is_not_prolonged_by_members_that_come_after_the_end() {
    run(1, || {
        let group = WaitGroup::new();
        let member = group.member();
        let theirs = group.clone();
        let host = blocked(move || theirs.wait());
        wait(async {
            let mut waiting = Box::pin(group.wait_async());
            assert!(poll!(&mut waiting).is_pending());
            drop(member);
            let _next = group.member();
            host.join().unwrap();
            waiting.await;
            assert_eq!(group.wait_timeout(Duration::from_millis(1)).ok(), None);
        });
    });
}

#[test]
fn members_leave_whatever_ends_their_thread() {
    run(2, || {
        let group = WaitGroup::new();
        let member = group.member();
        let panics = spawn({
            let member = member.clone();
            move || {
                let _member = member;
                panic!("on purpose");
            }
        });
        let waits = spawn({
            let member = member.clone();
            move || {
                let _member = member;
                lamprey::sleep(FOREVER);
            }
        });
        assert_eq!(member.group().count(), 3);
        drop(member);
        waits.cancel();
        group.wait();
        assert!(matches!(panics.join(), Err(JoinError::Panicked(_))));
        assert!(matches!(waits.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn waits_end_early() {
    run(1, || {
        let group = WaitGroup::new();
        let member = group.member();
        let theirs = group.clone();
        let host = blocked(move || theirs.wait());
        assert!(matches!(host.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert!(group.wait_timeout(Duration::from_millis(1)).is_err());
        assert_eq!(group.wait_evt().poll(), None);
        drop(member);
        group.wait();
    });
}

#[test]
fn counts_that_cannot_be_are_errors() {
    let group = WaitGroup::new();
    assert_eq!(group.done(), Err(WaitGroupError::NoMember));
    group.add(2).unwrap();
    let error = group.add(usize::MAX).unwrap_err();
    assert_eq!(error, WaitGroupError::TooMany { members: 2, more: usize::MAX });
    assert!(error.to_string().contains(&usize::MAX.to_string()));
    assert_eq!(group.count(), 2);
    group.done().unwrap();
    group.done().unwrap();
    assert_eq!(group.done(), Err(WaitGroupError::NoMember));
    // `done` for a member that was not added: its drop finds that it has been counted out.
    let member = group.member();
    group.done().unwrap();
    drop(member);
    assert_eq!(group.count(), 0);
}

/// Nobody waits for ever while members come and go.
#[test]
fn no_wake_is_lost() {
    run(3, || {
        let (group, over) = (WaitGroup::new(), Arc::new(AtomicU32::new(0)));
        for _ in 0..300 {
            let hosts: Vec<_> = (0..4)
                .map(|n| {
                    let (member, over) = (group.member(), over.clone());
                    spawn(move || {
                        (0..n).for_each(|_| yield_now());
                        over.fetch_add(1, Relaxed);
                        drop(member);
                    })
                })
                .collect();
            let before = over.load(Relaxed) / 4 * 4;
            let waits: Vec<_> = (0..3)
                .map(|n| {
                    let (group, over) = (group.clone(), over.clone());
                    spawn(move || {
                        match n {
                            0 => group.wait(),
                            1 => wait(group.wait_async()),
                            _ => choose((group.wait_evt(), never())).sync(),
                        }
                        over.load(Relaxed)
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            assert!(waits.into_iter().all(|host| host.join().unwrap() >= before));
        }
        assert_eq!(over.load(Relaxed), 1200);
    });
}
