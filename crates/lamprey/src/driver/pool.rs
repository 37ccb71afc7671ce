//! The pool of kernel threads for blocking calls.
//!
//! A call is a record on the stack of the host that makes it. The host submits the record under the lock and
//! blocks until a pool thread has run it, so the closure may borrow from that stack. A cancelled host can
//! only withdraw a call that no thread has taken.
//!
//! Invariants (all under `state`)
//! * A [`PoolCall`] in `queue` or held by a pool thread belongs to exactly one blocked host, which is woken
//!   exactly once; the wake is the last access to the call.
//! * `idle` holds the pool threads that sleep, the latest last. The thread that removes one from it unparks
//!   it. The latest is taken first, so that under a light load the others stay asleep until they end.
//! * A call is queued only while there is a thread (`threads != 0`), and threads look at the queue before
//!   they sleep or end. A call that finds an idle thread unparks it; one that finds none starts a thread, or,
//!   if the pool is full, waits for a busy one. So no call is left behind.
//!
//! Nested calls cannot deadlock: [`block`] on a pool thread runs its closure in place.
//!
//! The calls of futures are on the heap instead ([`block_async`]), because a future may be dropped at any
//! time.
//!
//! # Checked by
//! `model::pool` (loom, with broken variants that it catches); `tests/io/pool.rs`, and `pool::tests`.

mod future;

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::sched::affinity::unpinned;
#[cfg(not(loom))]
use crate::sched::source::Source;
use crate::sched::wait::{self, Waited};
use crate::sched::{self, Wait, Waiter};

use crate::sync_shim::{
    Cell, Condvar, Mutex, MutexGuard, Parker, UnsafeCell, has_passed, left_out, start_thread, thread_local,
};
use crate::time;
#[cfg(not(loom))]
use crate::world::{self, World, buggify};

use future::Run;
pub use future::block_async;
#[cfg(not(loom))]
pub(crate) use future::start;

/// The default for the largest number of pool threads of a runtime.
#[cfg(not(loom))]
pub(crate) const MOST_THREADS: usize = 64;

/// How long an idle pool thread waits for a call before it ends.
const KEEP: Duration = Duration::from_secs(10);

/// How long a call takes in a simulation, from its submission on.
#[cfg(not(loom))]
const CALL: std::ops::Range<Duration> = Duration::from_micros(20)..Duration::from_millis(2);

thread_local! {
    /// The pool of the runtime to whose worker this kernel thread belongs.
    static CURRENT: RefCell<Option<Arc<PoolShared>>> = const { RefCell::new(None) };
    /// The address of the pool to which this pool thread belongs; null on other threads.
    static MEMBER_OF: Cell<*const PoolShared> = const { Cell::new(std::ptr::null()) };
}

/// Runs `f`, which may block its kernel thread, on the runtime's pool; the worker runs other hosts in the
/// meantime.
///
/// The closure may borrow: once it has begun, the caller waits for its end, and a cancellation does not
/// interrupt the wait. It need not be `'static`, only [`Send`]. Use it for calls that have no other form:
/// files, name lookups, libraries that block, or long computations.
///
/// # Examples
/// ```
/// let text = lamprey::run(|| lamprey::block(|| std::fs::read_to_string("Cargo.toml")))?;
/// assert!(text.contains("lamprey"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Panics
/// With the closure's own payload, when it panics.
///
/// # Cancellation
/// The commit point is the moment when a pool thread takes the call. A host that is cancelled before that
/// unwinds from here at once, and the closure is dropped unrun. After it, the host waits for the call and
/// returns its value; it unwinds at its next blocking call.
///
/// # Blocking
/// On a host: the host waits, its worker does not. The pool has a maximum of threads (set by the runtime's
/// builder); calls beyond it queue. On a plain OS thread, within another `block`, and on a host that is
/// unwinding, `f` runs at once on the calling kernel thread; also when no pool thread can be started.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "block_in_place")]
#[doc(alias = "unblock")]
#[cfg(not(loom))]
pub fn block<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    if !sched::on_host() || sched::must_not_block() {
        return f();
    }
    match current() {
        Some(pool) => pool.run(f),
        None => f(),
    }
}

/// Exchanges the pool of the calling kernel thread and `kept`.
#[cfg(not(loom))]
pub(super) fn exchange(kept: &mut Option<Arc<PoolShared>>) {
    CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), kept));
}

/// The pool of the calling worker's runtime; `None` on other threads.
pub(crate) fn current() -> Option<Arc<PoolShared>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// True on a thread of any pool, that is, within [`block`].
pub(crate) fn on_pool_thread() -> bool {
    !member_of().is_null()
}

fn member_of() -> *const PoolShared {
    MEMBER_OF.with(Cell::get)
}

