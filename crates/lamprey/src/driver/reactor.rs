//! The half of [`Epoll`](super::Epoll) that sockets use: the epoll descriptor and the table of registrations.
//!
//! Invariants
//! * `slots[key]` is the [`Readiness`] that was registered under the event data `key`. Events are **hints**:
//!   an event that was fetched before its key was given to another descriptor makes that one try its system
//!   call once in vain, and has no other effect. So a key may be reused at once.
//! * A descriptor that somebody else has registered already is registered by a duplicate of its own, which its
//!   slot owns. (The kernel tells registrations apart by number and open file.)
//! * The worker that owns the reactor adds registrations; the reactor for futures outside of every worker is
//!   used by all threads. The thread that drops a socket removes its registration. After [`Reactor::retire`]
//!   nothing can be added and the table is empty.
//! * A child made by `fork` shares the epoll instance with its parent: what it removed would be removed for the parent, and what it
//!   added would be reported to it. So it does neither, and registers with a reactor of its own what it waits for
//!   ([`is_here`](Reactor::is_here)).
//!
//! Lock order: a `Readiness` lock, then the slots. The owner takes registrations out of the slots before it
//! locks one.

#[cfg(not(loom))]
use crate::kernel::fork::Process;
use crate::memory::lasting::lasting_local;
use crate::sync_shim::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering};
use std::cell::RefCell;
use std::io;
#[cfg(not(loom))]
use std::os::fd::OwnedFd;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, PoisonError};

#[cfg(not(loom))]
use rustix::event::epoll;
use rustix::event::epoll::{EventData, EventFlags};
use rustix::io::Errno;
use slab::Slab;

use super::readiness::Readiness;
#[cfg(loom)]
use crate::model::kernel::{self as epoll, Set as OwnedFd};

lasting_local! {
    /// The reactor of the worker that runs on this kernel thread.
    static CURRENT: RefCell<Option<Arc<Reactor>>> = RefCell::new(None);
}

/// The events that a socket is registered for.
const INTEREST: EventFlags = EventFlags::IN.union(EventFlags::OUT).union(MORE).union(EventFlags::ET);

/// Those after which a read that fills only a part of its buffer may not have been the last one with a result.
const MORE: EventFlags =
    EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR).union(EventFlags::PRI);

/// The registrations with one epoll instance.
#[derive(Debug)]
pub(crate) struct Reactor {
    epoll: OwnedFd,
    slots: Mutex<Slots>,
    count: AtomicUsize,
    /// Another worker has done the owner's work since the owner last did it. A hint.
    helped: AtomicBool,
    /// The one whose kernel thread polls.
    #[cfg(not(loom))]
    process: Process,
}

#[derive(Debug)]
struct Slots {
    live: bool,
    table: Slab<Slot>,
}

#[derive(Debug)]
struct Slot {
    readiness: Arc<Readiness>,
    /// The registered descriptor, if it is a duplicate.
    duplicate: Option<std::os::fd::OwnedFd>,
}

