//! The one shape of a blocked thread. How blocking calls are written with it: [`wait`](super::wait).
//!
//! # States
//! See [`State`](super::thread::State): Runnable, Blocked, Committed.
//!
//! # Invariants
//! 1. **A wake is a right.** A thread that is about to block puts a node with its [`Waiter`] into some queue.
//!    Whoever takes the node out, under that queue's lock or by the CAS that stands for it, owes exactly one
//!    [`Waiter::wake`]; nobody else may wake.
//! 2. **An interrupt is local.** Timeouts and cancellation happen on the thread's home worker and only make
//!    it runnable with another [`Woke`]; they touch no queue. The thread itself goes back to the queue and
//!    takes its node out. If the node is gone, the wake is under way, and is awaited ([`await_wake`]) before
//!    anything else happens.
//! 3. A started host runs only on its home worker, so nothing can resume it before it has been switched away
//!    from: there is no moment between "enqueued" and "context saved" that another kernel thread could see.
//!
//! # Who may touch what
//! The home worker touches the thread's cells; another kernel thread that holds the right to wake touches
//! only the link (by pushing the thread into the home worker's inbox).
//!
//! # Orderings
//! None here: a wake on the same worker is a plain call; another goes through the inbox (Release/Acquire) or
//! through [`os`](super::os).
//!
//! # Rejected
//! * An atomic state word in each thread (wake = CAS): 5 ns more for each message, and needed only because
//!   timers and cancellation would touch the thread from elsewhere.
//! * A post-switch step that publishes the node once the context is saved: not needed while hosts do not move
//!   (invariant 3), and one more word through every switch.
//!
//! # Checked by
//! `model::host_waits` (loom, hosts), `model::channel` and all others that block (loom, OS threads),
//! `tests/stress/mixed.rs`, `tests/channel/rendezvous.rs` (named by the moment).

use super::os;
use super::parasite::task::{Form, Task};
use super::reason::Wait;
use super::thread::{Kind, Thread};
use super::worker::Worker;
use crate::queue::inbox::Linked;
use crate::sync_shim::Cell;
use std::ptr::NonNull;
use std::task::{Context, Waker};

/// Names who is to be woken: a host of any runtime, an OS thread, a stackless parasite, or whoever is behind
/// a foreign [`Waker`](std::task::Waker). One word; the low bits say which.
///
/// Of a thread: valid while it is inside the blocking call that made it. Of a parasite: while its node is
/// queued, or has been taken out and not yet released; or as long as a reference is held
/// ([`keep`](Self::keep)). Of a waker: owned by whoever has the word last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiter(NonNull<()>);

// SAFETY: another kernel thread may only wake, whose contract covers the access.
unsafe impl Send for Waiter {}
// SAFETY: as above.
unsafe impl Sync for Waiter {}

// SAFETY: the word is a tagged pointer to a large object: never null nor 1. An inbox links threads and tasks
// only, and the tables in `super::thread` and `super::parasite::task` give the link to it while they are in
// one.
unsafe impl Linked for Waiter {
    fn into_raw(self) -> *mut () {
        self.0.as_ptr()
    }
    fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw)
    }
    /// # Safety
    /// As [`Linked::link`] says.
    unsafe fn link<'a>(self) -> &'a Cell<*mut ()> {
        match self.who() {
            // SAFETY: alive (contract).
            Who::Thread(thread) => &unsafe { thread.as_ref() }.link,
            // SAFETY: as above.
            Who::Task(task) => &unsafe { task.as_ref() }.link,
            // SAFETY: as above.
            Who::Errand(errand) => &unsafe { errand.as_ref() }.link,
            Who::Foreign(_) => crate::bug::bug!("a foreign waker was put into an inbox"),
        }
    }
}

/// What a [`Waiter`] points at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    Thread(NonNull<Thread>),
    Task(NonNull<Task>),
    Foreign(NonNull<Waker>),
    /// Only in inboxes: something to be done by the worker.
    Errand(NonNull<Errand>),
}

/// What a worker is asked to do through its inbox: the head of a larger object.
pub(crate) struct Errand {
    pub(crate) link: Cell<*mut ()>,
    /// Called on the worker's root, or with `None` where the worker has ended; neither blocks nor unwinds.
    pub(crate) run: unsafe fn(NonNull<Errand>, Option<&Worker>),
}

