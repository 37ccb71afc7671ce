//! The end of a scope: its parent waits for its children, who count themselves down in sections, and frees it.
//!
//! `scope::kin` needs the scheduler; this is its count, with the same sections in the same order.

use super::{Broken, check_bounded, must_fail};
use crate::queue::guarded::Guarded;
use crate::sched::{self, Wait, Waiter, Woke};
use crate::sync_shim::{Arc, UnsafeCell, thread};

struct State {
    alive: usize,
    waiter: Option<Waiter>,
}

/// A scope reduced to its count, and to what its children borrow.
struct Scope {
    state: Guarded<State>,
    borrowed: UnsafeCell<u32>,
}

// SAFETY: `borrowed` is read by children, and written by the parent when they have ended; loom checks that.
unsafe impl Sync for Scope {}
// SAFETY: as above.
unsafe impl Send for Scope {}

impl Scope {
    fn of(children: usize) -> Arc<Self> {
        let state = Guarded::new(State { alive: children, waiter: None });
        Arc::new(Self { state, borrowed: UnsafeCell::new(7) })
    }

    /// What `Kin::depart` does.
    fn child_ends(&self) {
        // SAFETY: loom checks that nobody writes it meanwhile.
        self.borrowed.with(|value| assert_eq!(unsafe { *value }, 7));
        let waiter = self.state.with(|state| {
            state.alive -= 1;
            if state.alive == 0 { state.waiter.take() } else { None }
        });
        if let Some(waiter) = waiter {
            // SAFETY: taken out in the section: the one wake.
            unsafe { waiter.wake() };
        }
    }

    /// What `Kin::wait` does; then what is borrowed goes.
    fn parent_waits(&self) {
        let me = sched::waiter();
        let must_wait = self.state.with(|state| {
            let must_wait = state.alive != 0;
            state.waiter = must_wait.then_some(me);
            must_wait
        });
        if must_wait {
            assert_eq!(sched::block(Wait::Scope), Woke::Woken);
        }
        // SAFETY: loom checks that no child is in it any more.
        self.borrowed.with_mut(|value| unsafe { *value = 0 });
    }
}

fn one_child() {
    let scope = Scope::of(1);
    let theirs = scope.clone();
    let child = thread::spawn(move || theirs.child_ends());
    scope.parent_waits();
    child.join().unwrap();
}

#[test]
fn the_parent_goes_on_when_the_last_child_has_ended() {
    // Not completely: the checker follows every round of a spin.
    check_bounded(3, one_child);
    check_bounded(1, || {
        let scope = Scope::of(2);
        let theirs = [scope.clone(), scope.clone()];
        let [one, two] = theirs.map(|theirs| thread::spawn(move || theirs.child_ends()));
        scope.parent_waits();
        one.join().unwrap();
        two.join().unwrap();
    });
}

#[test]
fn sections_that_order_nothing_are_caught() {
    must_fail(Broken::GateUnlock, one_child);
}
