//! What an idle worker does for the ring of one that computes: has the kernel take the entries, takes the completions, and
//! gives them to those who wait for them. [`crate::driver::service`] says why nothing is lost.
//!
//! The kernel gives up the operations of a thread that ends, and those that a helper has handed over are the helper's.
//! So its kernel thread ends only after the rings that it has helped with.

use super::completion::{Completion, dispatch};
use super::ring::{Ring, gone, is_fatal};
use crate::driver::entries::Flushed;
use crate::sched::on_worker;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

thread_local! {
    /// The rings for which this kernel thread has entered the kernel.
    static HELPED: Helped = const { Helped(RefCell::new(Vec::new())) };
}

struct Helped(RefCell<Vec<Weak<Ring>>>);

impl Helped {
    /// False if the thread ends already.
    fn remember(ring: &Arc<Ring>) -> bool {
        let remember = |helped: &Self| {
            let mut rings = helped.0.borrow_mut();
            if !rings.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(ring))) {
                rings.retain(|other| other.strong_count() != 0);
                rings.push(Arc::downgrade(ring));
            }
        };
        HELPED.try_with(remember).is_ok()
    }
}

impl Drop for Helped {
    fn drop(&mut self) {
        // A host has called `process::exit`: the other rings do not end before the process does.
        if on_worker() {
            return;
        }
        let rings = self.0.take().into_iter().filter_map(|ring| ring.upgrade());
        // Those of a parent of this process do not end here.
        rings.filter(|ring| ring.process.is_this()).for_each(|ring| ring.service.await_end());
    }
}

/// Serves a ring whose owner computes.
pub(super) fn help(ring: &Arc<Ring>) {
    // Its owner looks itself, or sleeps.
    let Some(mut right) = ring.service.try_hold() else { return };
    if right.has_ended || !Helped::remember(ring) {
        return;
    }
    submit(ring);
    let mut found = Vec::new();
    ring.take(&mut found);
    let is_for_owner = |completion: &mut Completion| completion.of_source().is_some();
    for completion in found.extract_if(.., is_for_owner) {
        if !right.kept.contains(&completion) {
            right.kept.push(completion);
        }
    }
    dispatch(&mut found);
}

/// Has the kernel take what is there, and make the completions that it has put off.
fn submit(ring: &Ring) {
    let mut flushed = Flushed::default();
    if ring.entries.is_waiting() {
        ring.entries.set_waiting(false);
        // SAFETY: within a section, and what the entries name stays, as `keep_back` was promised.
        flushed = ring.entries.flush_as_visitor(|entry| unsafe { ring.push_now(entry) });
    }
    ring.withdraw(flushed.withdrawn);
    match ring.enter(0, None) {
        Ok(_) => flushed.left.iter().for_each(|left| ring.cancel_from_anywhere(left.data)),
        Err(error) if is_fatal(&error) => gone(&error),
        Err(_) => {
            ring.entries.set_waiting(true);
            ring.entries.leave_again(flushed.left);
        }
    }
}