const TASK: usize = 1;
const FOREIGN: usize = 2;
const ERRAND: usize = 3;
/// The low bits of a [`Waiter`].
const TAGS: usize = 3;

/// Why a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Woke {
    /// The one wake has come.
    Woken,
    /// The deadline passed; the node may still be queued.
    TimedOut,
    /// The host is to end; the node may still be queued.
    Cancelled,
}

/// The worker whose threads block by switching: the calling kernel thread's. (Not all that the checker calls
/// workers have hosts.)
#[cfg_attr(not(debug_assertions), inline(always))]
fn worker() -> Option<&'static Worker> {
    #[cfg(not(loom))]
    return Worker::current();
    #[cfg(loom)]
    return Worker::current().filter(|worker| worker.has_hosts());
}

/// The calling thread, which is about to queue a node and to block: a scheduling point. Parasites that it has
/// woken run first, here, on its stack; so no lock may be held.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn waiter() -> Waiter {
    if let Some(worker) = worker() {
        worker.attach_woken();
        return Waiter::thread(worker.running());
    }
    os_waiter()
}

/// The calling kernel thread as a waiter, whatever runs on it.
pub(crate) fn os_waiter() -> Waiter {
    Waiter::thread(os::about_to_wait())
}

/// Whoever runs on the calling kernel thread: a thread of a worker, its root, or the OS thread itself.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn current() -> NonNull<Thread> {
    if let Some(worker) = worker() {
        return worker.running();
    }
    os::current()
}

/// True on a host, false on a plain OS thread.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn on_host() -> bool {
    worker().is_some()
}

/// Blocks the calling thread until its wake, or its cancellation: for [`wait`](super::wait) alone.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn block(reason: Wait) -> Woke {
    if let Some(worker) = worker() {
        return worker.block(reason);
    }
    os::block(None)
}

/// Blocks until a wake that is certainly under way. Not interruptible.
#[cold]
pub(crate) fn block_until_woken(reason: Wait) {
    // SAFETY: the caller's own descriptor, alive while it runs.
    unsafe { current().as_ref() }.must_be_closed();
    await_wake(reason);
}

/// As [`block_until_woken`], also of a wait that is open.
pub(super) fn await_wake(reason: Wait) {
    if let Some(worker) = worker() {
        return worker.block_committed(reason);
    }
    os::block_committed();
}

/// True if the calling thread's blocking calls are to end, and it is not unwinding yet.
pub(crate) fn is_cancelled() -> bool {
    // SAFETY: the caller's own descriptor.
    !std::thread::panicking() && super::cancel::is_cancelled(unsafe { current().as_ref() })
}

/// True on the only worker of a runtime: nobody of that runtime runs at the same time.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_alone() -> bool {
    #[cfg(not(loom))]
    return Worker::current().is_some_and(|worker| !worker.is_parallel());
    #[cfg(loom)]
    return false;
}

/// A future is about to do something for the first time: true if it is a parasite that lets the hosts go
/// first, and is polled again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn gives_way(cx: &Context<'_>) -> bool {
    let gives_way = Task::of(cx).is_some() && Worker::current().is_some_and(|worker| !worker.spend());
    if gives_way {
        cx.waker().wake_by_ref();
    }
    gives_way
}

/// True while the calling thread unwinds: a call that would have to block must fail at once instead, because
/// a stack switch in the middle of an unwind would mix up the panic counts of two hosts.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn must_not_block() -> bool {
    std::thread::panicking() && on_host()
}

impl Waiter {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn thread(thread: NonNull<Thread>) -> Self {
        Self(thread.cast())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn task(task: NonNull<Task>) -> Self {
        Self(task.cast::<()>().map_addr(|addr| addr | TASK))
    }

    pub(crate) fn errand(errand: NonNull<Errand>) -> Self {
        Self(errand.cast::<()>().map_addr(|addr| addr | ERRAND))
    }

