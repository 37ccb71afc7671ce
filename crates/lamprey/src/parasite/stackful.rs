//! Stackful parasites: closures that start at once, on a pooled context, and may block anywhere.
//!
//! # States of the outcome
//! If the closure ends before it blocks, the outcome goes to the spawner's frame ([`Started`]), and nothing
//! is allocated. If it blocks, the spawner goes on and allocates a [`StackfulJoinCell`], to which the outcome
//! goes later.
//!
//! # Invariants
//! 1. The spawner does not go on before the closure has been moved to the parasite's stack and has blocked or
//!    ended; so its frame outlives both accesses.
//! 2. The spawner sets `Context::join_cell` when it goes on and the closure has not ended: for the parasite it is
//!    null exactly while its spawner waits below. (Other parasites may run in between, on top of the spawner; if
//!    they unblock this one and it ends, its outcome goes to the spawner's frame.)

use super::handle::{Outcome, ParasiteHandle};
use super::join_cell::StackfulJoinCell;
use crate::sched::drops::{drop_quietly, end_locals};
use crate::sched::hints::Given;
use crate::sched::info::{ThreadInfo, ThreadKind};
use crate::sched::parasite::contexts::{Context, TopCall};
use crate::sched::parasite::offer::Start;
use crate::sched::worker::Worker;
use crate::thread::{Builder, Closure, JoinError, ON_A_HOST, outside};
use std::cell::{Cell, UnsafeCell};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Starts a closure **now**, on a pooled stack, on top of the caller (Sivaramakrishnan, Ziarek, Prasad and Jagannathan,
/// *Lightweight Asynchrony Using Parasitic Threads*, 2011, 2.2).
///
/// If it does not block, the handle has its result when this returns. When it blocks, anywhere and at any
/// depth, the caller goes on; the parasite is then a blocked thread, and the thread that unblocks it runs it,
/// ahead of the hosts. It stays on its worker (kernel thread).
///
/// Stackful parasites that it unblocks run where it blocks, at most 64 in a row, before the caller goes on. So a
/// tree of parasites that wait for each other needs few stacks at a time. As for the parasite itself: hold no
/// lock of `std` here that they take.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let (tx, rx) = lamprey::channel();
/// let lines = lamprey::parasite_fn(move || rx.iter().filter(|n| n % 2 == 0).count()); // blocks inside the iterator
/// (0..10).for_each(|n| tx.send(n).unwrap());
/// drop(tx);
/// assert_eq!(lines.join().unwrap(), 5);
/// # });
/// ```
/// It may outlive the caller's frame, so it must not borrow from it:
/// ```compile_fail,E0373
/// # lamprey::run(|| {
/// let text = String::from("here");
/// lamprey::parasite_fn(|| println!("{text}")).detach();
/// # });
/// ```
///
/// # Errors
/// None here; if no stack can be allocated, the handle returns [`JoinError::NoStack`].
///
/// # Panics
/// Outside of a host: use [`Handle::spawn`](crate::Handle::spawn) there. A panic *in* the parasite is caught, and reaches the thread that joins it.
///
/// # Cancellation
/// The call itself cannot be cancelled. [`ParasiteHandle::cancel`] cancels the parasite.
///
/// # Blocking
/// Until the closure ends or blocks.
#[doc(alias = "spawn")]
#[doc(alias = "go")]
#[doc(alias = "coroutine")]
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn parasite_fn<F, T>(f: F) -> ParasiteHandle<T>
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    let Some(worker) = Worker::current() else { outside("lamprey::parasite_fn", FN_IN) };
    // SAFETY: closure and result are 'static.
    unsafe { start_or_host(worker, f, Location::caller(), false) }
}

/// Like [`parasite_fn`], for a closure that borrows.
///
/// # Safety
/// What it borrows outlives the closure's call, and the handle; the handle is not dropped before the parasite
/// has ended.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(crate) unsafe fn start_fn_borrowing<F, T>(f: F) -> ParasiteHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let Some(worker) = Worker::current() else { outside("Scope::parasite_fn", FN_IN_SCOPE) };
    // SAFETY: as promised by the caller.
    unsafe { start_or_host(worker, f, Location::caller(), false) }
}