impl Reactor {
    /// A reactor without registrations, which becomes that of the calling kernel thread.
    pub(crate) fn install() -> io::Result<Arc<Self>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let slots = Mutex::new(Slots { live: true, table: Slab::new() });
        let reactor = Arc::new(Self {
            epoll,
            slots,
            count: AtomicUsize::new(0),
            helped: AtomicBool::new(false),
            #[cfg(not(loom))]
            process: Process::this(),
        });
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(&reactor)));
        Ok(reactor)
    }

    /// The reactor of the calling worker; `None` on other threads.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Exchanges the reactor of the calling kernel thread and `kept`.
    #[cfg(not(loom))]
    pub(super) fn exchange(kept: &mut Option<Arc<Self>>) {
        CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), kept));
    }

    /// False in a child made by `fork`: nobody polls there.
    pub(crate) fn is_here(&self) -> bool {
        #[cfg(not(loom))]
        return self.process.is_this();
        #[cfg(loom)]
        true
    }

    /// Registers `fd`, edge-triggered and for both directions; an edge for what is ready now comes at once.
    ///
    /// # Errors
    /// The kernel's: out of memory, or out of epoll watches (`/proc/sys/fs/epoll/max_user_watches`).
    pub(crate) fn add(&self, fd: BorrowedFd<'_>, readiness: &Arc<Readiness>) -> io::Result<usize> {
        let key = {
            let mut slots = self.slots();
            if !slots.live {
                return Err(io::Error::other(
                    "the runtime of this thread has been shut down: nothing polls its sockets",
                ));
            }
            self.count_changed(slots.table.len() + 1);
            slots.table.insert(Slot { readiness: Arc::clone(readiness), duplicate: None })
        };
        let data = EventData::new_u64(key as u64);
        let added = match epoll::add(&self.epoll, fd, data, INTEREST) {
            Err(Errno::EXIST) => self.add_duplicate(fd, key),
            added => added.map_err(Into::into),
        };
        if let Err(error) = added {
            self.forget(key);
            return Err(error);
        }
        Ok(key)
    }

    /// Registers a duplicate of `fd`, which is registered for somebody else.
    #[cold]
    fn add_duplicate(&self, fd: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        let duplicate = fd.try_clone_to_owned()?;
        // With the slots locked: they may be emptied meanwhile, and the duplicate would stay.
        let mut slots = self.slots();
        if let Some(slot) = slots.table.get_mut(key) {
            epoll::add(&self.epoll, duplicate.as_fd(), EventData::new_u64(key as u64), INTEREST)?;
            slot.duplicate = Some(duplicate);
        }
        Ok(())
    }

    /// Undoes [`add`](Self::add). Explicit, because a descriptor that was duplicated stays in the epoll set
    /// when it is closed, and its events would keep coming. Does nothing in a child made by `fork`.
    pub(crate) fn remove(&self, fd: BorrowedFd<'_>, key: usize) {
        if !self.is_here() {
            return;
        }
        let gone = self.forget(key);
        let duplicate = gone.as_ref().and_then(|slot| slot.duplicate.as_ref());
        // An error means that the descriptor is not in the set, which is the aim.
        let _ = epoll::delete(&self.epoll, duplicate.map_or(fd, AsFd::as_fd));
    }

    fn forget(&self, key: usize) -> Option<Slot> {
        let mut slots = self.slots();
        let gone = slots.table.try_remove(key);
        self.count_changed(slots.table.len());
        gone
    }

    /// The registrations that `keys` name and that still exist.
    fn look_up(
        &self,
        keys: impl Iterator<Item = (usize, EventFlags)>,
        found: &mut Vec<(Arc<Readiness>, EventFlags)>,
    ) {
        let slots = self.slots();
        found.extend(
            keys.filter_map(|(key, flags)| Some((Arc::clone(&slots.table.get(key)?.readiness), flags))),
        );
    }

    /// Wakes the waiters for `events`.
    pub(crate) fn dispatch(
        &self,
        events: impl Iterator<Item = (usize, EventFlags)>,
        found: &mut Vec<(Arc<Readiness>, EventFlags)>,
    ) {
        self.look_up(events, found);
        #[cfg(not(loom))]
        crate::sched::count_io_events(found.len());
        for (readiness, flags) in found.drain(..) {
            let ended = flags.intersects(EventFlags::HUP | EventFlags::ERR);
            let read = ended || flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI);
            let write = ended || flags.contains(EventFlags::OUT);
            if flags.intersects(MORE) {
                readiness.set_more_than_bytes();
            }
            readiness.edge(read, write);
        }
    }

    /// The worker ends: empties the table and wakes all waiters, which try again and register with another
    /// reactor.
    pub(crate) fn retire(self: &Arc<Self>) {
        let table = {
            let mut slots = self.slots();
            slots.live = false;
            self.count_changed(0);
            std::mem::take(&mut slots.table)
        };
        CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            if current.as_ref().is_some_and(|own| Arc::ptr_eq(own, self)) {
                *current = None;
            }
        });
        for (_, slot) in table {
            slot.readiness.reactor_retired(self);
        }
    }

    /// Another worker polls for the owner, which computes.
    pub(crate) fn is_helped(&self) {
        // Relaxed: a hint, which publishes nothing.
        self.helped.store(true, Ordering::Relaxed);
    }

    /// The owner polls again.
    pub(super) fn is_served(&self) {
        // Relaxed: a hint, which publishes nothing.
        if self.needs_help() {
            // Relaxed: a hint, which publishes nothing.
            self.helped.store(false, Ordering::Relaxed);
        }
    }

    /// True while the owner computes: a thread that waits on another worker should register there. A hint.
    pub(crate) fn needs_help(&self) -> bool {
        // Relaxed: a hint, which publishes nothing.
        self.helped.load(Ordering::Relaxed)
    }

    /// The number of registered descriptors; a hint.
    pub(super) fn count(&self) -> usize {
        // Relaxed: a hint. Additions are made by the owner's own thread (or, outside of every worker, while
        // the owner sleeps in the epoll itself, because it runs no hosts); a removal seen late costs an empty
        // poll; a helper looks again soon.
        self.count.load(Ordering::Relaxed)
    }

    /// Must be called with the slots locked.
    fn count_changed(&self, count: usize) {
        // Relaxed: the slots' lock orders the stores; the readers take the value as a hint (see `count`).
        self.count.store(count, Ordering::Relaxed);
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(loom))]
impl AsFd for Reactor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
