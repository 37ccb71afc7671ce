//! A virtual worker: a [`Worker`] without a kernel thread of its own. Several of them, of one or more runtimes, share a
//! kernel thread, on which a simulation runs one thread of one worker at a time, up to its next scheduling point.
//!
//! The worker is the real one, and so are its queues, its inbox and its timers. What differs is who runs its root: the
//! simulation calls the steps of the scheduler loop one by one ([`root`](super::root)).
//!
//! # Invariants
//! 1. Between two steps each thread of a virtual worker is suspended and its root is not: the root is the code that
//!    calls the step. So another worker can take the kernel thread over between two steps.
//! 2. What is one per kernel thread and belongs to a worker (its place in `Worker::current`, its timers, and what
//!    [`Locals`] has) is that of the worker that [`enter`](VirtualWorker::enter)ed last.
//! 3. The budget of scheduling points is 1: a step runs one thread, and those that run on its stack.
//! 4. The worker counts as asleep between two steps, so that each message for it calls its notifier.

use super::here::here;
use super::runtime::{Config, make_worker};
use super::shared::Shared;
use super::thread::{Thread, ThreadState};
use super::timers::{self, Timers};
use super::worker::{InPage, Worker};
use super::worker_shared::WorkerShared;
use crate::sync_shim::Ordering;
use crate::world::{self, ENDS, WAITS, YIELDS};
use std::cell::{Cell, RefCell};
use std::io;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

/// What else is one per kernel thread and belongs to a worker.
pub(crate) trait Locals {
    /// Exchanges what the kernel thread has and what is kept here.
    fn exchange(&mut self);
}

/// Bytes of stack that it takes to find out which calls a thread is in.
const PLACE_ROOM: usize = 16 << 10;
/// More than what stacks of one size differ by.
const PAGE: usize = 4 << 10;
/// Turns of parasites in a row.
const MOST_TURNS: u32 = 64;

/// A worker that shares its kernel thread with others.
pub(crate) struct VirtualWorker {
    /// `None` after its end.
    place: RefCell<Option<Box<InPage>>>,
    worker: Cell<*const Worker>,
    wheel: Cell<*const Timers>,
    locals: RefCell<Box<dyn Locals>>,
}

impl Shared {
    /// A runtime whose workers are virtual ones of the calling kernel thread.
    ///
    /// # Errors
    /// The system's, if it refuses memory or descriptors.
    pub(crate) fn start_virtual(
        config: &Config,
        locals: fn() -> Box<dyn Locals>,
    ) -> io::Result<(Arc<Shared>, Vec<VirtualWorker>)> {
        let shared = Self::without_workers(config);
        shared.ticker.end();
        let mut workers = Vec::new();
        for remote in shared.remotes() {
            match VirtualWorker::start(&shared, config, remote.clone(), locals) {
                Ok(worker) => workers.push(worker),
                Err(error) => {
                    // Relaxed: the workers are this kernel thread's.
                    shared.stopping.store(true, Ordering::Relaxed);
                    workers.iter().for_each(VirtualWorker::end_unused);
                    return Err(error);
                }
            }
        }
        Ok((shared, workers))
    }
}

impl VirtualWorker {
    fn start(
        shared: &Arc<Shared>,
        config: &Config,
        remote: Arc<WorkerShared>,
        locals: fn() -> Box<dyn Locals>,
    ) -> io::Result<Self> {
        let place = make_worker(shared, config, remote)?;
        let (worker, wheel) = (Cell::new(&raw const place.worker), Cell::new(ptr::null()));
        place.worker.rounds.window.set(1);
        place.worker.install();
        place.worker.remote.parking.prepare();
        let this = Self { place: RefCell::new(Some(place)), worker, wheel, locals: RefCell::new(locals()) };
        this.leave();
        Ok(this)
    }

    /// Ends it before it has had a thread, because the runtime cannot start.
    fn end_unused(&self) {
        self.enter();
        // It learns that the runtime stops.
        self.receive();
        if !self.end() {
            crate::bug::bug!("a worker without threads does not end");
        }
    }

    /// The worker; `None` after its end.
    fn worker(&self) -> Option<&Worker> {
        // SAFETY: null, or in the box in `place`, which is freed only by `end`, after the pointer has been set to null. Who
        // calls `end` has no reference: it is called between two steps.
        unsafe { self.worker.get().as_ref() }
    }

    /// Gives the kernel thread to this worker.
    pub(crate) fn enter(&self) {
        if let Some(worker) = self.worker() {
            worker.reinstall();
            self.exchange();
        }
    }

    /// Takes the kernel thread from this worker.
    pub(crate) fn leave(&self) {
        if let Some(worker) = self.worker() {
            self.exchange();
            worker.uninstall();
        }
    }

    fn exchange(&self) {
        self.wheel.set(timers::exchange(self.wheel.get()));
        self.locals.borrow_mut().exchange();
    }

