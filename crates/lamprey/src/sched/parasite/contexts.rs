//! The contexts of stackful parasites: a thread descriptor with a stack. The worker keeps idle ones ready, so
//! that to start a parasite is to switch to one ([`on_top`](super::on_top)).

use crate::sched::thread::Thread;
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// A thread descriptor with a stack, for one stackful parasite after the other. The descriptor is the first
/// field.
#[repr(C)]
pub(crate) struct Context {
    pub(crate) thread: Thread,
    pub(super) call: Cell<*const TopCall>,
    /// The join cell for the outcome, once the parasite has blocked; null until then. Its type is known to
    /// `crate::parasite`.
    pub(crate) join_cell: Cell<*const ()>,
    pub(super) next: Cell<*mut Context>,
    /// The number of the thread that has spawned the parasite, once it has blocked; 0 if it is not known.
    pub(in crate::sched) parent: Cell<u64>,
}

/// The call that a parasite runs: the head of a larger object on the spawner's stack.
pub(crate) struct TopCall {
    /// Runs the closure to its end and keeps the outcome; does not unwind.
    pub(crate) run: unsafe fn(NonNull<TopCall>, &Context),
}

/// A worker's idle contexts, a stack linked through `next`.
pub(crate) struct Contexts {
    first: Cell<*mut Context>,
    pub(super) count: Cell<usize>,
}

impl Contexts {
    pub(in crate::sched) fn new() -> Self {
        Self { first: Cell::new(ptr::null_mut()), count: Cell::new(0) }
    }

    pub(super) fn pop(&self) -> Option<NonNull<Context>> {
        let context = NonNull::new(self.first.get())?;
        // SAFETY: an idle context is alive.
        self.first.set(unsafe { context.as_ref() }.next.get());
        self.count.set(self.count.get() - 1);
        Some(context)
    }

    pub(super) fn push(&self, context: &Context) {
        context.next.set(self.first.get());
        self.first.set(ptr::from_ref(context).cast_mut());
        self.count.set(self.count.get() + 1);
    }
}
