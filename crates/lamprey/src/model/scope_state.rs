//! The end of a scope: its parent waits for its children, which count themselves down in sections, and frees
//! it. A cancelled parent cancels its children, and still waits for them.
//!
//! The scope, its lists and the way to a host are the real ones. A child is a share that an OS thread holds,
//! as a parasite's future does, or a host ([`host`](super::host)) with its membership.

use super::gate::Quiet;
use super::host_waits::{End, on_host};
use super::{Broken, cancelled, check_bounded, must_fail};
use crate::channel::channel;
use crate::sched::scope_info::ScopeOrigin;
use crate::sched::worker::Worker;
use crate::scope::state::{Membership, ScopeState};
use crate::sync_shim::{UnsafeCell, thread};
use crate::thread::{Member, Panic, Panics};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

/// Replaces the error of a handle, which is not built for the checker.
#[derive(Debug)]
pub(crate) enum JoinError {
    Panicked(Panic),
    NoStack(NoStack),
    Cancelled,
}

/// Never made by the checker.
#[derive(Debug)]
pub(crate) enum NoStack {}

impl NoStack {
    pub(crate) fn error(&self) -> &std::io::Error {
        match *self {}
    }
}

impl JoinError {
    pub(crate) fn cancelled() -> Self {
        Self::Cancelled
    }
}

/// A scope and the data that its children borrow.
struct Scope {
    scope_state: ScopeState,
    borrowed: UnsafeCell<u32>,
}

// SAFETY: children read `borrowed`, and the parent writes it after they have ended; loom checks that.
unsafe impl Sync for Scope {}
// SAFETY: shared access is read-only until the children have ended; loom checks that.
unsafe impl Send for Scope {}

impl Scope {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            scope_state: ScopeState::new(Panics::Report, ScopeOrigin::new(Location::caller(), 0)),
            borrowed: UnsafeCell::new(7),
        })
    }

    fn read(&self) {
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.borrowed.with(|value| assert_eq!(unsafe { *value }, 7));
    }

    /// Waits, then ends the borrow. False if the caller was cancelled.
    fn parent_waits(&self) -> bool {
        let is_well = self.scope_state.wait();
        // SAFETY: loom checks that no child uses it any more.
        self.borrowed.with_mut(|value| unsafe { *value = 0 });
        is_well
    }

    /// Starts a child on a new thread.
    fn child(self: &Arc<Self>) -> thread::JoinHandle<()> {
        // Not dropped after a failure.
        let share = Quiet::new(self.scope_state.share());
        let theirs = self.clone();
        thread::spawn(move || {
            theirs.read();
            drop(share);
        })
    }
}

fn children(count: usize) {
    let scope = Scope::new();
    let children: Vec<_> = (0..count).map(|_| scope.child()).collect();
    assert!(scope.parent_waits());
    children.into_iter().for_each(|child| child.join().unwrap());
}

/// The parent is an OS thread that is cancelled.
fn cancelled_parent() {
    let scope = Scope::new();
    let child = scope.child();
    let is_well = cancelled(|| scope.parent_waits()).expect("a scope does not unwind while it waits");
    // A parent that is cancelled as its last child ends has no child to cancel.
    assert!(!(is_well && scope.scope_state.is_cancelled()));
    child.join().unwrap();
}

/// The parent is a host.
fn parent_host(end: End) {
    let scope = Scope::new();
    let child = scope.child();
    assert!(on_host(end, move || scope.parent_waits()).is_some_and(|is_well| is_well || end == End::Cancel));
    child.join().unwrap();
}

/// A child that is a host; the parent runs on another thread. `waits` is true if the host ends only by the
/// scope's cancellation.
fn child_host(waits: bool, parent: impl FnOnce(&Scope) + 'static) {
    let scope = Scope::new();
    let (theirs, group) = (scope.clone(), scope.clone());
    let member = Rc::new(Membership::new(&scope.scope_state));
    let entered = member.clone();
    let ended = Worker::with_hosts(|worker| {
        let body = move || {
            theirs.read();
            let (_tx, rx) = channel::<u32>();
            if waits {
                let _ = rx.recv();
            }
            theirs.read();
        };
        let publish = move |thread: std::ptr::NonNull<crate::sched::thread::Thread>| {
            let scope_state = member.leave();
            // From here on no thread may reach the host: its handle may free it.
            // SAFETY: it stays allocated; `free` only tells the checker.
            unsafe { thread.as_ref() }.ask.free();
            Membership::left(scope_state);
            drop(group);
        };
        let host = worker.host_of(body, publish);
        entered.enter(host.thread());
        let parent = thread::spawn(move || parent(&scope));
        worker.run_until_ended(&host);
        parent.join().unwrap();
        host.join()
    });
    assert!(!waits || ended.is_none());
}

/// The host is cancelled while it waits.
fn cancels_a_waiting_host() {
    child_host(true, |scope| assert_eq!(cancelled(|| scope.parent_waits()), Some(false)));
}

/// The host ends by itself while it is cancelled.
fn cancels_a_host_that_ends() {
    child_host(false, |scope| {
        scope.scope_state.cancel();
        assert!(scope.parent_waits());
    });
}

#[test]
fn the_parent_goes_on_when_the_last_child_has_ended() {
    // Bounded: the checker would follow every round of a spin.
    check_bounded(3, || children(1));
    check_bounded(1, || children(2));
}

#[test]
fn a_parent_that_is_cancelled_waits_for_its_child() {
    check_bounded(3, cancelled_parent);
    check_bounded(2, || parent_host(End::Cancel));
}

#[test]
fn a_host_waits_for_its_child() {
    check_bounded(2, || parent_host(End::Never));
}

#[test]
fn a_child_that_waits_is_cancelled() {
    check_bounded(2, cancels_a_waiting_host);
}

#[test]
fn a_child_ends_while_it_is_cancelled() {
    check_bounded(2, cancels_a_host_that_ends);
}

#[test]
fn sections_that_order_nothing_are_caught() {
    must_fail(Broken::GateUnlock, || children(1));
}

#[test]
fn a_parent_that_does_not_wait_again_is_caught() {
    must_fail(Broken::KinHaste, cancelled_parent);
}

#[test]
fn a_host_that_is_looked_for_after_it_has_left_is_caught() {
    must_fail(Broken::KinCall, cancels_a_host_that_ends);
}