    /// Whoever a future is to wake that waits with a node of its own, at `node`. Of a parasite no reference
    /// is taken: that the node is gone before it is certain only if the node is a part of it. All other
    /// wakers are cloned and boxed. A parasite is noted to wait for `reason`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_node(cx: &Context<'_>, node: usize, reason: Wait) -> Self {
        match Task::of(cx) {
            // SAFETY: alive: the waker of `cx` is. (Not always what runs here: `cx` may be made of a clone of
            // the waker.)
            Some(task) if unsafe { Task::contains(task, node) } => {
                // SAFETY: as above.
                unsafe { task.as_ref() }.life.note_reason(reason);
                Self::task(task)
            }
            _ => Self::foreign(cx),
        }
    }

    /// Gives up what [`of_node`](Self::of_node) took: a foreign waker. (Of a parasite it took nothing.)
    ///
    /// # Safety
    /// From `of_node`; it is in no node any more, or never was, and is used no more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn forget_of_node(self) {
        if self.is_foreign() {
            // SAFETY: as promised by the caller.
            unsafe { self.forget() };
        }
    }

    /// Whoever a future is to wake. Of a parasite no reference is taken (see [`keep`](Self::keep)); a foreign
    /// waker is cloned and boxed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(cx: &Context<'_>) -> Self {
        match Task::of(cx) {
            Some(task) => Self::task(task),
            None => Self::foreign(cx),
        }
    }

    #[cold]
    fn foreign(cx: &Context<'_>) -> Self {
        let boxed = NonNull::from(Box::leak(Box::new(cx.waker().clone())));
        Self(boxed.cast::<()>().map_addr(|addr| addr | FOREIGN))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn who(self) -> Who {
        let bare = self.0.as_ptr().map_addr(|addr| addr & !TAGS);
        // SAFETY: a pointer to an object, without its tag: not null.
        let bare = unsafe { NonNull::new_unchecked(bare) };
        match self.0.addr().get() & TAGS {
            TASK => Who::Task(bare.cast()),
            FOREIGN => Who::Foreign(bare.cast()),
            ERRAND => Who::Errand(bare.cast()),
            _ => Who::Thread(bare.cast()),
        }
    }

    /// Makes the thread runnable, or has the parasite run, or calls the waker.
    ///
    /// # Safety
    /// The caller removed a node with this waiter from its queue and has not woken it yet (invariant 1). What
    /// the thread is to find after its block has been written before. A parasite is alive (see the type).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake(self) {
        // SAFETY: as promised by the caller.
        unsafe { self.run(Form::Soon) }
    }

    /// As [`wake`](Self::wake), in a form of choice.
    ///
    /// # Safety
    /// As for `wake`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(self, form: Form) {
        match self.who() {
            // SAFETY: as promised by the caller.
            Who::Thread(thread) => unsafe { wake_thread(thread, form) },
            // SAFETY: as above.
            Who::Task(task) => unsafe { Task::wake(task, form) },
            // SAFETY: the box is ours with the waiter (contract).
            Who::Foreign(waker) => wake_boxed(unsafe { Box::from_raw(waker.as_ptr()) }, form),
            Who::Errand(_) => crate::bug::bug!("an errand was woken"),
        }
    }

    /// For a word that outlasts the node: takes a reference to a parasite. To be followed by
    /// [`wake_kept`](Self::wake_kept) or [`forget`](Self::forget).
    pub(crate) fn keep(self) -> Self {
        if let Who::Task(task) = self.who() {
            // SAFETY: alive: called in a poll with its waker.
            unsafe { task.as_ref() }.life.retain();
        }
        self
    }

    /// [`wake`](Self::wake), and gives up what [`keep`](Self::keep) took.
    ///
    /// # Safety
    /// As for `wake`; the caller took the word out of its place.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wake_kept(self) {
        // SAFETY: as promised by the caller; the reference keeps the task alive until it is released.
        unsafe {
            self.run(Form::Soon);
            if let Who::Task(task) = self.who() {
                Task::release(task);
            }
        }
    }

    /// As [`wake_kept`](Self::wake_kept), in a form of choice. Out of line: those in a hurry have looked for
    /// threads and tasks before.
    ///
    /// # Safety
    /// As for `wake_kept`.
    #[inline(never)]
    pub(crate) unsafe fn run_kept(self, form: Form) {
        // SAFETY: as promised by the caller; the reference keeps the task alive until it is released.
        unsafe {
            self.run(form);
            if let Some(task) = self.as_task() {
                Task::release(task);
            }
        }
    }

    /// Gives up what [`keep`](Self::keep) took, and a foreign waker. Nothing for a thread.
    ///
    /// # Safety
    /// The caller took the word out of its place.
    pub(crate) unsafe fn forget(self) {
        match self.who() {
            Who::Thread(_) | Who::Errand(_) => {}
            // SAFETY: the reference is ours.
            Who::Task(task) => unsafe { Task::release(task) },
            Who::Foreign(waker) => {
                // SAFETY: the box is ours.
                let waker = unsafe { Box::from_raw(waker.as_ptr()) };
                crate::bug::no_unwind("a waker", || call_out(|| drop(waker)));
            }
        }
    }

    /// The thread that this names, if it does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_thread(self) -> Option<NonNull<Thread>> {
        (self.0.addr().get() & TAGS == 0).then_some(self.0.cast())
    }

    /// The task that this names, if it does; for words that are no errands. (One bit is looked at: four cases
    /// of two bits become a table of jumps, which is dearer than the rest of a wake.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn as_task(self) -> Option<NonNull<Task>> {
        (self.0.addr().get() & TASK != 0).then(|| {
            // SAFETY: a pointer to a task, without its tag: not null.
            unsafe { NonNull::new_unchecked(self.0.as_ptr().map_addr(|addr| addr & !TAGS)) }.cast()
        })
    }

    /// True if a waker is owned by this word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_foreign(self) -> bool {
        self.0.addr().get() & TAGS == FOREIGN
    }

    /// True if a task that is polled in `cx` waits with this word.
    pub(crate) fn is_of(self, cx: &Context<'_>) -> bool {
        match self.who() {
            Who::Thread(_) => false,
            Who::Task(task) => Task::of(cx) == Some(task),
            // Not to be looked at: whoever takes the node out may be dropping it.
            Who::Foreign(_) | Who::Errand(_) => false,
        }
    }
}

