//! One cancel scope, many levels: cutting it trips all that hang on it, on whatever thread they are. What
//! tokens and scopes are made of.
//!
//! # States
//! ```text
//! a level: loose --hook--> hooked --unhook--> loose
//!                             \--cancelled--> posted --it has arrived--> loose
//! ```
//! # Invariants
//! 1. A level is hooked by its own thread, within the level, and unhooked by it before its memory ends. One
//!    that is posted is awaited: until it has arrived, the cutter, or an message of its, has the level in
//!    hand.
//! 2. `arrived` is the last access of the cutter; of an OS thread it is set within the lock.
//! 3. The thread of a hooked level is inside [`CancelScope::run`], so its worker is there.
//!
//! # Who may touch what
//! The list and `is_cancelled`: whoever holds the lock, in which no code of the program runs. `next`: the
//! cutter. `waits`: the home.
//!
//! # Orderings
//! Those of the lock, of inboxes, and: the Release of `arrived` pairs with its owner's Acquire.
//!
//! # Checked by
//! `model::cancel_scope` (loom: hosts and OS threads, with broken variants), `tests/cancel/race.rs` (cancel
//! against hook, unhook, block and end, on several workers and OS threads).

use super::level::{self, Left, LevelCancelled};
use crate::queue::list::{List, Node};
use crate::sched::block::current;
use crate::sched::cancel::{Frame, is_moot};
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

/// See the module's text.
pub(crate) struct CancelScope(Mutex<Levels>);

struct Levels {
    is_cancelled: bool,
    hooked: List<()>,
}

// SAFETY: the list and its nodes are reached under the lock only.
unsafe impl Send for Levels {}

/// A level on its owner's stack.
#[repr(C)]
struct Hooked {
    /// First, so that an message is a level.
    message: RemoteMessage,
    /// Second, so that a node is one, too.
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
        // SAFETY: as promised by the caller; `hook` linked it by a pointer to the whole level.
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

    /// Runs `inside` so that the cancel scope's end ends it. A call that finds the cancel scope cancelled
    /// does not run it at all.
    ///
    /// # Errors
    /// See [`level::settle`].
    pub(crate) fn run<R>(&self, inside: impl FnOnce() -> R) -> Result<R, LevelCancelled> {
        self.catch(inside).unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// As [`run`](Self::run); what would go on from there is returned.
    pub(crate) fn catch<R>(&self, inside: impl FnOnce() -> R) -> Left<Result<R, LevelCancelled>> {
        if is_moot() {
            return if self.is_cancelled() { Ok(Err(LevelCancelled)) } else { level::caught(inside).map(Ok) };
        }
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
            // A pointer to the whole, for `of_node`.
            let node = NonNull::from(hooked).cast::<u8>();
            // SAFETY: loose; it stays until `unhook`; the lock is held.
            unsafe { state.hooked.push(node.byte_add(NODE).cast()) };
        }
        !state.is_cancelled
    }

    fn unhook(&self, hooked: &Hooked) {
        {
            let state = self.lock();
            // SAFETY: linked here, if at all; the lock is held.
            if unsafe { state.hooked.remove(NonNull::from(&hooked.node)) } {
                return;
            }
        }
        if left_out!(CancelScopeHaste) {
            // Acquire: as below.
            let has_arrived = hooked.arrived.load(Ordering::Acquire);
            assert!(has_arrived, "a level has ended, and somebody has it in hand");
            return;
        }
        // Acquire pairs with the Release stores in `cancel` and `arrive`.
        while !hooked.arrived.load(Ordering::Acquire) {
            wait_committed(Wait::Cancellation, |_| {
                // Acquire: as above. Looked at again, because parasites may have run in between.
                let waits = !hooked.arrived.load(Ordering::Acquire);
                if left_out!(CancelScopeWaits) {
                    return waits;
                }
                hooked.waits.set(waits);
                waits
            });
        }
    }

    /// Trips all levels, now and from now on; false if that had been done before.
    pub(crate) fn cancel(&self) -> bool {
        let Some(mut next) = self.take_all() else { return false };
        let here = Worker::current();
        // SAFETY: posted levels are there until they have arrived (invariant 1), and `next` is read before.
        while let Some(level) = unsafe { next.as_ref() } {
            next = level.next.get();
            let message = NonNull::from(level).cast::<RemoteMessage>();
            match here.filter(|worker| ptr::eq(worker.remote_ptr(), level.home)) {
                // SAFETY: as above.
                Some(worker) => unsafe { arrive(message, Some(worker)) },
                // SAFETY: as above; its worker is there (invariant 3), so it has a home.
                None => unsafe { WorkerShared::send(NonNull::new_unchecked(level.home.cast_mut()), message) },
            }
        }
        true
    }

    /// Takes all levels off, posted, as a chain. Those of OS threads are cancelled here.
    fn take_all(&self) -> Option<*const Hooked> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_cancelled, true) {
            return None;
        }
        let mut chain = ptr::null();
        while let Some(node) = state.hooked.pop() {
            // SAFETY: hooked levels are there, and the lock is held.
            let level = unsafe { Hooked::of_node(node).as_ref() };
            if level.home.is_null() {
                let trips_late = left_out!(CancelScopeNudge);
                if !trips_late {
                    level.frame.set_cancelled();
                }
                // SAFETY: an OS thread's, which does not leave before it has had the lock.
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

/// [`RemoteMessage::run`]: trips a level, at home.
///
/// # Safety
/// The message of a posted level; once.
unsafe fn arrive(message: NonNull<RemoteMessage>, worker: Option<&Worker>) {
    // SAFETY: there until it has arrived.
    let level = unsafe { message.cast::<Hooked>().as_ref() };
    let (thread, waits) = (level.thread, level.waits.get());
    if let Some(worker) = worker {
        // SAFETY: a started thread of this worker, inside `run`.
        unsafe { worker.cancel_level(&level.frame, thread) };
    }
    // Release pairs with the Acquire load in `unhook`. The level's owner runs on this kernel thread, so not
    // before we return.
    level.arrived.store(true, Ordering::Release);
    if waits {
        // SAFETY: it is blocked for this wake.
        unsafe { wake_thread(thread, Form::Soon) };
    }
}