/// Like [`parasite_fn`], for a closure that is not `Send`.
///
/// # Panics
/// Outside of a host. (A host to call it on is started by [`Handle::spawn`](crate::Handle::spawn), from any thread.)
#[doc(alias = "spawn_local")]
#[doc(alias = "coroutine")]
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn parasite_fn_local<F, T>(f: F) -> ParasiteHandle<T>
where
    F: Closure<T> + 'static,
    T: 'static,
{
    let Some(worker) = Worker::current() else { outside("lamprey::parasite_fn_local", ON_A_HOST) };
    let how = worker.how_to_start_here();
    // SAFETY: closure and result are 'static, and it stays on this kernel thread.
    let handle = unsafe { start(worker, f, Location::caller(), false) };
    if how == Start::Overdue { handle.whose_join_gives_way() } else { handle }
}

/// What to do instead, outside of a host.
const FN_IN: &str = "use the Handle::spawn of a runtime, or its Handle::parasite for a future, or call it within lamprey::run";
const FN_IN_SCOPE: &str = "use Scope::spawn_in with a runtime's Handle, or Scope::parasite_in for a future";

/// A call to start, on the frame of its spawner.
#[repr(C)]
struct Started<F, T> {
    call: TopCall,
    closure: UnsafeCell<ManuallyDrop<F>>,
    outcome: UnsafeCell<MaybeUninit<Outcome<T>>>,
    over: Cell<bool>,
}

/// The settings of a context that is not from the pool: what it was given, and bytes of stack.
pub(super) type Own = (Option<Arc<Given>>, u32);

impl<F: FnOnce() -> T, T> Started<F, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(f: F) -> Self {
        Self {
            call: TopCall { run: run::<F, T> },
            closure: UnsafeCell::new(ManuallyDrop::new(f)),
            outcome: UnsafeCell::new(MaybeUninit::uninit()),
            over: Cell::new(false),
        }
    }

    /// Runs this call in `context`, on top of the running thread, until it ends or blocks.
    ///
    /// # Safety
    /// As for [`start`]; the context is idle or new, and in no cache; called once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run_in(
        &self,
        worker: &Worker,
        context: NonNull<Context>,
        site: &'static Location<'static>,
        attach_inline: bool,
    ) -> ParasiteHandle<T> {
        let start = worker.remote.ticks();
        // SAFETY: as promised by the caller; the call lives until this returns.
        unsafe { worker.run_in(context, NonNull::from(self).cast(), site, attach_inline) };
        if worker.remote.ticks() != start {
            worker.blame_spawner(start);
        }
        if self.over.get() {
            // SAFETY: the parasite has ended and written its outcome, once. Its context may run another one by now.
            return unsafe {
                match (*self.outcome.get()).assume_init_ref() {
                    Ok(value) => ParasiteHandle::value(ptr::read(value)),
                    Err(error) => ParasiteHandle::failed(ptr::read(error)),
                }
            };
        }
        worker.remote.counters.reified.add(1);
        worker.stand_alone(context);
        // SAFETY: the parasite has blocked: its context is alive.
        let context = unsafe { context.as_ref() };
        let join_cell = StackfulJoinCell::of_blocked(worker, context, site);
        context.join_cell.set(join_cell.as_ptr().cast());
        ParasiteHandle::of_join_cell(join_cell)
    }

    /// Stores the outcome: in the join cell, which is returned, or in `this` if the parasite has never blocked.
    /// (By variant: see `thread::join_cell`. A pointer, because the frame of `this` is gone otherwise.)
    ///
    /// # Safety
    /// Called once, by the parasite of `context`, which runs the call `this`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn store(
        this: NonNull<Self>,
        context: &Context,
        outcome: Outcome<T>,
    ) -> Option<NonNull<StackfulJoinCell<T>>> {
        let join_cell = NonNull::new(context.join_cell.get().cast_mut()).map(NonNull::cast);
        // SAFETY: without a join cell its spawner waits below with `this` (invariants 1 and 2); the parasite's share keeps the join cell alive.
        unsafe {
            match join_cell {
                Some(join_cell) => StackfulJoinCell::store(join_cell, outcome),
                None => {
                    let outcome = outcome.map_err(|error| of_thread(error, context));
                    (*this.as_ref().outcome.get()).write(outcome);
                    this.as_ref().over.set(true);
                }
            }
        }
        join_cell
    }

    /// The handle of a parasite that had no stack to run on.
    #[cold]
    fn without_stack(
        self,
        error: io::Error,
        name: Option<Arc<str>>,
        site: &'static Location<'static>,
    ) -> ParasiteHandle<T> {
        drop(ManuallyDrop::into_inner(self.closure.into_inner()));
        let of = || ThreadInfo::new(0, name, ThreadKind::Parasite, None, Some(site));
        ParasiteHandle::failed(JoinError::no_stack(error).of(of))
    }
}

/// The error of the parasite that runs in `context`, with its name: it has no join cell that could tell later.
#[cold]
#[inline(never)]
fn of_thread(error: JoinError, context: &Context) -> JoinError {
    error.of(|| context.thread.info(None))
}

