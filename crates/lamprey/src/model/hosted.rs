//! A parasite that starts as a host, and the order to end that comes from its handle meanwhile: the order is
//! found at the start, or sent to where it has started.
//!
//! `parasite::packet` is not built here, and loom takes a SeqCst access for an AcqRel one; so this is the
//! same sequence with a SeqCst fence between each side's store and its load, which forbids what the SeqCst
//! pairs forbid: that both miss.

use super::{Broken, check, must_fail};
use crate::sync_shim::{Arc, AtomicBool, AtomicUsize, Ordering, fence, thread};

/// A packet reduced to the order and the home.
struct Head {
    ordered: AtomicBool,
    home: AtomicUsize,
}

impl Head {
    /// What `Head::begin` does; true if the closure is to run.
    fn begin(&self) -> bool {
        // Relaxed: the fence orders it.
        self.home.store(1, Ordering::Relaxed);
        // StoreLoad race: home against `ordered`; pairs with the one in `cancel`.
        fence(Ordering::SeqCst);
        // Relaxed: as above.
        !self.ordered.load(Ordering::Relaxed)
    }

    /// What `Packet::cancel` does; true if an errand is sent.
    fn cancel(&self) -> bool {
        // Relaxed: the fence orders it.
        if self.ordered.swap(true, Ordering::Relaxed) {
            return false;
        }
        // StoreLoad race: `ordered` against home; pairs with the one in `begin`.
        fence(Ordering::SeqCst);
        // Relaxed: as above.
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
