//! What must end the process: each in a process of its own.

use super::super::block::{current, os_waiter};
use super::super::{Wait, Waiter};
use super::{Early, Waited, wait};
use std::process::Command;
use std::time::Instant;

/// Runs `code` in a copy of this process, which must die of a bug that says `text`.
fn dies(test: &str, text: &str, code: impl FnOnce()) {
    if std::env::var_os("LAMPREY_DIES").is_some() {
        return code();
    }
    let name = format!("sched::wait::tests::{test}");
    let mut copy = Command::new(std::env::current_exe().unwrap());
    copy.args(["--exact", &name, "--nocapture", "--test-threads=1"]).env("LAMPREY_DIES", "1");
    let output = copy.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("lamprey: bug") && said.contains(text), "{said}");
}

/// A wait on the calling thread whose time is over at once.
fn timed_out(leave: impl FnOnce(Waiter) -> bool) -> Waited {
    wait(Wait::Suspend, Some(Instant::now()), |_| true, leave)
}

fn wake(waiter: Waiter) {
    // SAFETY: none: what is tested is that a wake without a right is noticed.
    unsafe { waiter.wake() }
}

#[test]
fn a_wait_that_is_over_can_be_followed_by_another() {
    assert_eq!(timed_out(|_| true), Waited::Left(Early::TimedOut));
    crate::run(|| {
        assert_eq!(timed_out(|_| true), Waited::Left(Early::TimedOut));
        // The wake comes while the wait is open.
        let late = |me| {
            wake(me);
            false
        };
        assert_eq!(timed_out(late), Waited::Late(Early::TimedOut));
        assert_eq!(timed_out(|_| true), Waited::Left(Early::TimedOut));
    });
}

#[test]
fn a_host_is_woken_that_does_not_wait() {
    dies("a_host_is_woken_that_does_not_wait", "does not wait", || {
        crate::run(|| wake(Waiter::thread(current())));
    });
}

#[test]
fn a_host_is_woken_twice() {
    dies("a_host_is_woken_twice", "a second time", || {
        let twice = |me| {
            wake(me);
            wake(me);
            false
        };
        let _ = crate::run(move || timed_out(twice));
    });
}

#[test]
fn a_host_is_woken_although_it_has_left() {
    dies("a_host_is_woken_although_it_has_left", "had taken its node out", || {
        let late = |me| {
            wake(me);
            true
        };
        let _ = crate::run(move || timed_out(late));
    });
}

#[test]
fn a_host_blocks_within_its_wait() {
    dies("a_host_blocks_within_its_wait", "a wake is owed", || {
        let _ = crate::run(|| timed_out(|_| timed_out(|_| true) == Waited::Done));
    });
}

#[test]
fn a_host_yields_within_its_wait() {
    dies("a_host_yields_within_its_wait", "a wake is owed", || {
        let yields = |_| {
            crate::yield_now();
            true
        };
        let _ = crate::run(move || timed_out(yields));
    });
}

#[test]
fn an_os_thread_is_woken_twice() {
    dies("an_os_thread_is_woken_twice", "woken twice", || {
        let me = os_waiter();
        wake(me);
        wake(me);
    });
}

#[test]
fn an_os_thread_blocks_within_its_wait() {
    dies("an_os_thread_blocks_within_its_wait", "a wake is owed", || {
        let _ = timed_out(|_| timed_out(|_| true) == Waited::Done);
    });
}
