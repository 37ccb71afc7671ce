//! A worker: one kernel thread that runs Lamprey threads, and what it owns (Go's M and P in one).
//!
//! This file has the struct [`Worker`], its list of hosts, and the blocks of memory for threads' objects. The
//! fields that belong to one concern are grouped in the files of this folder.
//!
//! # Who may touch what
//! [`Worker`] is reached only from its own kernel thread (through a thread-local), by the thread that runs
//! there. It is only ever shared (`&Worker`): fields are cells, and an exclusive reference into a cell never
//! lives across a switch. [`WorkerShared`] is the part that other kernel threads see.

pub(in crate::sched) mod linger;
pub(in crate::sched) mod looks;
mod placing;
pub(in crate::sched) mod rounds;
pub(in crate::sched) mod spin;
pub(in crate::sched) mod stacks;
pub(in crate::sched) mod turns;
pub(in crate::sched) mod walk;
pub(in crate::sched) mod watching;

use self::looks::QueueLooks;
use self::placing::Placing;
use self::rounds::Rounds;
use self::stacks::Stacks;
use self::turns::Turns;
use self::walk::Walk;
use self::watching::Watching;
use super::metrics::meter::Meter;
use super::parasite::owned::{OutsideSlab, Parasites};
use super::policy::PolicySlot;
use super::record::recorder::Recorder;
use super::shared::Shared;
use super::source::Sources;
use super::thread::{SOURCE, Thread};
use super::worker_shared::WorkerShared;
use crate::bias;
use crate::memory::blocks::{self, Blocks};
use crate::memory::slab::Slab;
use crate::sync_shim::{Ordering, compiler_fence};
use crate::time::clock;
use std::alloc::Layout;
use std::cell::{Cell, OnceCell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The part of a worker that only its own kernel thread touches. The fields that each switch reads come
/// first.
#[repr(C, align(64))]
pub(crate) struct Worker {
    /// The thread that runs now.
    pub(in crate::sched) running: Cell<NonNull<Thread>>,
    /// Scheduling points until the root runs again (see [`super::root`]).
    pub(in crate::sched) budget: Cell<u32>,
    parallel: bool,
    /// Its slot as an owner of biased objects ([`crate::bias`]); given back when the worker is dropped, when
    /// no host is left.
    slot: Option<bias::Lease>,
    pub(in crate::sched) policy: PolicySlot,
    pub(crate) remote: Arc<WorkerShared>,
    pub(crate) parasites: Parasites,
    pub(in crate::sched) turns: Turns,
    pub(in crate::sched) stacks: Stacks,
    blocks: Blocks,
    /// Head of the list of started hosts, newest first; linked through `older` and `newer`.
    pub(in crate::sched) newest: Cell<*const Thread>,
    pub(in crate::sched) hosts: Cell<usize>,
    pub(in crate::sched) walk: Walk,
    pub(in crate::sched) placing: Placing,
    pub(in crate::sched) stopping: Cell<bool>,
    /// The last question of the survey that this worker has answered ([`super::inspect::survey`]).
    pub(in crate::sched) surveyed: Cell<usize>,
    next_id: Cell<u64>,
    /// Threads for which no stack could be had; the root ends them.
    pub(in crate::sched) refused: UnsafeCell<Vec<(NonNull<Thread>, std::io::Error)>>,
    /// The scheduler loop on this kernel thread's own stack (Go's g0), as a thread that can be switched to.
    pub(in crate::sched) root: Thread,
    pub(crate) shared: Arc<Shared>,
    pub(in crate::sched) sources: UnsafeCell<Sources>,
    pub(in crate::sched) rounds: Rounds,
    pub(in crate::sched) recorder: Recorder,
    pub(in crate::sched) meter: Meter,
    pub(in crate::sched) watch: UnsafeCell<QueueLooks>,
    pub(in crate::sched) watching: Watching,
    /// It has offered itself in `WorkerShared::idle` and may be woken to look for work ([`super::idle`]).
    pub(in crate::sched) lies_idle: Cell<bool>,
    /// The name of what called the code that must not switch ([`super::guard`]).
    pub(in crate::sched) caller: Cell<&'static str>,
    /// The memory of the parasites that came from outside, from when the worker ends
    /// ([`Outside`](super::parasite::outside::Outside)).
    pub(in crate::sched) outside: OnceCell<Box<OutsideSlab>>,
}

thread_local! {
    static WORKER: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Allocates a worker on the heap at a fixed offset within a page. The processor delays a load that matches a
/// recent store in the offset within a page (4K aliasing). When the worker was on the kernel thread's stack,
/// its offset varied, and a stackful parasite that ends at once took 9 or 12 ns by chance. The first two
/// cache lines of a page conflict most of the offsets measured (a stackless parasite 4.2 or 5.7 ns, a yield
/// 1.7 or 2.0), so the worker begins behind them.
#[repr(C, align(4096))]
pub(in crate::sched) struct InPage {
    before: [u8; 256],
    pub(in crate::sched) worker: Worker,
}

impl InPage {
    pub(in crate::sched) fn new(worker: Worker) -> Box<Self> {
        Box::new(Self { before: [0; 256], worker })
    }
}

impl Worker {
    /// The calling kernel thread's worker, `None` outside of every runtime.
    ///
    /// The compiler may keep the address of the thread-local across a switch: a started host stays on its
    /// kernel thread, so the address stays valid.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn current() -> Option<&'static Worker> {
        let worker = WORKER.get();
        // SAFETY: non-null only between `install` and `uninstall`, while the worker is alive on this thread.
        // The reference is `'static` but used only within calls on this thread, all of which end before
        // `uninstall`.
        unsafe { worker.as_ref() }
    }

    pub(in crate::sched) fn new(
        remote: Arc<WorkerShared>,
        shared: Arc<Shared>,
        policy: PolicySlot,
        sources: Sources,
    ) -> Self {
        let (now, workers) = (clock::ticks(), shared.remotes().len());
        // In a simulation the recorder keeps nothing, but what it sees is measured.
        policy.set_recorded(shared.options.simulated);
        Self {
            running: Cell::new(NonNull::dangling()),
            budget: Cell::new(1),
            parallel: workers > 1 && !shared.options.simulated,
            slot: if shared.options.simulated { None } else { bias::Lease::take() },
            policy,
            parasites: Parasites::new(remote.ready.clone(), new_slab(remote.clone())),
            turns: Turns::new(),
            stacks: Stacks::new(shared.stacks.clone(), now, shared.options.simulated),
            blocks: Blocks::new(),
            newest: Cell::new(ptr::null()),
            hosts: Cell::new(0),
            walk: Walk::new(),
            placing: Placing::new(),
            stopping: Cell::new(false),
            surveyed: Cell::new(0),
            next_id: Cell::new(remote.index as u64 + 1),
            refused: UnsafeCell::new(Vec::new()),
            root: Thread::root(),
            sources: UnsafeCell::new(sources),
            rounds: Rounds::new(now),
            recorder: Recorder::new(shared.notes(), now),
            meter: Meter::new(shared.options.simulated),
            watch: UnsafeCell::new(QueueLooks::new(workers)),
            watching: Watching::new(workers),
            lies_idle: Cell::new(false),
            caller: Cell::new(SOURCE),
            outside: OnceCell::new(),
            remote,
            shared,
        }
    }

    /// Makes this the calling thread's worker.
    pub(in crate::sched) fn install(&self) {
        self.running.set(NonNull::from(&self.root));
        self.root.set_barred(true);
        self.root.reach().begin(Arc::as_ptr(&self.remote));
        WORKER.set(self);
    }

    /// Makes this the calling thread's worker again.
    pub(in crate::sched) fn reinstall(&self) {
        WORKER.set(self);
    }

    /// Undoes [`install`](Self::install): the calling thread is a plain OS thread again.
    pub(in crate::sched) fn uninstall(&self) {
        WORKER.set(ptr::null());
    }

    /// This worker's slot for [`Bias::enter`](bias::Bias::enter); `None` if all slots are taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn slot(&self) -> Option<&'static bias::Slot> {
        self.slot.as_ref().map(bias::Lease::slot)
    }

    /// True if the runtime has other workers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_parallel(&self) -> bool {
        self.parallel
    }

    /// True if the runtime is shutting down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_ending(&self) -> bool {
        self.stopping.get()
    }

    /// True if no thread may be started on top of the running one: on the root, in other code that must not
    /// switch, in a thread that unwinds, and while the runtime shuts down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn must_not_switch(&self) -> bool {
        self.stopping.get() || std::thread::panicking() || self.running_ref().is_barred()
    }

    /// True if the running thread is the root: the caller is an event source, or a policy that the root
    /// called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_on_root(&self) -> bool {
        ptr::eq(self.running_ref(), &self.root)
    }

    /// The address of its worker-shared state, for comparison.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn remote_ptr(&self) -> *const WorkerShared {
        Arc::as_ptr(&self.remote)
    }

    /// The address of its runtime, for comparison.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn shared_ptr(&self) -> *const () {
        Arc::as_ptr(&self.shared).cast()
    }

    /// The thread that runs now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn running(&self) -> NonNull<Thread> {
        self.running.get()
    }

    /// The descriptor of the thread that runs now.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn running_ref(&self) -> &Thread {
        // SAFETY: the running thread's descriptor lives at least until its outcome is published, and it does
        // not use this reference later.
        unsafe { self.running.get().as_ref() }
    }

    /// A number for a new thread, unique in the runtime.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new_id(&self) -> u64 {
        let id = self.next_id.get();
        self.next_id.set(id + self.shared.remotes().len() as u64 + 1);
        id
    }

    /// The number of the thread that runs, as the parent of what it spawns; 0 if it has none. Of a stackless parasite it is known
    /// with debug assertions only: it would cost more than the spawn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn spawner(&self) -> u64 {
        let me = self.running_ref();
        match me.polled() {
            None => me.label.id.get(),
            // SAFETY: it is polled by this thread, so it is alive.
            #[cfg(debug_assertions)]
            Some(task) => unsafe { task.as_ref() }.number(),
            #[cfg(not(debug_assertions))]
            Some(_) => 0,
        }
    }

    /// Enters a host into the list of started hosts.
    pub(in crate::sched) fn enlist(&self, thread: NonNull<Thread>) {
        let newest = self.newest.get();
        // SAFETY: listed hosts are alive until `delist`, and so is one that is about to be listed.
        unsafe {
            thread.as_ref().older.set(newest);
            thread.as_ref().newer.set(ptr::null());
            if let Some(second) = newest.as_ref() {
                second.newer.set(thread.as_ptr());
            }
        }
        // Release: orders the stores to the links before the store to `newest`, for the compiler only: a
        // signal handler on this kernel thread may walk the list at any moment (`inspect::stuck`).
        compiler_fence(Ordering::Release);
        self.newest.set(thread.as_ptr());
        self.count_hosts(self.hosts.get() + 1);
    }

    /// Takes a host that has ended out of the list.
    pub(in crate::sched) fn delist(&self, thread: &Thread) {
        let (older, newer) = (thread.older.get(), thread.newer.get());
        if ptr::eq(self.walk.next.get(), thread) {
            self.walk.next.set(older);
        }
        // SAFETY: neighbours in the list are listed, so alive.
        match unsafe { newer.as_ref() } {
            Some(newer) => newer.older.set(older),
            None => self.newest.set(older),
        }
        // SAFETY: a neighbour in the list is listed, so it is alive.
        if let Some(older) = unsafe { older.as_ref() } {
            older.newer.set(newer);
        }
        self.count_hosts(self.hosts.get() - 1);
    }

    fn count_hosts(&self, hosts: usize) {
        self.hosts.set(hosts);
        // Relaxed: a hint for placement.
        self.remote.hosts.store(hosts, Ordering::Relaxed);
    }
}

