//! A parasite that starts as a host while its handle orders it to end: the order is found at the start, or
//! sent to the worker where it has started.
//!
//! `parasite::join_cell` is not built for the checker, and loom treats a SeqCst access as AcqRel. So this is
//! the same sequence with a SeqCst fence between each side's store and load, which excludes the same outcome:
//! that both sides miss the other's store.

use super::{Broken, check, must_fail};
use crate::sync_shim::{Arc, AtomicBool, AtomicUsize, Ordering, fence, thread};

/// A join cell reduced to the order and the home.
struct Head {
    ordered: AtomicBool,
    home: AtomicUsize,
}

impl Head {
    /// The steps of `Head::begin`; true if the closure runs.
    fn begin(&self) -> bool {
        // Relaxed: before the fence.
        self.home.store(1, Ordering::Relaxed);
        // StoreLoad race: the store of `home` against the load of `ordered`; pairs with the fence in
        // `cancel`.
        fence(Ordering::SeqCst);
        // Relaxed: after the fence.
        !self.ordered.load(Ordering::Relaxed)
    }

    /// The steps of `JoinCell::cancel`; true if a remote message is sent.
    fn cancel(&self) -> bool {
        // Relaxed: before the fence.
        if self.ordered.swap(true, Ordering::Relaxed) {
            return false;
        }
        // StoreLoad race: the store of `ordered` against the load of `home`; pairs with the fence in `begin`.
        fence(Ordering::SeqCst);
        // Relaxed: after the fence.
        self.home.load(Ordering::Relaxed) != 0
    }
}

fn cancel_while_it_starts() {
    let head = Arc::new(Head { ordered: AtomicBool::new(false), home: AtomicUsize::new(0) });
    let theirs = head.clone();
    let handle = thread::spawn(move || theirs.cancel());
    let runs = head.begin();
    let sent = handle.join().unwrap();
    assert!(!runs || sent, "it runs on, and nobody tells it");
}

#[test]
fn an_order_while_it_starts_is_found_or_sent() {
    check(cancel_while_it_starts);
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, cancel_while_it_starts);
}
