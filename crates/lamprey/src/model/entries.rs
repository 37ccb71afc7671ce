//! Entries of a ring, and operations that are left: each comes to its end once, and what was left before it was submitted
//! is never the kernel's.

use super::{Broken, check, is_broken, must_fail};
use crate::driver::entries::{Entries, Flushed};
use crate::sync_shim::{Arc, Mutex, MutexGuard, thread};
use std::collections::VecDeque;

/// The operation.
const IT: u64 = 1;

/// The kernel's side, and the ends of operations.
#[derive(Default)]
struct Kernel {
    queue: VecDeque<u64>,
    has: Vec<u64>,
    given_up: Vec<u64>,
    withdrawn: Vec<u64>,
}

struct Ring {
    entries: Entries<u64>,
    kernel: Mutex<Kernel>,
}

impl Ring {
    /// A ring in which the operation is kept back; its owner is the calling thread.
    fn new() -> Arc<Self> {
        let ring = Arc::new(Self { entries: Entries::new(), kernel: Mutex::new(Kernel::default()) });
        // SAFETY: the owner.
        unsafe { ring.entries.keep_back(IT, IT) };
        ring
    }

    fn kernel(&self) -> MutexGuard<'_, Kernel> {
        self.kernel.lock().unwrap()
    }

    fn push(&self) -> impl FnMut(&u64) -> bool + '_ {
        |entry| {
            self.kernel().queue.push_back(*entry);
            true
        }
    }

    /// What follows a flush.
    fn submit(&self, flushed: Flushed) {
        self.kernel().withdrawn.extend(flushed.withdrawn);
        if is_broken(Broken::EntriesHaste) {
            flushed.left.iter().for_each(|left| self.give_up(left.data));
            return self.enter();
        }
        self.enter();
        flushed.left.iter().for_each(|left| self.give_up(left.data));
    }

    fn enter(&self) {
        let mut kernel = self.kernel();
        let taken = std::mem::take(&mut kernel.queue);
        kernel.has.extend(taken);
    }

    fn give_up(&self, data: u64) {
        let mut kernel = self.kernel();
        if let Some(at) = kernel.has.iter().position(|has| *has == data) {
            kernel.has.remove(at);
            kernel.given_up.push(data);
        }
    }

    fn owner_submits(&self) {
        // SAFETY: the owner.
        let flushed = unsafe { self.entries.flush_as_owner(self.push()) };
        self.submit(flushed);
    }

    fn helper_submits(&self) {
        let flushed = self.entries.flush_as_visitor(self.push());
        self.submit(flushed);
    }

    fn leave(&self) {
        self.entries.leave(IT, std::sync::Arc::new(()));
    }
}

/// Owner, helper, and the thread that drops the future, at once.
fn it_ends_once() {
    let ring = Ring::new();
    let (theirs, its) = (ring.clone(), ring.clone());
    let helper = thread::spawn(move || theirs.helper_submits());
    let dropper = thread::spawn(move || its.leave());
    ring.owner_submits();
    helper.join().unwrap();
    dropper.join().unwrap();
    // What was left is found when the owner next looks.
    ring.owner_submits();
    let kernel = ring.kernel();
    assert!(kernel.has.is_empty() && kernel.queue.is_empty(), "an operation that nobody wants goes on");
    assert_eq!(kernel.withdrawn.len() + kernel.given_up.len(), 1);
}

/// It is left before owner and helper submit.
fn it_is_never_the_kernels() {
    let ring = Ring::new();
    ring.leave();
    let theirs = ring.clone();
    let helper = thread::spawn(move || theirs.helper_submits());
    ring.owner_submits();
    helper.join().unwrap();
    assert_eq!(ring.kernel().withdrawn, [IT]);
}

#[test]
fn what_is_left_ends_once() {
    super::check_bounded(3, it_ends_once);
}

#[test]
fn what_is_left_before_it_is_submitted_is_withdrawn() {
    check(it_is_never_the_kernels);
}

#[test]
fn what_is_left_must_be_looked_for() {
    must_fail(Broken::EntriesWithdraw, it_is_never_the_kernels);
}

#[test]
fn the_kernel_must_be_entered_before_it_is_told() {
    must_fail(Broken::EntriesHaste, it_ends_once);
}