/// A slab without memory, whose blocks lead to the worker of `remote`.
pub(crate) fn new_slab(remote: Arc<WorkerShared>) -> Slab {
    let slabs = Arc::as_ptr(&remote);
    let slab = Slab::new(Arc::into_raw(remote).cast(), remote_is_free);
    // SAFETY: the slab has a count of it.
    unsafe { &*slabs }.note_slab(&slab);
    slab
}

/// Drops the slab's reference count of the worker's shared state; called when the last block of the slab has
/// come back.
///
/// # Safety
/// `remote` is the count that `new_slab` gave to the slab.
unsafe fn remote_is_free(remote: *const ()) {
    // SAFETY: the count is owned by this call (contract).
    unsafe { Arc::decrement_strong_count(remote.cast::<WorkerShared>()) };
}

/// Allocates memory for a thread's object, from the calling worker's free list if there is a worker.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn take_block(layout: Layout) -> NonNull<u8> {
    match Worker::current() {
        Some(worker) => worker.blocks.take(layout),
        None => blocks::take_from_system(layout),
    }
}

/// Frees a block.
///
/// # Safety
/// It came from [`take_block`] with this layout, on any kernel thread, and is not used any more.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn give_block(block: NonNull<u8>, layout: Layout) {
    // SAFETY: from `take_block` with this layout, and unused from now on (contract).
    unsafe {
        match Worker::current() {
            Some(worker) => worker.blocks.give(block, layout),
            None => blocks::give_to_system(block, layout),
        }
    }
}
