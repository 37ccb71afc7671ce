//! Hosts that do nothing but start parasites give way at the join. A host that starts one parasite after the
//! other, all of which end at once, reaches no scheduling point and counts no calls either, because a start
//! is as cheap as a call. But each start sees the ticks of the attention word ([`offer`](super::offer)).
//! Where one host has started parasites for [`LIMIT`](super::owned::LIMIT) without a scheduling point, the
//! next parasite starts and ends as usual, but gets the kind of handle that a blocked parasite has: the join
//! of such a handle may wait, checks for this, and gives way. So the fast path pays nothing, and every
//! parasite starts at once.
//!
//! # Invariants
//! The start itself never gives way: its caller may hold a lock of `std`.
//!
//! # Rejected
//! To queue the parasite instead, so that its join has to wait: it would then run on another stack, perhaps a
//! smaller one, or after the next ones, or never, if its handle is dropped.
//!
//! # Checked by
//! `tests/sched/starts.rs`.

use crate::sched::thread::Thread;
use crate::sched::worker::Worker;
use crate::time::clock;

impl Worker {
    /// A parasite starts, and the attention word has changed: true if its join should give way.
    pub(in crate::sched) fn is_overdue(&self) -> bool {
        if self.stopping.get() || self.shared.options.simulated || self.cannot_give_way() {
            return false;
        }
        let (now, host) = (clock::ticks(), (self.bottom(), self.budget.get()));
        if self.parasites.starts.host.replace(host) != host {
            self.parasites.starts.since.set(now);
            return false;
        }
        let is_overdue = now.wrapping_sub(self.parasites.starts.since.get()) >= self.parasites.starts.limit;
        if is_overdue {
            self.parasites.starts.forget();
            self.give_way_at_next_call(now);
            self.parasites.turn.set(0); // for a join that is awaited
        }
        is_overdue
    }

    /// The host below all attached parasites, which starts parasites at some depth. The pointer is only
    /// compared.
    fn bottom(&self) -> *const Thread {
        let mut bottom = self.running_ref();
        // SAFETY: the thread below resumes when the one above it blocks or ends, so it is alive; both belong
        // to this worker.
        while let Some(below) = unsafe { bottom.below.get().as_ref() } {
            bottom = below;
        }
        bottom
    }
}