/// Runs `f` on top of the running thread until it ends or blocks.
///
/// # Safety
/// What `f` and its result borrow outlives the parasite; if they are not `Send`, they stay on this kernel
/// thread.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn start<F: FnOnce() -> T, T>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
) -> ParasiteHandle<T> {
    if worker.must_not_switch() {
        return refuse(f);
    }
    worker.remote.counters.stackful.add(1);
    let started = Started::new(f);
    match worker.idle_context() {
        // SAFETY: as promised by the caller; the context is idle or new.
        Ok(context) => unsafe { started.run_in(worker, context, site, attach_inline) },
        Err(error) => started.without_stack(error, None, site),
    }
}

/// Like [`start`], in a context of its own.
///
/// # Safety
/// As for [`start`].
#[cold]
unsafe fn start_in_own<F: FnOnce() -> T, T>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
    (given, stack_size): Own,
) -> ParasiteHandle<T> {
    if worker.must_not_switch() {
        return refuse(f);
    }
    worker.remote.counters.stackful.add(1);
    let started = Started::new(f);
    match worker.own_context(given.clone(), stack_size) {
        // SAFETY: as promised by the caller; the context is new.
        Ok(context) => unsafe { started.run_in(worker, context, site, attach_inline) },
        Err(error) => started.without_stack(error, given.and_then(|given| given.name.clone()), site),
    }
}

/// Like [`start`], for a closure that may migrate: it starts as a host while its spawner has a penalty.
///
/// # Safety
/// As for [`start`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn start_or_host<F: FnOnce() -> T + Send, T: Send>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
) -> ParasiteHandle<T> {
    let how = worker.how_to_start_stackful();
    if how != Start::Now {
        // SAFETY: as promised by the caller.
        return unsafe { start_otherwise(worker, f, site, attach_inline, how) };
    }
    // SAFETY: as promised by the caller.
    unsafe { start(worker, f, site, attach_inline) }
}

/// # Safety
/// As for [`start`].
#[cold]
#[inline(never)]
unsafe fn start_otherwise<F: FnOnce() -> T + Send, T: Send>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
    attach_inline: bool,
    how: Start,
) -> ParasiteHandle<T> {
    if how == Start::AsHost && !worker.must_not_switch() {
        // SAFETY: as promised by the caller.
        return unsafe { start_as_host(worker, f, site) };
    }
    // SAFETY: as promised by the caller.
    let handle = unsafe { start(worker, f, site, attach_inline) };
    if how == Start::Overdue { handle.whose_join_gives_way() } else { handle }
}

/// # Safety
/// As for [`start`].
#[cold]
#[inline(never)]
unsafe fn start_as_host<F: FnOnce() -> T + Send, T: Send>(
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
) -> ParasiteHandle<T> {
    let join_cell = join_cell_of_host(worker, site);
    let hosted = Hosted { join_cell, closure: Some(f) };
    // SAFETY: what the closure borrows outlives its call, and this host only calls it; the handle's share
    // keeps the join cell alive.
    unsafe {
        let host = crate::thread::spawn_member(
            worker,
            site,
            move || hosted.run(),
            (),
            |thread| worker.admit(thread),
        );
        join_cell.as_ref().head.id.set(host.id());
    }
    ParasiteHandle::of_join_cell(join_cell)
}

/// Counts a parasite that starts as a host, and makes its join cell.
fn join_cell_of_host<T>(worker: &Worker, site: &'static Location<'static>) -> NonNull<StackfulJoinCell<T>> {
    let counters = &worker.remote.counters;
    counters.stackful.add(1);
    counters.reified.add(1);
    counters.inflated.add(1);
    StackfulJoinCell::new(Some(site))
}

/// Starts `f` as a host with the settings of `builder`.
///
/// # Errors
/// As [`Builder::spawn`].
///
/// # Safety
/// As for [`start`].
#[cold]
pub(super) unsafe fn start_as<F: FnOnce() -> T + Send, T: Send>(
    builder: Builder,
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
) -> io::Result<ParasiteHandle<T>> {
    let join_cell = join_cell_of_host(worker, site);
    let handle = ParasiteHandle::of_join_cell(join_cell);
    // SAFETY: the handle's share keeps the join cell alive.
    unsafe { join_cell.as_ref() }.head.give_name(builder.given().and_then(|given| given.name.clone()));
    let hosted = Hosted { join_cell, closure: Some(f) };
    // SAFETY: what `f` and its result borrow outlives the parasite (contract); the handle's share keeps the
    // join cell alive.
    unsafe {
        let host = builder.launch(&worker.shared, site, move || hosted.run())?;
        join_cell.as_ref().head.id.set(host.id());
    }
    Ok(handle)
}

