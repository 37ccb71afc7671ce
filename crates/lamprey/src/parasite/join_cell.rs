//! The join cell of a stackful parasite that has blocked: receives its outcome, and leads the handle to the
//! parasite.
//!
//! # Invariants
//! 1. A join cell has one structural owner, parasite and handle together (completion word), and one reference
//!    per remote message.
//! 2. `StackfulHead::thread` is the parasite's thread from its start until it ends, for its home worker only;
//!    `home` is null until then.
//!
//! # Orderings
//! A cancel by the handle races with a start as a host: each side stores its word (`ordered`; `home`), then
//! loads the other's, all SeqCst, so that at least one sees the other. The cancel is seen at the start, or
//! sent as a remote message, or both: a remote message for a parasite that is over does nothing.
//!
//! # Checked by
//! `model::hosted` (loom), `tests/parasite/stackful.rs`.

use super::handle::Outcome;
use super::place::drop_outcome;
use crate::sched::completion::{Completion, Published};
use crate::sched::info::{ThreadInfo, ThreadKind};
use crate::sched::parasite::contexts::Context;
use crate::sched::parasite::refs::Refs;
use crate::sched::remote_message::RemoteMessage;
use crate::sched::thread::{Thread, ThreadState};
use crate::sched::worker::{Worker, give_block, take_block};
use crate::sched::worker_shared::WorkerShared;
use crate::sync_shim::{AtomicBool, AtomicPtr, Ordering};
use std::alloc::Layout;
use std::cell::{Cell, OnceCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The part of a join cell that does not depend on the type of the outcome.
#[repr(C)]
pub(super) struct StackfulHead {
    /// The cancel request of another worker. First, so that a pointer to the message is a pointer to the join
    /// cell.
    message: RemoteMessage,
    pub(super) completion: Completion,
    refs: Refs,
    ordered: AtomicBool,
    thread: Cell<*const Thread>,
    /// Null until the parasite has started; holds a count of the `Arc`.
    home: AtomicPtr<WorkerShared>,
    free: unsafe fn(NonNull<StackfulHead>),
    /// The parasite's number; written before the handle is given out.
    pub(super) id: Cell<u64>,
    /// Given before the handle is; most have none.
    name: OnceCell<Arc<str>>,
    /// `None` for a handle that had its outcome at once.
    spawn_site: Option<&'static Location<'static>>,
}

/// The join cell with the outcome.
#[repr(C)]
pub(super) struct StackfulJoinCell<T> {
    pub(super) head: StackfulHead,
    outcome: UnsafeCell<MaybeUninit<Outcome<T>>>,
}

/// For messages.
const UNNAMED: &str = "on a stack of its own";

impl StackfulHead {
    /// Gives the parasite its name, before the handle is given out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn give_name(&self, name: Option<Arc<str>>) {
        if let Some(name) = name {
            self.name.get_or_init(|| name);
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.get().map(|name| &**name)
    }

    /// The parasite's info; `None` for the handle of one that was over at once.
    pub(super) fn of_parasite(&self) -> Option<ThreadInfo> {
        self.spawn_site.is_some().then(|| self.info())
    }

    /// The parasite's info.
    pub(super) fn info(&self) -> ThreadInfo {
        ThreadInfo::new(self.id.get(), self.name.get().cloned(), ThreadKind::Parasite, None, self.spawn_site)
    }

    /// A parasite starts as a host, on the running thread; false if it has been cancelled before.
    pub(super) fn begin(&self, worker: &Worker) -> bool {
        self.thread.set(worker.running().as_ptr());
        // StoreLoad race: the store of `home`, then the load of `ordered`; pairs with the two in
        // `StackfulJoinCell::cancel`.
        self.home.store(Arc::into_raw(worker.remote.clone()).cast_mut(), Ordering::SeqCst);
        // StoreLoad race: the load after the store of `home`.
        !self.ordered.load(Ordering::SeqCst)
    }
}

impl<T> StackfulJoinCell<T> {
    /// Allocates the join cell of a parasite that has not started; without a spawn site, of an outcome.
    #[cold]
    #[inline(never)]
    pub(super) fn new(spawn_site: Option<&'static Location<'static>>) -> NonNull<Self> {
        let join_cell = take_block(Layout::new::<Self>()).cast();
        // SAFETY: fresh memory of this layout.
        unsafe { Self::init(join_cell, ptr::null(), ptr::null_mut(), 0, spawn_site) };
        join_cell
    }

    /// Allocates the join cell of the parasite of `context`, which has blocked.
    #[cold]
    #[inline(never)]
    pub(super) fn of_blocked(
        worker: &Worker,
        context: &Context,
        spawn_site: &'static Location<'static>,
    ) -> NonNull<Self> {
        let join_cell = take_block(Layout::new::<Self>()).cast();
        let home = Arc::into_raw(worker.remote.clone()).cast_mut();
        let label = &context.thread.label;
        // SAFETY: fresh memory of this layout.
        unsafe {
            Self::init(join_cell, &raw const context.thread, home, label.id.get(), Some(spawn_site));
            join_cell.as_ref().head.give_name(label.name().cloned());
        }
        join_cell
    }

    /// # Safety
    /// `join_cell` is fresh memory of this layout.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn init(
        join_cell: NonNull<Self>,
        thread: *const Thread,
        home: *mut WorkerShared,
        id: u64,
        spawn_site: Option<&'static Location<'static>>,
    ) {
        let head = StackfulHead {
            message: RemoteMessage { link: Cell::new(ptr::null_mut()), run: end_parasite },
            completion: Completion::new(),
            refs: Refs::new(),
            ordered: AtomicBool::new(false),
            thread: Cell::new(thread),
            home: AtomicPtr::new(home),
            free: free::<T>,
            id: Cell::new(id),
            name: OnceCell::new(),
            spawn_site,
        };
        // SAFETY: as promised by the caller.
        unsafe { join_cell.write(Self { head, outcome: UnsafeCell::new(MaybeUninit::uninit()) }) };
    }

    /// The parasite has ended: stores and publishes its outcome.
    ///
    /// # Safety
    /// The parasite's own join cell; called once, by the parasite.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn finish(join_cell: NonNull<Self>, outcome: Outcome<T>) {
        // SAFETY: as promised by the caller.
        unsafe {
            Self::store(join_cell, outcome);
            Self::publish(join_cell);
        }
    }

    /// Stores the outcome, without a copy of the whole: called for one variant at a time.
    ///
    /// # Safety
    /// The parasite's own join cell; called once, by the parasite.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn store(join_cell: NonNull<Self>, outcome: Outcome<T>) {
        // SAFETY: the parasite's share keeps it alive.
        unsafe { (*join_cell.as_ref().outcome.get()).write(outcome) };
    }

    /// Publishes the outcome that has been stored.
    ///
    /// # Safety
    /// The parasite's own join cell; called once, by the parasite, after [`store`](Self::store).
    #[inline(never)]
    pub(super) unsafe fn publish(join_cell: NonNull<Self>) {
        // SAFETY: the parasite's share keeps it alive; after `publish` returned `Kept`, the handle may have
        // freed it.
        unsafe {
            join_cell.as_ref().head.thread.set(ptr::null());
            match join_cell.as_ref().head.completion.publish() {
                Published::Kept => {}
                Published::PendingWake(waiter) => waiter.wake_kept(),
                Published::Unwanted => {
                    drop_outcome(
                        (*join_cell.as_ref().outcome.get()).assume_init_read(),
                        Some(join_cell.as_ref().head.info().id()),
                        join_cell.as_ref().head.name().unwrap_or(UNNAMED),
                    );
                    Self::drop_owner(join_cell);
                }
            }
        }
    }

    /// Moves the outcome out.
    ///
    /// # Safety
    /// The join cell is done, only the caller has it, and this is its last use.
    pub(super) unsafe fn take(join_cell: NonNull<Self>) -> Outcome<T> {
        // SAFETY: as promised by the caller.
        unsafe {
            // By variant, assembled last: a copy of the whole would stall on the narrower writes of its parts
            // (store forwarding).
            match (*join_cell.as_ref().outcome.get()).assume_init_ref() {
                Ok(value) => {
                    let value = ptr::read(value);
                    Self::drop_owner(join_cell);
                    Ok(value)
                }
                Err(error) => {
                    let error = ptr::read(error).of(|| join_cell.as_ref().head.info());
                    Self::drop_owner(join_cell);
                    Err(error)
                }
            }
        }
    }

    /// Detaches the parasite.
    ///
    /// # Safety
    /// The handle's share, given up by this.
    pub(super) unsafe fn detach(join_cell: NonNull<Self>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if !join_cell.as_ref().head.completion.detach() {
                let info = join_cell.as_ref().head.info();
                drop_outcome(Self::take(join_cell), Some(info.id()), info.name().unwrap_or(UNNAMED));
            }
        }
    }

    /// Cancels the parasite.
    ///
    /// # Safety
    /// The handle's share lasts beyond this call.
    pub(super) unsafe fn cancel(join_cell: NonNull<Self>) {
        // SAFETY: alive by the handle's share.
        let head = unsafe { &join_cell.as_ref().head };
        // StoreLoad race: the store of `ordered`, then the load of `home`; pairs with the two in
        // `StackfulHead::begin`. Only the first cancel goes on.
        if head.completion.is_done() || head.ordered.swap(true, Ordering::SeqCst) {
            return;
        }
        // StoreLoad race: the load after the store of `ordered`. Null: the parasite has not started, and will
        // see `ordered` when it does.
        let Some(home) = NonNull::new(head.home.load(Ordering::SeqCst)) else { return };
        if let Some(worker) = Worker::current()
            && ptr::eq(worker.remote_ptr(), home.as_ptr())
        {
            return end_here(head, worker);
        }
        head.refs.retain();
        // SAFETY: the join cell holds a count of its home; the message holds a reference to the join cell.
        unsafe { WorkerShared::send(home, join_cell.cast()) };
    }

    /// # Safety
    /// The structural owner's claim, given up here; the outcome has been taken.
    unsafe fn drop_owner(join_cell: NonNull<Self>) {
        // SAFETY: as promised by the caller.
        unsafe {
            if join_cell.as_ref().head.refs.drop_owner() {
                free::<T>(join_cell.cast());
            }
        }
    }
}