/// Calls a waker, or brings the parasite behind it to run.
#[cold]
fn wake_boxed(waker: Box<Waker>, form: Form) {
    crate::bug::no_unwind("a waker", || match Task::of_waker(&waker) {
        // SAFETY: the waker holds a reference.
        Some(task) => unsafe { Task::wake(task, form) },
        None => call_out(|| waker.wake()),
    });
}

/// Calls a waker's functions: others may be owed wakes, so these must not switch.
fn call_out(code: impl FnOnce()) {
    super::guard::no_switch("a waker", code);
}

/// Ends the block of a thread.
///
/// # Safety
/// As for [`Waiter::wake`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn wake_thread(thread: NonNull<Thread>, form: Form) {
    // SAFETY: the thread is inside its blocking call until this wake (invariant 1); `kind` is constant.
    let kind = unsafe { thread.as_ref() }.kind;
    if kind == Kind::Host {
        // SAFETY: the caller holds the right (contract).
        return unsafe { super::blocking::wake_host(thread) };
    }
    if kind == Kind::Parasite {
        // SAFETY: as above. In line, because it may switch.
        return unsafe { super::blocking::wake_parasite(thread, form) };
    }
    // SAFETY: as above.
    unsafe { wake_os(thread, kind) }
}

/// The rest of [`wake_thread`], out of line: four kinds in one place are a table of jumps.
///
/// # Safety
/// As for [`wake_thread`]; the thread is an OS thread, unless a root has blocked.
#[inline(never)]
unsafe fn wake_os(thread: NonNull<Thread>, kind: Kind) {
    match kind {
        // SAFETY: the caller holds the right (contract).
        Kind::Os => unsafe { os::wake(thread) },
        _ => super::guard::has_switched(Worker::current()),
    }
}

/// Counts a value that has gone through a channel.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn count_communication() {
    if let Some(worker) = Worker::current() {
        worker.seat.counters.communications.add(1);
    }
}

/// The payload of the unwind that ends a cancelled host. Private: user code can catch it but not make it.
pub(crate) struct CancelUnwind;

/// Ends the calling host by an unwind that runs its destructors and reaches whoever joins as `Cancelled`. No
/// panic message is printed.
#[cold]
pub(crate) fn unwind_cancelled() -> ! {
    std::panic::resume_unwind(Box::new(CancelUnwind))
}
