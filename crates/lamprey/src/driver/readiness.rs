//! The readiness of one descriptor, and the threads and futures that wait for it.
//!
//! # States
//! Each direction (read, write) has a count of the **edges** that the kernel has reported, and a list of the
//! threads and futures that wait for the next one. An edge wakes all of them; they try their system call
//! again, and those that get `EAGAIN` wait again.
//!
//! # Invariants
//! No edge is lost: a thread reads the count *before* its system call, and enters the list only if the count
//! is still the same, under the lock under which edges are counted. So an edge since that call has either
//! changed the count or finds the thread in the list. The converse does not hold: an edge may report bytes
//! that another thread has read since, which costs one `EAGAIN`. So edges are hints, and a stray one (see
//! [`reactor`](super::reactor)) is harmless.
//!
//! # Who may touch what
//! The [`ReadinessState`]: under its lock, which is never held across a switch. A node is on the stack of a
//! blocked thread, or in a pinned future (`future`). The thread that takes a node out of a list must wake the
//! blocked thread once, or wake the waker that was in the node, after it has released the lock.
//!
//! The poll forms have no place for a node between two polls: each direction has one slot for a waker (`slot`), which the
//! next edge takes. It belongs to the task that polled last.
//!
//! Threads without a reactor (plain OS threads, or hosts under a source of another kind) wait in `poll(2)`
//! instead: on the descriptor, and on a wake eventfd by which [`close`](Readiness::close) reaches them.
//!
//! # Orderings
//! The counts are written under the lock (Release) and read without it (Acquire, before the system call: a
//! count that was read after it could hide an edge). A thread that waits compares again under the lock.
//!
//! # Where it is registered
//! With the reactor of the worker on which a thread or future first waited. While that worker computes,
//! another takes its events; a thread that starts to wait on another worker then moves the registration there
//! ([`Readiness::wait`]), so that a worker that sleeps in its epoll serves it.
//!
//! # Rejected
//! * Always moving the registration to the thread that waits: two halves of a connection on two workers would
//!   move it for each message, at two system calls each.
//! * One epoll for all workers: each event wakes any worker, and must then be passed to the host's worker.
//! * One flag for "an edge has come" that the next thread to wait clears. Of two threads that had got
//!   `EAGAIN`, the first would clear it, and the second would sleep although a second connection is waiting.
//!
//! # Checked by
//! `model::readiness` (loom, with broken variants that it catches), `tests/net/tcp.rs` (crowds on one socket,
//! runtimes that end), `tests/net/close.rs` and `tests/net/awaiting.rs` (named by the moment).

#[cfg(not(loom))]
pub(crate) mod future;
mod slot;

use crate::sync_shim::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, left_out};
#[cfg(not(loom))]
use crate::world::buggify;
use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Instant;

#[cfg(not(loom))]
use super::poll;
use super::reactor::Reactor;
use super::wakes::{FdWaiter, Wakes};
use crate::queue::list::{List, Node};
#[cfg(not(loom))]
use crate::sched::record::io::KernelWait;
use crate::sched::wait::{self, Early, Waited};
use crate::sched::{self, Wait};

/// The event that a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Data to read, a connection to accept, or the end of the stream.
    Read,
    /// Room to write, or a connection that is made or refused.
    Write,
    /// Only the deadline, or the socket's `close`.
    Close,
}

/// The readiness of one descriptor.
#[derive(Debug)]
pub(crate) struct Readiness {
    closed: AtomicBool,
    /// Edges for reading come from the ring (`driver::uring::ahead`), not from the reactor. A change makes an edge.
    served: AtomicBool,
    /// An edge has come with the end of the stream, an error or urgent data: see [`has_more_than_bytes`](Self::has_more_than_bytes).
    more: AtomicBool,
    read_edges: AtomicU64,
    write_edges: AtomicU64,
    state: Mutex<ReadinessState>,
}

#[derive(Debug)]
struct ReadinessState {
    home: Option<Home>,
    reading: List<FdWaiter>,
    writing: List<FdWaiter>,
    pausing: List<FdWaiter>,
    polling: Vec<Arc<OwnedFd>>,
    /// The tasks of the poll forms (`slot`), reading and writing.
    slots: [Option<Waker>; 2],
}

/// Where the descriptor is registered.
#[derive(Debug)]
struct Home {
    reactor: Arc<Reactor>,
    key: usize,
}

// SAFETY: the lists point to nodes on the stacks of blocked threads and in pinned futures; they are accessed
// only under the lock of the `Mutex` around `ReadinessState`, and their values, `Waiter`s and `Waker`s, may
// be used from every thread.
unsafe impl Send for ReadinessState {}

impl ReadinessState {
    fn waiters(&self, interest: Interest) -> &List<FdWaiter> {
        match interest {
            Interest::Read => &self.reading,
            Interest::Write => &self.writing,
            Interest::Close => &self.pausing,
        }
    }
}