/// Cancels the parasite of a join cell on its home worker.
fn end_here(head: &StackfulHead, worker: &Worker) {
    if let Some(thread) = NonNull::new(head.thread.get().cast_mut()) {
        // SAFETY: not null, so it has not ended; the caller is its home worker (invariant 2).
        unsafe {
            if thread.as_ref().state.get() != ThreadState::Finished {
                worker.cancel(thread);
            }
        }
    }
}

/// [`RemoteMessage::run`]: cancels the parasite on its home worker.
///
/// # Safety
/// The message heads a join cell and comes with a reference to it.
unsafe fn end_parasite(message: NonNull<RemoteMessage>, worker: Option<&Worker>) {
    let head = message.cast::<StackfulHead>();
    // SAFETY: as promised by the caller.
    unsafe {
        if let Some(worker) = worker {
            end_here(head.as_ref(), worker);
        }
        if head.as_ref().refs.release() {
            (head.as_ref().free)(head);
        }
    }
}

/// # Safety
/// No claim on the join cell is left; its outcome has been taken.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn free<T>(head: NonNull<StackfulHead>) {
    // SAFETY: allocated by `new` or `of_blocked` with this layout.
    unsafe {
        // Relaxed: no other thread has a claim.
        let home = head.as_ref().home.load(Ordering::Relaxed);
        ptr::drop_in_place(&raw mut (*head.as_ptr()).name);
        give_block(head.cast(), Layout::new::<StackfulJoinCell<T>>());
        if !home.is_null() {
            drop(Arc::from_raw(home.cast_const()));
        }
    }
}

const _: () = assert!(std::mem::offset_of!(StackfulHead, message) == 0);
