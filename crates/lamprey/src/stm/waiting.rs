//! How a transaction waits that has called `retry`: for a commit that changes what it has read.
//!
//! # States (of a node)
//! ```text
//! new --register, the stamp is the one that was read--> queued
//!     --the stamp is another one-----------------------> the transaction runs again
//! queued --a commit has written the variable--> taken out; its owner is signalled
//!        --its owner goes on, or gives up-----> taken out
//! ```
//! # Invariants
//! 1. A node is queued in the section (PEEKED) that finds its stamp unchanged. A later commit therefore finds
//!    WAITED when it locks the variable, and takes the node out after it has unlocked it: no wake is lost.
//! 2. Nodes are queued in the order of the stamps that they have read. So those at the front that have read
//!    another stamp than the present one are due, and no others are: nodes that are queued meanwhile are
//!    not woken for what they have seen, and the loop of a waker ends.
//! 3. The owner takes all its nodes out before it lets the [`Waiting`] go; a waker takes a reference to it in
//!    the section in which it takes a node out.
//! 4. A queued node has a reference to its variable.
//! 5. A waker signals all threads before futures, whose wakers may be code of the program.
//!
//! How the thread or future then waits is the gate's concern ([`Gate`]): its state is whether it was signalled.
//!
//! # Who may touch what
//! A node's links, and the fields of its entry: the section of its variable while it is queued, before and
//! after that its owner.
//!
//! # Orderings
//! Sections of a variable come one after the other ([`var`](super::var)); the signal is a section of the gate.
//!
//! # Rejected
//! * Nodes on the stack of the thread: a waker would have to wake under the lock of the variable, or the owner
//!   to wait for it.
//! * One list for each group of variables (as the buckets of a futex): a commit would wake transactions that
//!   have not read what it wrote.
//!
//! # Checked by
//! `model::stm_retry` (loom, with broken variants), `tests/stm/{retry,crowd}.rs`.

use super::log::Read;
use super::stamp::Stamp;
use super::var::{Enqueued, Var};
use crate::bug::quietly;
use crate::channel::gate::{Gate, GateFuture, Interrupted, Op, Section, WaitSpec};
use crate::queue::list::Node;
use crate::sched::Wait;
use crate::sched::parts::{Parts, PartsRef, Told};
use crate::sched::reason::On;
use crate::sync_shim::left_out;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

const QUEUE: usize = 0;
const WAIT: WaitSpec = WaitSpec::new(QUEUE, Wait::Transaction);

/// A transaction that waits.
pub(super) struct Waiting {
    /// True once it was signalled.
    gate: Gate<bool>,
    is_future: bool,
    nodes: Box<[Node<WaitEntry>]>,
}

// SAFETY: nodes are accessed in sections of their variables, or by the only owner (top of this file).
unsafe impl Send for Waiting {}
// SAFETY: as above.
unsafe impl Sync for Waiting {}

/// A node: a variable that a waiting transaction has read.
pub(super) struct WaitEntry {
    pub(super) stamp: Stamp,
    var: NonNull<Var>,
    waiting: Cell<*const Waiting>,
    /// Whether it has been queued, and has a reference to the variable. Only its owner uses it.
    has_ref: Cell<bool>,
}

/// The nodes of a transaction are queued; its drop takes them out.
pub(crate) struct Registered(Arc<Waiting>);

/// What became of an attempt to wait.
pub(crate) enum Register {
    Waits(Registered),
    /// Something that was read has changed: the transaction is to run again.
    Changed,
    /// Nothing that was read will ever change.
    Never,
}

/// Queues a node for each variable in `reads`.
#[cold]
pub(crate) fn register(reads: &[Read], is_future: bool) -> Register {
    let entry = |read: &Read| {
        Node::new(WaitEntry {
            stamp: read.stamp,
            var: read.var,
            waiting: Cell::new(std::ptr::null()),
            has_ref: Cell::new(false),
        })
    };
    let nodes = reads.iter().map(entry).collect();
    let registered = Registered(Arc::new(Waiting { gate: Gate::new(false), is_future, nodes }));
    let mut is_queued = false;
    for node in &registered.0.nodes {
        node.value.waiting.set(Arc::as_ptr(&registered.0));
        // SAFETY: memory of variables is never freed; the node is new, and stays where it is until
        // `Registered` has taken it out.
        match unsafe { node.value.var.as_ref().enqueue(node.value.stamp, NonNull::from(node)) } {
            Enqueued::Queued => node.value.has_ref.set(true),
            Enqueued::Changed => return Register::Changed,
            Enqueued::Dying => continue,
        }
        is_queued = true;
    }
    if is_queued { Register::Waits(registered) } else { Register::Never }
}