    /// Takes what others have sent. The worker has been entered.
    pub(crate) fn receive(&self) {
        if let Some(worker) = self.worker() {
            worker.remote.parking.finish();
            worker.attend();
            worker.remote.parking.prepare();
            self.run_parasites();
        }
    }

    /// Runs the parasites that are ready ahead of the hosts. Not without end, because they may wait for other workers.
    fn run_parasites(&self) {
        let Some(worker) = self.worker() else { return };
        for _ in 0..MOST_TURNS {
            if !self.has_parasites() || !worker.go_on() {
                return;
            }
        }
    }

    /// True if parasites are ready to run ahead of the hosts.
    pub(crate) fn has_parasites(&self) -> bool {
        self.worker().is_some_and(|worker| worker.parasites.ready.pending.get() != 0)
    }

    /// Runs the thread that the policy picks, up to its next scheduling point; then the parasites that it has unblocked. The
    /// worker has been entered.
    pub(crate) fn run(&self) {
        let Some(worker) = self.worker() else { return };
        worker.go_on();
        self.run_parasites();
        if !worker.is_refused_none() {
            self.receive();
        }
    }

    /// Has the threads woken whose events have happened. The worker has been entered.
    pub(crate) fn poll(&self) {
        if let Some(worker) = self.worker() {
            // SAFETY: only the root, which is the caller, reaches the sources, one call at a time.
            unsafe { &mut *worker.sources.get() }.poll();
            self.run_parasites();
        }
    }

    /// When its timers or its sources have something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        // SAFETY: only the root, which is the caller, reaches the sources, one call at a time.
        self.worker().and_then(|worker| unsafe { &*worker.sources.get() }.deadline())
    }

    /// True if it has ended, or does so now, because its runtime stops and no thread is left. The worker has been entered;
    /// if it has ended, it is left.
    pub(crate) fn end(&self) -> bool {
        let Some(worker) = self.worker() else { return true };
        // What is ready is run before, as the scheduler loop does: a parasite that was cancelled is no host.
        let is_over = worker.has_finished() && !worker.has_ready();
        if is_over {
            worker.leave();
            let place = self.place.take();
            self.worker.set(ptr::null());
            crate::bug::no_unwind("the destructor of a policy", move || drop(place));
            // What the destructors have left.
            self.exchange();
        }
        is_over
    }

    /// Leaves the worker's memory to its threads, which have not ended.
    pub(crate) fn forget(&self) {
        std::mem::forget(self.place.take());
        self.worker.set(ptr::null());
    }

    /// Its started threads that have not ended, newest first.
    pub(crate) fn threads(&self, mut see: impl FnMut(&Thread)) {
        let Some(worker) = self.worker() else { return };
        let mut next = worker.newest.get();
        // SAFETY: listed threads are alive until they end, which none does during this loop.
        while let Some(thread) = unsafe { next.as_ref() } {
            see(thread);
            next = thread.older.get();
        }
    }
}

/// True if the calling thread is one of the program's, on a stack with room for finding out where it is.
pub(crate) fn caller_has_place() -> bool {
    Worker::current()
        .is_some_and(|worker| !ptr::eq(worker.running_ref(), &raw const worker.root) && has_place())
}

/// True if the running stack has room for finding out where its thread is: a generator's, if the thread is in one.
///
/// Neither where stacks lie nor by how much their tops are shifted makes a difference: two runs by one seed agree.
fn has_place() -> bool {
    let here = here();
    let Some((limit, top)) = swapstack::overflow::bounds_around(here) else { return true };
    ((top - limit) & !(PAGE - 1)).saturating_sub(top - here) >= PLACE_ROOM
}

impl Worker {
    /// Tells the simulation's log why and where the running thread stops. Called on its stack, in the middle of its block;
    /// of a thread that has ended, the root is the running one.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_stop(&self, me: &Thread) {
        if ptr::eq(me, &raw const self.root) {
            world::with(|world| world.stops(format_args!("{ENDS}"), false));
            return;
        }
        let why = match me.state.get() {
            ThreadState::Blocked | ThreadState::Committed => Some(me.reason.get()),
            ThreadState::Runnable => None,
            _ => return,
        };
        let has_place = has_place();
        world::with(|world| match why {
            Some(reason) => world.stops(format_args!("{WAITS}{reason}"), has_place),
            None => world.stops(format_args!("{YIELDS}"), has_place),
        });
    }

    fn is_refused_none(&self) -> bool {
        // SAFETY: only this kernel thread reaches the list; the reference ends here.
        unsafe { &*self.refused.get() }.is_empty()
    }
}

impl Drop for VirtualWorker {
    fn drop(&mut self) {
        debug_assert!(
            self.worker.get().is_null() || std::thread::panicking(),
            "a virtual worker was not ended"
        );
    }
}
