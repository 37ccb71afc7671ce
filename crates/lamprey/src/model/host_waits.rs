//! Hosts that wait: the root interrupts them at any moment before or after the wake, which comes through the
//! inbox; before the host has run, or while it awaits its pending wake. What it waited for comes once or
//! stays.
//!
//! All is real but the switch ([`host`](super::host)); OS threads wake the hosts.

use super::choice::{Value, try_send};
use super::{Broken, check, check_bounded, is_broken, must_fail};
use crate::channel::oneshot::oneshot;
use crate::channel::{Receiver, channel};
use crate::events::{Event, choose};
use crate::queue::guarded::Guarded;
use crate::sched::completion::{Completion, Published};
use crate::sched::thread::ThreadState;
use crate::sched::thread::Woke;
use crate::sched::wait::{Early, Waited, wait};
use crate::sched::worker::Worker;
use crate::sched::{Wait, Waiter};
use crate::sync::{Mutex, Semaphore};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use crate::thread::suspend;
use std::time::Duration;

const SOON: Duration = Duration::ZERO;

/// How the root ends the wait of its host.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Never,
    TimeOut,
    Cancel,
    /// Before the host begins to wait.
    CancelFirst,
}

const EARLY: [End; 2] = [End::TimeOut, End::Cancel];

/// Runs `waits` as a host of the calling loom thread's worker; its result, `None` if it was cancelled.
pub(super) fn on_host<R: 'static>(end: End, waits: impl FnOnce() -> R + 'static) -> Option<R> {
    Worker::with_hosts(|worker| {
        let host = worker.host(waits);
        let ends = || match end {
            End::Never => {}
            End::TimeOut => worker.interrupt_host(&host, Woke::TimedOut),
            End::Cancel | End::CancelFirst => worker.cancel_host(&host),
        };
        if end == End::CancelFirst {
            ends();
        }
        worker.run_ready();
        worker.take_in();
        ends();
        // A message now finds a host that has been interrupted and has not run since.
        worker.take_in();
        worker.run_ready();
        // It awaits its pending wake, or has ended.
        assert!(end == End::Never || matches!(host.state(), ThreadState::Committed | ThreadState::Finished));
        if host.state() == ThreadState::Committed {
            ends();
        }
        worker.run_until_ended(&host);
        host.join()
    })
}

fn left(rx: &Receiver<Value>) -> u32 {
    u32::from(rx.try_recv().is_ok())
}

/// The value is either received or left in the channel.
fn receives(end: End) {
    let (tx, rx) = channel();
    let (keep, after) = (tx.clone(), rx.clone());
    let peer = thread::spawn(move || try_send(&tx, 1));
    let got = on_host(end, move || u32::from(rx.recv_timeout(SOON).is_ok()));
    assert_eq!(peer.join().unwrap(), got.unwrap_or(0) + left(&after));
    drop(keep);
}

fn sends(end: End) {
    let (tx, rx) = channel::<Value>();
    let keep = rx.clone();
    let peer = thread::spawn(move || rx.try_recv().is_ok());
    let sent = on_host(end, move || tx.send_timeout(Box::new(1), SOON).is_ok());
    let got = peer.join().unwrap();
    assert!(sent.is_none_or(|sent| sent == got));
    drop(keep);
}

/// A choice that has committed returns, even if it was cancelled.
fn chooses(end: End) {
    let ((tx, rx), (tx2, rx2)) = (channel(), channel::<Value>());
    let keep = (tx.clone(), tx2);
    let peer = thread::spawn(move || try_send(&tx, 1));
    let got = on_host(end, move || {
        let got = choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(SOON);
        u32::from(got.is_some_and(|got| got.is_ok()))
    });
    assert_eq!(peer.join().unwrap(), got.unwrap_or(0));
    drop(keep);
}

fn receives_the_one(end: End) {
    let (tx, mut rx) = oneshot();
    let peer = thread::spawn(move || tx.send(Box::new(5)).is_ok());
    let got = on_host(end, move || {
        let got = u32::from(rx.recv_timeout(SOON).is_ok());
        got + u32::from(rx.try_recv().is_ok())
    });
    let sent = peer.join().unwrap();
    // A cancelled host may have dropped the value.
    assert!(got.is_none_or(|got| got <= 1 && (sent || got == 0)));
    assert!(end != End::Never || got == Some(1));
}

fn locks(end: End) {
    let lock = Arc::new(Mutex::new(0));
    let theirs = lock.clone();
    let held = lock.lock().unwrap();
    let adds = move || theirs.lock_timeout(SOON).map(|mut held| *held += 1).is_ok();
    let waiter = thread::spawn(move || on_host(end, adds));
    drop(held);
    let got = waiter.join().unwrap();
    let total = *lock.try_lock().expect("it was left locked");
    assert_eq!(total, i32::from(got == Some(true)));
}

fn acquires(end: End) {
    let remotes = Arc::new(Semaphore::new(0));
    let theirs = remotes.clone();
    let peer = thread::spawn(move || theirs.add_permits(1));
    let ours = remotes.clone();
    let got = on_host(end, move || ours.acquire_timeout(1, SOON).map(std::mem::forget).is_ok());
    peer.join().unwrap();
    assert_eq!(remotes.available_permits(), u64::from(got != Some(true)));
}

struct JoinCell {
    completion: Completion,
    outcome: UnsafeCell<u32>,
}