/// The pool of one runtime. Its threads end when it is dropped.
#[derive(Debug)]
pub(crate) struct Pool(Arc<PoolShared>);

impl Pool {
    /// A pool of at most `max` threads (at least one); they are started on demand.
    pub(crate) fn new(max: usize) -> Self {
        Self::with_keep(max, KEEP)
    }

    pub(crate) fn with_keep(max: usize, keep: Duration) -> Self {
        let state = PoolState { queue: VecDeque::new(), idle: Vec::new(), threads: 0, closing: false };
        Self(Arc::new(PoolShared {
            max: max.max(1),
            keep,
            #[cfg(not(loom))]
            simulated: false,
            state: Mutex::new(state),
            last_gone: Condvar::new(),
        }))
    }

    /// A pool without threads, for a simulation: each call runs between two steps of the program, some time after it has
    /// been made.
    #[cfg(not(loom))]
    pub(crate) fn simulated() -> Self {
        let mut pool = Self::with_keep(1, KEEP);
        Arc::get_mut(&mut pool.0).expect("just made").simulated = true;
        pool
    }

    /// Makes this the pool of [`block`] for the hosts of the calling kernel thread.
    pub(crate) fn install(&self) {
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(&self.0)));
    }

    /// The pool as a source of the calling kernel thread's worker.
    #[cfg(not(loom))]
    pub(crate) fn share(&self) -> Share {
        self.install();
        Share
    }

    #[cfg(loom)]
    pub(crate) fn shared(&self) -> Arc<PoolShared> {
        self.0.clone()
    }
}

/// A worker's share of the pool: a source that is never polled, as pool threads wake their callers themselves.
#[cfg(not(loom))]
pub(crate) struct Share;

#[cfg(not(loom))]
impl Source for Share {
    fn poll(&mut self) {}

    fn active(&self) -> bool {
        false
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closing = true;
        if left_out!(PoolClose) {
            state.idle.clear();
        }
        for thread in state.idle.drain(..) {
            thread.unpark();
        }
        // A pool thread that drops the last handle of its own runtime must not wait for itself.
        if member_of() == Arc::as_ptr(&self.0) {
            return;
        }
        while state.threads != 0 {
            state = self.0.last_gone.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The state that the threads of a pool and its callers share.
#[derive(Debug)]
pub(crate) struct PoolShared {
    max: usize,
    keep: Duration,
    state: Mutex<PoolState>,
    last_gone: Condvar,
    #[cfg(not(loom))]
    simulated: bool,
}

#[derive(Debug)]
struct PoolState {
    queue: VecDeque<PoolCall>,
    idle: Vec<Parker>,
    threads: usize,
    closing: bool,
}

/// A call that a pool thread runs once.
enum PoolCall {
    /// A [`Record`] of any type. Its host is blocked until it is woken, or has withdrawn the call.
    OfHost {
        record: NonNull<()>,
        run: unsafe fn(NonNull<()>),
    },
    OfFuture(Arc<dyn Run>),
}

// SAFETY: a host's call is run once, by one thread, while the host that owns the record is blocked; closure
// and result are `Send` by the bounds of `block`. A future's call is `Send` by the bound of `Run`.
unsafe impl Send for PoolCall {}

impl PoolCall {
    fn run(self) {
        match self {
            // SAFETY: the call was taken out of the queue once, by the caller; its host is blocked until `run` wakes it.
            Self::OfHost { record, run } => unsafe { run(record) },
            Self::OfFuture(call) => call.run(),
        }
    }
}

impl fmt::Debug for PoolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolCall")
    }
}

/// A call on the stack of the host that waits for it.
struct Record<F, T> {
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<T, Box<dyn Any + Send>>>>,
    /// Set before the call is queued.
    waiter: Cell<Option<Waiter>>,
}

/// # Safety
/// `record` is a `Record<F, T>` whose host is blocked until woken; called once for it.
unsafe fn perform<F: FnOnce() -> T, T>(record: NonNull<()>) {
    // SAFETY: of this type and alive (contract). Only shared references are made; the cells are this thread's
    // until the wake.
    let record = unsafe { record.cast::<Record<F, T>>().as_ref() };
    // SAFETY: the owner is blocked until the wake, so no other thread accesses the cell.
    let closure = record.closure.with_mut(|closure| unsafe { (*closure).take() });
    let result = closure.map(|closure| catch_unwind(AssertUnwindSafe(closure)));
    // SAFETY: the owner is blocked until the wake, so no other thread accesses the cell.
    record.result.with_mut(|place| unsafe { *place = result });
    let Some(waiter) = record.waiter.get() else { crate::bug::bug!("a blocking call without a caller") };
    // SAFETY: this call was taken out of the queue once, so this is the only wake of its host. The record is
    // not touched again.
    unsafe { waiter.wake() };
}

impl PoolShared {
    pub(crate) fn run<F: FnOnce() -> T + Send, T: Send>(self: Arc<Self>, closure: F) -> T {
        let record = Record {
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            waiter: Cell::new(None),
        };
        let owner = NonNull::from(&record).cast();
        let enter = |me| {
            record.waiter.set(Some(me));
            self.submit(PoolCall::OfHost { record: owner, run: perform::<F, T> })
        };
        match wait::wait(Wait::Blocking, None, enter, |_| self.withdraw(owner)) {
            Waited::Left(_) => sched::unwind_cancelled(),
            Waited::Done | Waited::Refused => {
                if let Some(closure) = record.closure.into_inner() {
                    return closure();
                }
            }
            // A host that was cancelled after a thread had taken the call sees the cancellation at its next
            // blocking call.
            Waited::Woken | Waited::Late(_) => {}
        }
        match record.result.into_inner() {
            Some(Ok(value)) => value,
            Some(Err(payload)) => resume_unwind(payload),
            None => crate::bug::bug!("a blocking call was woken without having run"),
        }
    }

