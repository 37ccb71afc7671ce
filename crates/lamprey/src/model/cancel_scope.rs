//! Levels of a cancel scope that is cancelled: each level is cancelled once, on its own thread, and does not
//! end before that, whether its thread is a host or an OS thread, waits, or reaches the end of the level
//! meanwhile.
//!
//! Cancel scope, frames, remote messages and inbox are the real ones; hosts are those of
//! [`host`](super::host).

use super::gate::Quiet;
use super::{Broken, check_bounded, must_fail};
use crate::cancel::level::LevelCancelled;
use crate::cancel::scope::CancelScope;
use crate::channel::channel;
use crate::sched::worker::Worker;
use crate::sync_shim::thread;
use std::sync::Arc;

fn cancel_scope() -> (Arc<CancelScope>, Arc<CancelScope>) {
    let cancel_scope = Arc::new(CancelScope::new());
    (cancel_scope.clone(), cancel_scope)
}

/// Runs `body` as a host, until it ends.
fn on_host<R: 'static>(body: impl FnOnce() -> R + 'static) -> Option<R> {
    Worker::with_hosts(|worker| {
        let host = worker.host(body);
        worker.run_until_ended(&host);
        host.join()
    })
}

/// Waits for a value that is never sent.
fn waits(cancel_scope: &CancelScope) -> Result<(), LevelCancelled> {
    let (tx, rx) = channel::<u32>();
    // Not dropped after a failure.
    let (_tx, rx) = (Quiet::new(tx), Quiet::new(rx));
    cancel_scope.run(|| _ = rx.recv())
}

/// The level ends by itself.
fn ends(cancel_scope: &CancelScope) -> Result<(), LevelCancelled> {
    cancel_scope.run(|| ())
}

/// An OS thread, and another that cancels the scope.
fn os_thread(body: fn(&CancelScope) -> Result<(), LevelCancelled>) -> Result<(), LevelCancelled> {
    let (ours, theirs) = cancel_scope();
    let cutter = thread::spawn(move || assert!(theirs.cancel()));
    let left = body(&ours);
    cutter.join().unwrap();
    assert_eq!(body(&ours), Err(LevelCancelled));
    left
}

/// A host, and an OS thread that cancels the scope.
fn host(body: fn(&CancelScope) -> Result<(), LevelCancelled>) -> Result<(), LevelCancelled> {
    let (ours, theirs) = cancel_scope();
    let cutter = thread::spawn(move || assert!(theirs.cancel()));
    let left = on_host(move || body(&ours));
    cutter.join().unwrap();
    left.expect("only a level was cancelled")
}

/// A host cancels a scope that has levels of itself and of an OS thread; its own level is on its own worker.
fn both() {
    let (ours, theirs) = cancel_scope();
    let other = thread::spawn(move || waits(&theirs));
    let left = on_host(move || {
        ours.run(|| {
            assert!(ours.cancel());
            crate::sched::is_cancelled()
        })
    });
    assert_eq!(left, Some(Ok(true)));
    assert_eq!(other.join().unwrap(), Err(LevelCancelled));
}

/// A value comes while the scope is cancelled: it is received or left in the channel.
fn meets() {
    let (ours, theirs) = cancel_scope();
    let (tx, rx) = channel();
    let (keep, after) = (tx.clone(), rx.clone());
    let peer = thread::spawn(move || {
        let sent = tx.try_send(1).is_ok();
        theirs.cancel();
        sent
    });
    let got = on_host(move || ours.run(|| rx.recv())).unwrap();
    let got = matches!(got, Ok(Ok(1)));
    assert_eq!(peer.join().unwrap(), got || after.try_recv().is_ok());
    drop(keep);
}

#[test]
fn an_os_thread_that_waits_is_tripped() {
    check_bounded(3, || assert_eq!(os_thread(waits), Err(LevelCancelled)));
}

#[test]
fn an_os_thread_leaves_its_level_while_it_is_cut() {
    check_bounded(3, || _ = os_thread(ends));
}

#[test]
fn a_host_that_waits_is_tripped() {
    check_bounded(3, || assert_eq!(host(waits), Err(LevelCancelled)));
}

#[test]
fn a_host_leaves_its_level_while_it_is_cut() {
    check_bounded(3, || _ = host(ends));
}

#[test]
fn one_that_cuts_trips_itself_and_others() {
    check_bounded(2, both);
}

#[test]
fn a_value_comes_while_the_level_is_cut() {
    check_bounded(2, meets);
}

#[test]
fn a_look_before_the_level_is_tripped_is_caught() {
    must_fail(Broken::CancelScopeNudge, || _ = os_thread(waits));
}

#[test]
fn a_level_that_does_not_await_its_cut_is_caught() {
    must_fail(Broken::CancelScopeHaste, || _ = host(ends));
}

#[test]
fn one_that_is_not_woken_after_the_cut_is_caught() {
    must_fail(Broken::CancelScopeWaits, || _ = host(ends));
}