// SAFETY: the outcome is reached only as the completion word allows; loom checks it.
unsafe impl Sync for JoinCell {}
// SAFETY: the completion word orders all access; loom checks it.
unsafe impl Send for JoinCell {}

fn joins(end: End) {
    let join_cell = Arc::new(JoinCell { completion: Completion::new(), outcome: UnsafeCell::new(0) });
    let theirs = join_cell.clone();
    let peer = thread::spawn(move || {
        // SAFETY: the outcome is not published yet.
        theirs.outcome.with_mut(|outcome| unsafe { *outcome = 7 });
        if let Published::PendingWake(waiter) = theirs.completion.publish() {
            // SAFETY: `publish` took the waiter out of the word.
            unsafe { waiter.wake_kept() };
        }
    });
    let got = on_host(end, move || {
        assert!(join_cell.completion.wait(std::ptr::null()));
        // SAFETY: the host is done, so the outcome is the handle's.
        join_cell.outcome.with(|outcome| unsafe { *outcome })
    });
    assert!(got.is_none_or(|got| got == 7));
    peer.join().unwrap();
}

fn suspends(end: End) {
    let mut waker = None;
    let ended = on_host(end, || {
        let (mut waker, mut ended) = (None, Ok(()));
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            ended = suspend(|token| waker = Some(thread::spawn(move || token.wake())));
        }));
        (waker, unwound.is_ok().then_some(ended))
    });
    if let Some((theirs, ended)) = ended {
        assert!(ended.is_none_or(|ended| ended.is_ok()));
        waker = theirs;
    }
    waker.into_iter().for_each(|waker| waker.join().unwrap());
}

/// The wait itself: a slot for one waiter; the thread that takes it out must wake it.
struct Place(Guarded<(bool, Option<Waiter>)>);

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self(Guarded::new((false, None))))
    }

    fn happens(&self) {
        let waiter = self.0.with(|(has_happened, waiter)| {
            *has_happened = true;
            waiter.take()
        });
        if let Some(waiter) = waiter {
            for _ in 0..if is_broken(Broken::WakeTwice) { 2 } else { 1 } {
                // SAFETY: taken out in the section; this is the one wake.
                unsafe { waiter.wake() };
            }
        }
    }

    fn wait(&self) -> Waited {
        let enter = |me| {
            self.0.with(|(has_happened, waiter)| {
                *waiter = (!*has_happened).then_some(me);
                !*has_happened
            })
        };
        wait(Wait::Suspend, None, enter, |_| self.0.with(|(_, waiter)| waiter.take().is_some()))
    }
}

/// After the first wait no wake is pending for the second.
fn waits_again(end: End) {
    let place = Place::new();
    let theirs = place.clone();
    let peer = thread::spawn(move || theirs.happens());
    let waited = on_host(end, move || (place.wait(), place.0.with(|(has_happened, _)| *has_happened)));
    match waited {
        Some((Waited::Done | Waited::Woken | Waited::Late(_), has_happened)) => assert!(has_happened),
        Some((Waited::Left(early), _)) => {
            assert!(end != End::Never && (early == Early::TimedOut) == (end == End::TimeOut))
        }
        Some((Waited::Refused, _)) | None => unreachable!("nothing refuses, or unwinds"),
    }
    peer.join().unwrap();
}

fn each(ends: &[End], model: fn(End)) {
    for &end in ends {
        check_bounded(2, move || model(end));
    }
}

#[test]
fn a_wait_ends_once() {
    for end in [End::Never, End::TimeOut, End::Cancel, End::CancelFirst] {
        check(move || waits_again(end));
    }
}

#[test]
fn a_value_is_received_or_left() {
    each(&[End::Never], |end| {
        let (tx, rx) = channel();
        let peer = thread::spawn(move || tx.send(Box::new(1)).is_ok());
        assert_eq!(on_host(end, move || rx.recv().is_ok()), Some(true));
        assert!(peer.join().unwrap());
    });
    each(&EARLY, receives);
}

#[test]
fn a_value_is_sent_or_comes_back() {
    each(&EARLY, sends);
}

#[test]
fn a_choice_is_decided_or_over() {
    each(&EARLY, chooses);
}

#[test]
fn a_oneshot_comes() {
    each(&[End::Never, End::TimeOut, End::Cancel], receives_the_one);
}

#[test]
fn a_lock_is_had_or_left() {
    each(&EARLY, locks);
}

#[test]
fn a_permit_is_had_or_left() {
    each(&EARLY, acquires);
}

#[test]
fn an_outcome_is_there() {
    each(&[End::Never, End::Cancel], joins);
}

#[test]
fn a_token_is_used() {
    each(&[End::Never, End::Cancel], suspends);
}

#[test]
fn an_interrupt_that_does_not_open_the_wait_is_caught() {
    must_fail(Broken::HostOpen, || waits_again(End::TimeOut));
}

#[test]
fn an_interrupt_of_one_that_awaits_its_wake_is_caught() {
    must_fail(Broken::HostCommitted, || waits_again(End::Cancel));
}

#[test]
fn a_wake_that_is_not_awaited_is_caught() {
    must_fail(Broken::WaitOwed, || waits_again(End::TimeOut));
}

#[test]
fn a_wake_that_is_not_used_up_is_caught() {
    must_fail(Broken::WaitKept, || waits_again(End::TimeOut));
}

#[test]
fn a_second_wake_is_caught() {
    must_fail(Broken::WakeTwice, || waits_again(End::Never));
    must_fail(Broken::WakeTwice, || waits_again(End::TimeOut));
}
