//! Cancel scopes: cancelling one cancels all levels that are registered with it, on any thread. Tokens and
//! scopes are built on them.
//!
//! # States
//! ```text
//! a level: loose --hook--> hooked --unhook--> loose
//!                             \--cancelled--> posted --it has arrived--> loose
//! ```
//! # Invariants
//! 1. A level is hooked by its own thread when it is entered, and unhooked by that thread before its memory
//!    ends. A posted level is in use by the cancelling thread or by its remote message until it has arrived;
//!    its owner waits for that.
//! 2. Storing `arrived` is the last access of the cancelling side; for an OS thread's level it is done under
//!    the lock.
//! 3. The thread of a hooked level is inside [`CancelScope::run`], so its worker is alive.
//!
//! # Who may touch what
//! The list and `is_cancelled`: the holder of the lock, under which no user code runs. `next`: the cancelling
//! thread. `waits`: the home worker.
//!
//! # Orderings
//! Those of the lock and of inboxes; the Release store of `arrived` pairs with the owner's Acquire load.
//!
//! # Checked by
//! `model::cancel_scope` (loom: hosts and OS threads, with broken variants), `tests/cancel/race.rs` (cancel
//! against hook, unhook, block and end, on several workers and OS threads).

use super::level::{self, Left, LevelCancelled};
use crate::queue::list::{List, Node};
use crate::sched::block::current;
use crate::sched::cancel::{Frame, is_moot};
use crate::sched::coop;
use crate::sched::parasite::task::Form;
use crate::sched::remote_message::RemoteMessage;
use crate::sched::thread::Thread;
use crate::sched::wait::wait_committed;
use crate::sched::worker::Worker;
use crate::sched::worker_shared::WorkerShared;
use crate::sched::{Wait, os, wake_thread};
use crate::sync_shim::{AtomicBool, Cell, Mutex, MutexGuard, Ordering, left_out};
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};
use std::sync::PoisonError;

/// A set of levels that are cancelled together, on any threads.
pub(crate) struct CancelScope(Mutex<Levels>);

struct Levels {
    is_cancelled: bool,
    hooked: List<()>,
}

// SAFETY: the list and its nodes are accessed only under the lock.
unsafe impl Send for Levels {}

/// A level on its owner's stack.
#[repr(C)]
struct Hooked {
    /// First, so that a pointer to the message is a pointer to the level.
    message: RemoteMessage,
    /// At offset `NODE`, from which `of_node` computes the level.
    node: Node<()>,
    frame: Frame,
    thread: NonNull<Thread>,
    /// Null on an OS thread.
    home: *const WorkerShared,
    next: Cell<*const Hooked>,
    arrived: AtomicBool,
    waits: Cell<bool>,
}

const NODE: usize = std::mem::offset_of!(Hooked, node);
const _: () = assert!(std::mem::offset_of!(Hooked, message) == 0);

impl Hooked {
    fn new() -> Self {
        Self {
            message: RemoteMessage { link: Cell::new(ptr::null_mut()), run: arrive },
            node: Node::new(()),
            frame: Frame::level(None),
            thread: current(),
            home: Worker::current().map_or(ptr::null(), Worker::remote_ptr),
            next: Cell::new(ptr::null()),
            arrived: AtomicBool::new(false),
            waits: Cell::new(false),
        }
    }

    /// # Safety
    /// The node is of a level.
    unsafe fn of_node(node: NonNull<Node<()>>) -> NonNull<Self> {
        // SAFETY: the node is a level's (contract); `hook` linked it by a pointer with provenance of the
        // whole level.
        unsafe { node.byte_sub(NODE).cast() }
    }
}

impl CancelScope {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Levels { is_cancelled: false, hooked: List::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, Levels> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().is_cancelled
    }