/// Like [`start_or_host`], with the settings of `builder`. If `stays`, only on this worker.
///
/// # Errors
/// As [`Builder::spawn`].
///
/// # Safety
/// As for [`start`].
#[cold]
pub(super) unsafe fn start_built<F: FnOnce() -> T + Send, T: Send>(
    builder: Builder,
    own: Option<Own>,
    stays: bool,
    worker: &Worker,
    f: F,
    site: &'static Location<'static>,
) -> io::Result<ParasiteHandle<T>> {
    let how = if stays { worker.how_to_start_here() } else { worker.how_to_start_stackful() };
    if how == Start::AsHost && !worker.must_not_switch() {
        // SAFETY: as promised by the caller.
        return unsafe { start_as(builder, worker, f, site) };
    }
    // SAFETY: as promised by the caller.
    let handle = unsafe {
        match own {
            Some(own) => start_in_own(worker, f, site, builder.is_attached_inline(), own),
            None => start(worker, f, site, builder.is_attached_inline()),
        }
    };
    Ok(if how == Start::Overdue { handle.whose_join_gives_way() } else { handle })
}

/// A parasite that is about to start as a host. If it is dropped before, the parasite ends as cancelled.
struct Hosted<F, T> {
    join_cell: NonNull<StackfulJoinCell<T>>,
    closure: Option<F>,
}

// SAFETY: closure and outcome are `Send` (bounds of `start_as_host`); the parasite's share of the join cell
// may be used on any thread.
unsafe impl<F: Send, T: Send> Send for Hosted<F, T> {}

impl<F: FnOnce() -> T, T> Hosted<F, T> {
    fn run(mut self) {
        let (Some(worker), Some(closure)) = (Worker::current(), self.closure.take()) else { return };
        // SAFETY: the parasite's share keeps the join cell alive.
        let wanted = unsafe { self.join_cell.as_ref() }.head.begin(worker);
        let outcome = if wanted {
            catch_unwind(AssertUnwindSafe(closure)).map_err(JoinError::caught)
        } else {
            drop_quietly(closure);
            Err(JoinError::cancelled())
        };
        // Before it counts as over: the destructors may block.
        end_locals(worker.running_ref());
        // SAFETY: the parasite's share, given up here.
        unsafe { StackfulJoinCell::finish(std::mem::ManuallyDrop::new(self).join_cell, outcome) }
    }
}

impl<F, T> Drop for Hosted<F, T> {
    fn drop(&mut self) {
        drop_quietly(self.closure.take()); // a panic must not prevent the joiner's wake
        // SAFETY: the parasite's share, given up here: `run` has not published.
        unsafe { StackfulJoinCell::finish(self.join_cell, Err(JoinError::cancelled())) }
    }
}

/// Drops the closure of a parasite that cannot start: the caller unwinds, or its runtime ends.
#[cold]
fn refuse<F, T>(f: F) -> ParasiteHandle<T> {
    if let Some(worker) = Worker::current() {
        worker.must_not_be_called_out();
    }
    drop(f);
    let why = if std::thread::panicking() { JoinError::unwinding() } else { JoinError::cancelled() };
    ParasiteHandle::failed(why)
}

/// [`TopCall::run`].
///
/// # Safety
/// `call` heads a `Started<F, T>` whose spawner waits below; called once, on the context's own stack.
unsafe fn run<F: FnOnce() -> T, T>(call: NonNull<TopCall>, context: &Context) {
    // SAFETY: invariants 1 and 2.
    unsafe {
        let started = call.cast::<Started<F, T>>();
        let closure = ManuallyDrop::take(&mut *started.as_ref().closure.get());
        // Stored within the closure, not returned by it: a result would be read as a whole after being written
        // in parts, which defeats store forwarding.
        let join_cell = catch_unwind(AssertUnwindSafe(|| {
            let value = closure();
            // Their destructors may block, so before the parasite counts as over.
            end_locals(&context.thread);
            Started::store(started, context, Ok(value))
        }))
        .unwrap_or_else(|payload| {
            end_locals(&context.thread);
            Started::store(started, context, Err(JoinError::caught(payload)))
        });
        // Nothing may block between `store` and `publish`.
        if let Some(join_cell) = join_cell {
            StackfulJoinCell::publish(join_cell);
            // Local values that the destructor of a detached parasite's outcome initialized.
            end_locals(&context.thread);
        }
    }
}