    /// The most threads that it may have.
    #[cfg(not(loom))]
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// A cancelled host withdraws its call. False if a pool thread has taken it: the host then waits for it,
    /// because the call may borrow.
    fn withdraw(&self, owner: NonNull<()>) -> bool {
        let is_owners = |call: &PoolCall| matches!(call, PoolCall::OfHost { record, .. } if *record == owner);
        let mut state = self.lock();
        let place = state.queue.iter().position(is_owners);
        place.and_then(|place| state.queue.remove(place)).is_some()
    }

    /// Queues `call` and wakes or starts a thread for it. False if there is no thread and none can be
    /// started; the call is then not queued.
    fn submit(self: &Arc<Self>, call: PoolCall) -> bool {
        #[cfg(not(loom))]
        if self.simulated {
            return self.submit_simulated(call);
        }
        let mut state = self.lock();
        if let Some(thread) = state.idle.pop() {
            state.queue.push_back(call);
            drop(state);
            thread.unpark();
            return true;
        }
        // Started under the lock: only growth pays for it, and the count is always exact.
        if state.threads < self.max && self.start() {
            state.threads += 1;
        }
        if state.threads == 0 {
            return false;
        }
        state.queue.push_back(call);
        true
    }

    /// A call in a simulation. False, as if no thread could be had, outside of it.
    #[cfg(not(loom))]
    fn submit_simulated(self: &Arc<Self>, call: PoolCall) -> bool {
        if buggify!("no kernel thread can be started for a call that blocks") {
            return false;
        }
        let pool = self.clone();
        let submitted = world::with(|world| {
            self.lock().queue.push_back(call);
            let takes = world.chance.between(CALL.start, CALL.end);
            world.after(takes, move |world| pool.run_one(world));
        });
        submitted.is_some()
    }

    /// Runs one of the calls that wait, as one of several threads might.
    #[cfg(not(loom))]
    fn run_one(&self, world: &World) {
        let mut state = self.lock();
        let at = world.chance.below(state.queue.len() as u32) as usize;
        // None: it has been withdrawn.
        let call = state.queue.remove(at);
        drop(state);
        if let Some(call) = call {
            crate::sched::os::as_another(|| call.run());
        }
    }

    fn start(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        start_thread("lamprey-pool", unpinned(move || shared.serve()))
    }

    /// The main loop of a pool thread.
    fn serve(self: Arc<Self>) {
        MEMBER_OF.with(|member_of| member_of.set(Arc::as_ptr(&self)));
        let mut state = self.lock();
        loop {
            while let Some(call) = state.queue.pop_front() {
                drop(state);
                call.run();
                state = self.lock();
                if left_out!(PoolQueue) {
                    break;
                }
            }
            if state.closing {
                break;
            }
            let (guard, called) = self.rest(state);
            state = guard;
            if !called && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        if state.threads == 0 {
            self.last_gone.notify_all();
        }
    }

    /// Sleeps as an idle thread. False when no call has come for as long as idle threads are kept.
    fn rest<'a>(&'a self, mut state: MutexGuard<'a, PoolState>) -> (MutexGuard<'a, PoolState>, bool) {
        let me = Parker::of_current();
        let deadline = time::deadline(self.keep);
        state.idle.push(me.clone());
        loop {
            drop(state);
            match deadline {
                Some(at) => me.park_timeout(at.saturating_duration_since(Instant::now())),
                None => me.park(),
            }
            state = self.lock();
            let Some(place) = state.idle.iter().position(|other| other.is(&me)) else {
                return (state, true);
            };
            if deadline.is_some_and(has_passed) {
                state.idle.remove(place);
                return (state, false);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