impl Drop for Registered {
    fn drop(&mut self) {
        for node in self.0.nodes.iter().filter(|node| node.value.has_ref.get()) {
            // SAFETY: it was queued at this variable, which its reference keeps alive.
            unsafe { node.value.var.as_ref().dequeue(NonNull::from(node)) };
        }
        // Now that no node is queued: what follows may be code of the program. A panic of it ends here, as others are
        // still to be released.
        for node in self.0.nodes.iter().filter(|node| node.value.has_ref.get()) {
            quietly(|| super::life::release(node.value.var));
        }
    }
}

impl Registered {
    /// Blocks until a variable has changed, or the deadline has come.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here; nothing stays queued.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Result<(), Interrupted> {
        let parts = PartsRef(&*self.0);
        let on = parts.on(Wait::Transaction);
        self.0.gate.wait_on(WAIT, on, deadline, |section| section.state.then_some(()))
    }

    /// [`wait`](Self::wait) as a future.
    pub(super) fn into_future(self) -> PendingWait {
        // SAFETY: the gate is in an `Arc` that the future's owner keeps until after the future.
        let gate = unsafe { &*std::ptr::from_ref(&self.0.gate) };
        PendingWait { signalled: gate.future(WAIT, Signalled), _registered: self }
    }
}

/// A future that waits. The fields are dropped in this order: the gate's node leaves before the gate goes.
pub(super) struct PendingWait {
    pub(super) signalled: GateFuture<'static, bool, Signalled>,
    _registered: Registered,
}

/// The operation of the future.
pub(super) struct Signalled;

impl Op<bool> for Signalled {
    type Output = ();

    fn attempt(&mut self, section: &mut Section<'_, bool>) -> Option<()> {
        section.state.then_some(())
    }

    /// The gate is made for this wait.
    fn on(&self, reason: Wait, _: &Gate<bool>) -> On {
        reason.into()
    }
}

/// The variables, for who looks at the thread. Where they were made is known with debug assertions.
impl Parts for Waiting {
    fn tell(&self, told: &mut Told<'_>) {
        if cfg!(debug_assertions) {
            for node in self.nodes.iter().filter(|node| node.value.has_ref.get()) {
                // SAFETY: the node's reference keeps the variable alive while the thread waits.
                told.tell(unsafe { node.value.var.as_ref().made().on(Wait::Transaction) });
            }
        }
    }
}

impl Waiting {
    fn signal(&self) {
        self.gate.with(|section| {
            if !std::mem::replace(section.state, true) {
                section.wake_all(QUEUE);
            }
        });
    }
}

/// How many nodes are taken out in one section.
const BATCH: usize = 16;

/// Wakes the transactions that wait for one of `vars`, which a commit has written.
#[cold]
#[inline(never)]
pub(super) fn wake_all(vars: impl Iterator<Item = NonNull<Var>>) {
    let mut futures = Vec::new();
    for var in vars {
        loop {
            let mut due = [const { None }; BATCH];
            let mut len = 0;
            // SAFETY: memory of variables is never freed.
            unsafe { var.as_ref() }.dequeue_due(|entry| {
                due[len] = Some(entry.share());
                len += 1;
                len < BATCH
            });
            for waiting in due.into_iter().flatten() {
                if waiting.is_future {
                    futures.push(waiting);
                } else if !left_out!(StmSignal) {
                    waiting.signal();
                }
            }
            if len < BATCH {
                break;
            }
        }
    }
    futures.iter().for_each(|waiting| waiting.signal());
}

impl WaitEntry {
    /// A reference to the transaction; the node was queued until now, in this section.
    fn share(&self) -> Arc<Waiting> {
        let waiting = self.waiting.get();
        // SAFETY: its owner takes the node out, in a section, before it lets go.
        unsafe {
            Arc::increment_strong_count(waiting);
            Arc::from_raw(waiting)
        }
    }
}