impl Readiness {
    pub(crate) fn new() -> Arc<Self> {
        let state = ReadinessState {
            home: None,
            reading: List::new(),
            writing: List::new(),
            pausing: List::new(),
            polling: Vec::new(),
            slots: [None, None],
        };
        Arc::new(Self {
            closed: AtomicBool::new(false),
            served: AtomicBool::new(false),
            more: AtomicBool::new(false),
            read_edges: AtomicU64::new(0),
            write_edges: AtomicU64::new(0),
            state: Mutex::new(state),
        })
    }

    /// The number of edges so far. Must be read before the system call that may lead to a
    /// [`wait`](Self::wait).
    #[inline]
    pub(crate) fn edges(&self, interest: Interest) -> u64 {
        match interest {
            // Acquire: keeps the system call behind this load; pairs with the Release in `edge`.
            Interest::Read => self.read_edges.load(Ordering::Acquire),
            // Acquire: keeps the system call behind this load; pairs with the Release in `edge`.
            Interest::Write => self.write_edges.load(Ordering::Acquire),
            Interest::Close => 0,
        }
    }

    /// Waits until `fd` may be ready (a hint: the caller tries again), that is, until there have been more
    /// than `seen` edges. Also `Ok` when the socket has been closed.
    ///
    /// # Errors
    /// `TimedOut` at the deadline, `WouldBlock` on a host that is unwinding, the kernel's when it cannot
    /// register `fd`.
    #[cfg(not(loom))]
    pub(crate) fn wait(
        self: &Arc<Self>,
        fd: BorrowedFd<'_>,
        interest: Interest,
        seen: u64,
        reason: Wait,
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        if !sched::on_host() {
            return self.wait_in_poll(fd, interest, seen, deadline);
        }
        if sched::must_not_block() {
            return Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "a host that is unwinding cannot wait for a socket",
            ));
        }
        #[cfg(not(loom))]
        if buggify!("a socket that seems to be ready") {
            return Ok(());
        }
        let Some(reactor) = Reactor::current() else {
            return super::block(|| self.wait_in_poll(fd, interest, seen, deadline));
        };
        if interest != Interest::Close {
            KernelWait::on(reason, fd).begins();
        }
        self.wait_with(reactor, fd, interest, seen, reason, deadline)
    }

    /// [`wait`](Self::wait) for a thread with a reactor.
    pub(crate) fn wait_with(
        self: &Arc<Self>,
        reactor: Arc<Reactor>,
        fd: BorrowedFd<'_>,
        interest: Interest,
        seen: u64,
        reason: Wait,
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        let (node, mut result) = (OnceCell::new(), Ok(()));
        let enter = |me| {
            let node = node.get_or_init(|| Node::new(FdWaiter::Thread(me)));
            let early = left_out!(EdgeCount).then(|| self.edges(interest));
            let mut state = self.lock();
            result = self.register(&mut state, fd, reactor, interest);
            let now = early.unwrap_or_else(|| self.edges(interest));
            if result.is_err() || self.is_closed() || now != seen {
                return false;
            }
            // SAFETY: `node` is in no list, and this function does not return before it has been taken out of
            // this one.
            unsafe { state.waiters(interest).push(NonNull::from(node)) };
            true
        };
        let leave = |_| {
            // SAFETY: the node was pushed to this list or to none; the lock is held during the call.
            node.get()
                .is_some_and(|node| unsafe { self.lock().waiters(interest).remove(NonNull::from(node)) })
        };
        match wait::wait(reason.on_descriptor(fd.as_raw_fd()), deadline, enter, leave) {
            Waited::Left(Early::Cancelled) => sched::unwind_cancelled(),
            Waited::Left(Early::TimedOut) => Err(io::ErrorKind::TimedOut.into()),
            // Also after a late wake: the next wait sees the cancellation again.
            _ => result,
        }
    }

    fn register(
        self: &Arc<Self>,
        state: &mut ReadinessState,
        fd: BorrowedFd<'_>,
        reactor: Arc<Reactor>,
        interest: Interest,
    ) -> io::Result<()> {
        // Relaxed: a change makes an edge, for which the caller looks next, under the lock.
        if interest == Interest::Read && self.served.load(Ordering::Relaxed) {
            return Ok(());
        }
        match &state.home {
            None => {
                let key = reactor.add(fd, self)?;
                state.home = Some(Home { reactor, key });
            }
            Some(home) if !home.reactor.is_here() => {
                // The registration belongs to the parent process and stays there. A socket that shares the descriptor may have registered it
                // here already, so `reactor` may need a duplicate.
                let key = reactor.add(fd, self)?;
                state.home = Some(Home { reactor, key });
            }
            Some(home) if home.reactor.needs_help() && !Arc::ptr_eq(&home.reactor, &reactor) => {
                // Its worker computes. The new registration reports what is ready now, so no edge is lost; an
                // additional one is harmless. If the kernel refuses, the registration stays with the old
                // worker.
                if let Ok(key) = reactor.add(fd, self) {
                    let before = state.home.replace(Home { reactor, key });
                    before.into_iter().for_each(|home| home.reactor.remove(fd, home.key));
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// `poll(2)` on the calling kernel thread.
    #[cfg(not(loom))]
    fn wait_in_poll(
        &self,
        fd: BorrowedFd<'_>,
        interest: Interest,
        seen: u64,
        deadline: Option<Instant>,
    ) -> io::Result<()> {
        let is_over = || self.is_closed() || self.edges(interest) != seen;
        let wake_fd = poll::wake_fd();
        if let Some(wake_fd) = &wake_fd {
            self.lock().polling.push(Arc::clone(wake_fd));
        }
        // Checked after the push, so a `close`, or an edge of the ring, writes to the eventfd from now on. (Without an
        // eventfd `poll::wait` checks at intervals.)
        let result = if is_over() {
            Ok(())
        } else {
            poll::wait(fd, interest, wake_fd.as_ref(), deadline, is_over).map(|has_more| {
                if has_more {
                    self.set_more_than_bytes();
                }
            })
        };
        if let Some(wake_fd) = &wake_fd {
            self.lock().polling.retain(|other| !Arc::ptr_eq(other, wake_fd));
        }
        result
    }

    /// True once the kernel has reported more than bytes to read and room to write. After `edges`.
    #[inline]
    pub(crate) fn has_more_than_bytes(&self) -> bool {
        // Relaxed: written before the edge that came with it is counted (Release), which the caller has read (Acquire).
        self.more.load(Ordering::Relaxed)
    }

    /// Before the [`edge`](Self::edge) with which the kernel has reported the end of the stream, an error or urgent data; also
    /// after a wait in `poll(2)` in which it did, for the caller itself.
    pub(crate) fn set_more_than_bytes(&self) {
        // Relaxed: the count of edges publishes it, or it is for the caller.
        self.more.store(true, Ordering::Relaxed);
    }

    /// The kernel has reported an edge: wakes all that wait for it.
    pub(crate) fn edge(&self, read: bool, write: bool) {
        let mut wakes = Wakes::default();
        {
            let state = &mut *self.lock();
            let [reader, writer] = &mut state.slots;
            let directions = [
                (read, &self.read_edges, &state.reading, reader),
                (write, &self.write_edges, &state.writing, writer),
            ];
            for (_, edges, waiters, slot) in directions.into_iter().filter(|(came, ..)| *came) {
                // Release: pairs with the Acquire in `edges`. No other thread writes: the lock is held.
                edges.fetch_add(1, Ordering::Release);
                wakes.take_all(waiters);
                wakes.add(slot.take());
            }
        }
        wakes.give();
    }

    /// [`edge`](Self::edge), for what the descriptor does not show, or no longer: also wakes those that wait in `poll(2)`.
    #[cfg(not(loom))]
    pub(crate) fn edge_unseen(&self, read: bool, write: bool) {
        self.edge(read, write);
        self.lock().polling.iter().for_each(|wake_fd| poll::signal(wake_fd));
    }

    /// `reactor` has stopped polling: waiters are woken, try again, and register with a live reactor.
    pub(crate) fn reactor_retired(&self, reactor: &Arc<Reactor>) {
        let gone = {
            let mut state = self.lock();
            state.home.take_if(|home| Arc::ptr_eq(&home.reactor, reactor))
        };
        if left_out!(RetiredWakes) {
            return;
        }
        if gone.is_some() {
            self.edge(true, true);
        }
    }

    /// Makes every operation fail with `Closed` from now on; waiters are woken and fail.
    pub(crate) fn close(&self) {
        let mut wakes = Wakes::default();
        {
            let mut state = self.lock();
            // Release: pairs with the Acquire in `is_closed`; waiters check it under the lock, which is held
            // here.
            self.closed.store(true, Ordering::Release);
            for interest in [Interest::Read, Interest::Write, Interest::Close] {
                wakes.take_all(state.waiters(interest));
            }
            state.slots.iter_mut().for_each(|slot| wakes.add(slot.take()));
            #[cfg(not(loom))]
            state.polling.iter().for_each(|wake_fd| poll::signal(wake_fd));
        }
        wakes.give();
    }

    /// Has [`close`](Self::close) been called?
    pub(crate) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release in `close`; what its caller did before is then visible.
        self.closed.load(Ordering::Acquire)
    }

    /// Removes `fd` from its reactor. There are no waiters: the caller owns the socket. Tasks that have polled it may have left
    /// wakers, which are dropped here: it is code of the program, and the last owner of `self` may be the reactor.
    pub(crate) fn deregister(&self, fd: BorrowedFd<'_>) {
        let (home, slots) = {
            let mut state = self.lock();
            (state.home.take(), std::mem::take(&mut state.slots))
        };
        if let Some(Home { reactor, key }) = home {
            reactor.remove(fd, key);
        }
        drop(slots);
    }

    /// Whether edges for reading come from elsewhere than the reactor. The caller makes an edge after it.
    #[cfg(not(loom))]
    pub(crate) fn set_served(&self, served: bool) {
        // Relaxed: see `register`.
        self.served.store(served, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, ReadinessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
