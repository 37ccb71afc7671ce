//! The event loop of a worker: epoll as a [`Source`], which the worker polls between hosts and in which it
//! sleeps.
//!
//! Invariant: an [`Epoll`] is made, used and dropped on one kernel thread, that of its worker; other threads
//! touch only its [`Reactor`] (to remove a registration) and its eventfd (to end a [`wait`](Source::wait)).
//!
//! While the worker computes, other workers take events out of the epoll ([`Source::helper`]). Each event is
//! taken once, by either, and wakes the waiters in both cases. The eventfd's event is for the owner alone:
//! another worker that takes it writes to the eventfd again.
//!
//! The eventfd is edge-triggered and never read: each write is an edge, and its counter would need 584 years
//! of writes at one a nanosecond to overflow. A write whose edge [`poll`](Source::poll) takes is remembered
//! and ends the next `wait`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};

use super::reactor::Reactor;
use super::readiness::Readiness;
use crate::kernel::epoll::{Failed, fetch, wait};
use crate::sched::source::{Helper, Notifier, Source};
use crate::world;

/// The event data of the eventfd; no slab ever has this many slots.
const NOTIFY_KEY: u64 = u64::MAX;
/// Events fetched by one system call; the next one fetches the rest.
const BATCH: usize = 256;
/// The largest number of batches that a helper fetches in one call.
const MOST_BATCHES: usize = 16;

/// The event loop for sockets: Linux epoll, edge-triggered, one instance for each worker.
///
/// A socket is registered when an operation on it has to wait for the first time, with the event loop of the
/// worker on which that happens. It stays there until it is dropped, unless that worker computes while a
/// thread waits for the socket on another worker. A runtime uses this source unless its builder is given
/// another.
#[derive(Debug)]
pub struct Epoll {
    reactor: Arc<Reactor>,
    notify: Arc<OwnedFd>,
    events: Box<[MaybeUninit<Event>; BATCH]>,
    found: Vec<(Arc<Readiness>, EventFlags)>,
    notified: bool,
}

/// Which of the events that were there have been fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetched {
    All,
    /// A full batch; there may be more.
    Some,
    /// None: the call has failed, and may fail again at once.
    Failed,
}

impl Epoll {
    /// An event loop for the calling kernel thread, which must be that of the worker that will own it.
    ///
    /// # Errors
    /// The kernel's, when it is out of descriptors or memory.
    pub fn new() -> io::Result<Self> {
        let notify = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let reactor = Reactor::install()?;
        epoll::add(&*reactor, &*notify, EventData::new_u64(NOTIFY_KEY), EventFlags::IN | EventFlags::ET)?;
        Ok(Self {
            reactor,
            notify,
            events: Box::new([const { MaybeUninit::uninit() }; BATCH]),
            found: Vec::with_capacity(BATCH),
            notified: false,
        })
    }

    /// Fetches one batch of events and wakes their waiters.
    fn turn(&mut self, timeout: Option<Duration>) -> Fetched {
        self.reactor.is_served();
        let events = match wait(&*self.reactor, &mut self.events[..], timeout) {
            Ok(events) => events,
            // A simulation concludes from nothing that nothing is under way.
            Err(Failed) if world::is_simulated() => fetch(&*self.reactor, &mut self.events[..]),
            Err(Failed) => return Fetched::Failed,
        };
        let is_full = events.len() == BATCH;
        if !events.is_empty() {
            self.notified |= dispatch(&self.reactor, events, &mut self.found);
        }
        if is_full { Fetched::Some } else { Fetched::All }
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reactor.as_fd()
    }
}

/// For a source that this one is a part of.
impl Epoll {
    /// Says that the owner looks for events itself, though it has no reason to fetch any.
    pub(super) fn is_served(&self) {
        self.reactor.is_served();
    }

    /// Fetches what is there, as far as that is not very much.
    pub(super) fn poll_many(&mut self) -> Fetched {
        let mut turns = (0..MOST_BATCHES).map(|_| self.turn(Some(Duration::ZERO)));
        turns.find(|fetched| *fetched != Fetched::Some).unwrap_or(Fetched::Some)
    }
}

/// Wakes the waiters for `events`; true if one of them is the eventfd's.
fn dispatch(reactor: &Reactor, events: &[Event], found: &mut Vec<(Arc<Readiness>, EventFlags)>) -> bool {
    let keys = events.iter().filter(|event| event.data.u64() != NOTIFY_KEY);
    reactor.dispatch(keys.map(|event| (event.data.u64() as usize, event.flags)), found);
    events.iter().any(|event| event.data.u64() == NOTIFY_KEY)
}

/// Does the owner's work on another worker: fetches the events that are there and wakes their waiters.
fn help(reactor: &Reactor, notify: &OwnedFd) {
    if reactor.count() == 0 {
        return;
    }
    reactor.is_helped();
    let mut events = [const { MaybeUninit::uninit() }; BATCH];
    let mut found = Vec::new();
    let mut notified = false;
    for _ in 0..MOST_BATCHES {
        let fetched = wait(reactor, &mut events[..], Some(Duration::ZERO)).unwrap_or_default();
        let is_last = fetched.len() < BATCH;
        notified |= dispatch(reactor, fetched, &mut found);
        if is_last {
            break;
        }
    }
    if notified {
        ring(notify);
    }
}

/// Generates an edge of the eventfd.
pub(super) fn ring(notify: &OwnedFd) {
    // Fails only when the counter is full; then there is an edge that has not been taken.
    let _ = rustix::io::write(notify, &1_u64.to_ne_bytes());
}

impl Source for Epoll {
    fn poll(&mut self) {
        self.turn(Some(Duration::ZERO));
    }

    fn active(&self) -> bool {
        self.reactor.count() != 0
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        if std::mem::take(&mut self.notified) {
            return self.poll();
        }
        // Interrupted by a signal it finds nothing: the worker looks around as after a wake.
        self.turn(timeout);
        self.notified = false;
    }

    fn notifier(&self) -> Option<Notifier> {
        let notify = Arc::clone(&self.notify);
        Some(Notifier::new(move || ring(&notify)))
    }

    fn helper(&self) -> Option<Helper> {
        // Weak: the epoll is closed with its worker.
        let (reactor, notify) = (Arc::downgrade(&self.reactor), Arc::clone(&self.notify));
        Some(Helper::new(move || {
            if let Some(reactor) = reactor.upgrade() {
                help(&reactor, &notify);
            }
        }))
    }
}

impl Drop for Epoll {
    fn drop(&mut self) {
        self.reactor.retire();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