    /// Runs `inside` as a level of the cancel scope. If that is cancelled already, `inside` does not run.
    ///
    /// # Errors
    /// [`LevelCancelled`] if the cancel scope was cancelled before `inside` had a value.
    pub(crate) fn run<R>(&self, inside: impl FnOnce() -> R) -> Result<R, LevelCancelled> {
        self.catch(inside).unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Like [`run`](Self::run), but returns the payload of an unwind that goes further out.
    pub(crate) fn catch<R>(&self, inside: impl FnOnce() -> R) -> Left<Result<R, LevelCancelled>> {
        if is_moot() {
            return if self.is_cancelled() { Ok(Err(LevelCancelled)) } else { level::caught(inside).map(Ok) };
        }
        coop::turn();
        let hooked = Hooked::new();
        if !self.hook(&hooked) {
            return Ok(Err(LevelCancelled));
        }
        let left = level::run(&hooked.frame, inside);
        self.unhook(&hooked);
        level::settle(&hooked.frame, left)
    }

    /// False if the cancel scope has been cancelled.
    fn hook(&self, hooked: &Hooked) -> bool {
        let state = self.lock();
        if !state.is_cancelled {
            // With provenance of the whole level, for `of_node`.
            let node = NonNull::from(hooked).cast::<u8>();
            // SAFETY: the node is loose and stays in place until `unhook`; the lock is held.
            unsafe { state.hooked.push(node.byte_add(NODE).cast()) };
        }
        !state.is_cancelled
    }

    fn unhook(&self, hooked: &Hooked) {
        {
            let state = self.lock();
            // SAFETY: the node is in this list or in none; the lock is held.
            if unsafe { state.hooked.remove(NonNull::from(&hooked.node)) } {
                return;
            }
        }
        if left_out!(CancelScopeHaste) {
            // Acquire pairs with the Release stores in `cancel` and `arrive`.
            let has_arrived = hooked.arrived.load(Ordering::Acquire);
            assert!(has_arrived, "a level has ended, and somebody has it in hand");
            return;
        }
        // Acquire pairs with the Release stores in `cancel` and `arrive`.
        while !hooked.arrived.load(Ordering::Acquire) {
            wait_committed(Wait::Cancellation, |_| {
                // Acquire pairs with the same Release stores. Loaded again, because parasites may have run in
                // between.
                let waits = !hooked.arrived.load(Ordering::Acquire);
                if left_out!(CancelScopeWaits) {
                    return waits;
                }
                hooked.waits.set(waits);
                waits
            });
        }
    }

    /// Cancels all levels, current and future; false if the cancel scope was cancelled already.
    pub(crate) fn cancel(&self) -> bool {
        let Some(mut next) = self.take_all() else { return false };
        let here = Worker::current();
        // SAFETY: posted levels are alive until they have arrived (invariant 1), and `next` is read before
        // that.
        while let Some(level) = unsafe { next.as_ref() } {
            next = level.next.get();
            let message = NonNull::from(level).cast::<RemoteMessage>();
            match here.filter(|worker| ptr::eq(worker.remote_ptr(), level.home)) {
                // SAFETY: a posted level is alive until it has arrived; this is its home worker.
                Some(worker) => unsafe { arrive(message, Some(worker)) },
                // SAFETY: a posted level is alive until it has arrived; it has a home, whose worker is alive
                // (invariant 3).
                None => unsafe { WorkerShared::send(NonNull::new_unchecked(level.home.cast_mut()), message) },
            }
        }
        true
    }

    /// Unlinks all levels. Those of OS threads are cancelled here; the others are returned, posted, as a
    /// chain.
    fn take_all(&self) -> Option<*const Hooked> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_cancelled, true) {
            return None;
        }
        let mut chain = ptr::null();
        while let Some(node) = state.hooked.pop() {
            // SAFETY: hooked levels are alive, and the lock is held.
            let level = unsafe { Hooked::of_node(node).as_ref() };
            if level.home.is_null() {
                let trips_late = left_out!(CancelScopeNudge);
                if !trips_late {
                    level.frame.set_cancelled();
                }
                // SAFETY: an OS thread's level, which it cannot leave before it has taken the lock in
                // `unhook`.
                unsafe { os::nudge(level.thread) };
                if trips_late {
                    level.frame.set_cancelled();
                }
                // Release pairs with the Acquire load in `unhook`.
                level.arrived.store(true, Ordering::Release);
            } else {
                level.next.set(chain);
                chain = level;
            }
        }
        Some(chain)
    }
}

/// [`RemoteMessage::run`]: cancels a level on its home worker.
///
/// # Safety
/// `message` is that of a posted level; called once.
unsafe fn arrive(message: NonNull<RemoteMessage>, worker: Option<&Worker>) {
    // SAFETY: a posted level is alive until it has arrived (invariant 1).
    let level = unsafe { message.cast::<Hooked>().as_ref() };
    let (thread, waits) = (level.thread, level.waits.get());
    if let Some(worker) = worker {
        // SAFETY: a started thread of this worker, inside `CancelScope::run`.
        unsafe { worker.cancel_level(&level.frame, thread) };
    }
    // Release pairs with the Acquire load in `unhook`. The level's owner is a thread of this kernel thread,
    // so it does not run before this returns.
    level.arrived.store(true, Ordering::Release);
    if waits {
        // SAFETY: `waits` is set: the thread is blocked in `unhook`, for this wake only.
        unsafe { wake_thread(thread, Form::Soon) };
    }
}
