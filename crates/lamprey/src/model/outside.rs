//! Parasites that come from outside of their worker, while that ends: each is over in the end, polled or not, and its
//! memory is freed once.
//!
//! The lock, the life, the inbox and the completion are the real ones; the slab is a list. The worker goes on polling what
//! comes after it has cancelled all that was there, as another worker of the runtime does that has not yet seen the end.

use super::{Broken, check, check_bounded, must_fail};
use crate::sched::parasite::outside::Outside;
use crate::sched::worker::{Parasite, Worker, WorkerShared};
use crate::sync_shim::thread;
use std::cell::RefCell;
use std::future::pending;
use std::sync::Arc;

const SHARED: bool = true;
const OWNED: bool = false;

struct Blocks(RefCell<Vec<Parasite>>);

// SAFETY: loom's lock guards it, and after `close` one thread has it.
unsafe impl Send for Blocks {}

/// As `parasite::send`: the parasite, or `None` if it is refused.
fn send(outside: &Outside<Blocks>, home: &Arc<WorkerShared>, is_shared: bool) -> Option<Parasite> {
    let make = || Blocks(RefCell::default());
    let placed = outside.place(make, |blocks| {
        let parasite = Parasite::sent(home, is_shared, pending());
        blocks.0.borrow_mut().push(parasite.clone());
        parasite
    })?;
    placed.send();
    Some(placed)
}

/// As `Worker::reap_if_due` and the end of the worker.
fn end(worker: &Worker, outside: &Outside<Blocks>) {
    if let Some(blocks) = outside.close() {
        blocks.0.borrow().iter().for_each(|parasite| parasite.reap(worker));
    }
    worker.run();
    worker.leave();
}

/// One is sent from outside while its worker ends; its handle is dropped at once or later.
fn sent_while_the_worker_ends(is_shared: bool, cancels: bool) {
    let (home, outside) = (WorkerShared::new(), Arc::new(Outside::new()));
    let (theirs, place) = (home.clone(), outside.clone());
    let sender = thread::spawn(move || {
        let parasite = send(&place, &theirs, is_shared);
        parasite.inspect(|parasite| {
            if cancels {
                parasite.cancel();
            }
            parasite.detach();
        })
    });
    Worker::play(&home, |worker| end(worker, &outside));
    let sent = sender.join().unwrap();
    assert!(sent.is_none_or(|parasite| parasite.is_freed()), "it waits for ever");
}

/// The worker takes one in, and it is cancelled by its handle.
fn cancelled_while_it_arrives(is_shared: bool) {
    let (home, outside) = (WorkerShared::new(), Arc::new(Outside::new()));
    let (theirs, place) = (home.clone(), outside.clone());
    let sender = thread::spawn(move || {
        let parasite = send(&place, &theirs, is_shared).expect("the worker does not end");
        parasite.cancel();
        parasite.detach();
        parasite
    });
    Worker::play(&home, |worker| {
        worker.run();
        let sent = sender.join().unwrap();
        worker.run();
        assert!(sent.is_freed(), "the cancellation was lost");
    });
}

#[test]
fn sent_while_its_worker_ends_shared() {
    check_bounded(3, || sent_while_the_worker_ends(SHARED, false));
    check_bounded(3, || sent_while_the_worker_ends(SHARED, true));
}

#[test]
fn sent_while_its_worker_ends_owned() {
    check_bounded(3, || sent_while_the_worker_ends(OWNED, false));
    check_bounded(3, || sent_while_the_worker_ends(OWNED, true));
}

#[test]
fn cancelled_while_it_arrives_shared() {
    check(|| cancelled_while_it_arrives(SHARED));
}

#[test]
fn cancelled_while_it_arrives_owned() {
    check(|| cancelled_while_it_arrives(OWNED));
}

#[test]
fn one_that_is_placed_after_the_end_is_caught() {
    must_fail(Broken::OutsideClosed, || sent_while_the_worker_ends(SHARED, false));
    must_fail(Broken::OutsideClosed, || sent_while_the_worker_ends(OWNED, false));
}
