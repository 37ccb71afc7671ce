//! [`Epoll`]: the event loop that a scheduler of traces gives its waiting threads to
//! (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, 4.5 and Figure 16).
//!
//! A descriptor is registered for one event at a time (`EPOLLONESHOT`), with what all its threads wait for. The
//! table of threads is under a lock; a registration is made with the lock held, and an event looks its
//! descriptor up under it, so an event never finds its threads missing. A waiting thread keeps its
//! descriptor open, so a number in the table is never that of another file; one that has been left in the epoll
//! without a thread is asked to come once more at most, and finds none.

use super::thread::Trace;
use super::wait::{EpollWait, Interest};
use crate::kernel::epoll::try_wait;
use crate::kernel::fork::{self, Process};
use crate::sync_shim::watched::{Mutex, MutexGuard};
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::PoisonError;
use std::time::Duration;

/// The data of the eventfd's event: no descriptor's number.
const NOTIFY: u64 = u64::MAX;
/// The most events that one call takes.
const BATCH: usize = 256;

/// An epoll, and the threads that wait for its descriptors. One kernel thread or several
/// [`wait`](Self::wait) for events, any may [`add`](Self::add) threads. In a child made by `fork` it is the parent's, which does not notice
/// what the child does with it: both calls return errors.
///
/// # Examples
/// ```
/// use lamprey::trace::{Call, Epoll, Interest, Trace, epoll_wait};
/// use std::io::Write;
/// use std::os::unix::net::UnixStream;
/// use std::sync::Arc;
///
/// let (mut here, there) = UnixStream::pair()?;
/// let there = Arc::new(there);
/// let trace = Trace::new(async move { epoll_wait(&there, Interest::Read).await.unwrap() });
///
/// let epoll = Epoll::new()?;
/// let Call::EpollWait(wait) = trace.step() else { panic!("another call") };
/// epoll.add(wait).expect("sockets can be waited for");
/// here.write_all(b"hello")?;
/// let ready = epoll.wait(None)?;
/// assert_eq!(ready.len(), 1);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Epoll {
    epoll: OwnedFd,
    notify: OwnedFd,
    waiting: Mutex<HashMap<RawFd, Vec<EpollWait>>>,
    /// Whose epoll it is: a child of that process shares it.
    process: Process,
}

impl Epoll {
    /// An event loop in which no thread waits.
    ///
    /// # Errors
    /// The kernel's, when it is out of descriptors or memory.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let notify = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &notify, EventData::new_u64(NOTIFY), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll, notify, waiting: Mutex::default(), process: Process::this() })
    }

    /// Keeps a thread until its descriptor is ready: [`wait`](Self::wait) returns it then.
    ///
    /// # Errors
    /// The thread, which finds the kernel's error when it is stepped: the descriptor has no readiness
    /// (`EPERM`: a file on a disk), or the kernel is out of memory for registrations.
    pub fn add(&self, wait: EpollWait) -> Result<(), Trace> {
        if !self.process.is_this() {
            return Err(wait.failed(fork::of_parent()));
        }
        let fd = wait.as_fd().as_raw_fd();
        let mut waiting = self.waiting();
        let others = waiting.entry(fd).or_default();
        others.push(wait);
        let registered = self.register(fd, others);
        let Err(error) = registered else { return Ok(()) };
        let wait = others.pop().expect("it has just been pushed");
        if others.is_empty() {
            waiting.remove(&fd);
        }
        drop(waiting);
        Err(wait.failed(error.into()))
    }

    /// Asks for one event of what `threads` wait for.
    fn register(&self, fd: RawFd, threads: &[EpollWait]) -> Result<(), Errno> {
        let Some(any) = threads.first() else { return Ok(()) };
        let flags = threads.iter().fold(EventFlags::ONESHOT, |flags, wait| flags | flag(wait.interest()));
        let data = EventData::new_u64(fd as u64);
        match epoll::modify(&self.epoll, any, data, flags) {
            Err(Errno::NOENT) => epoll::add(&self.epoll, any, data, flags),
            done => done,
        }
    }

    /// Waits until a descriptor is ready, the timeout, or [`notify`](Self::notify), and returns the threads
    /// that can go on.
    ///
    /// # Errors
    /// The kernel's.
    ///
    /// # Cancellation
    /// Not interruptible.
    ///
    /// # Blocking
    /// The calling kernel thread.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<Vec<Trace>> {
        if !self.process.is_this() {
            return Err(fork::of_parent());
        }
        let mut room = [const { MaybeUninit::<Event>::uninit() }; BATCH];
        let events = match try_wait(&self.epoll, &mut room, timeout) {
            Err(Errno::INTR) => &mut [],
            found => found?,
        };
        let (mut ready, mut failed) = (Vec::with_capacity(events.len()), Vec::new());
        let mut waiting = self.waiting();
        for event in &*events {
            if event.data.u64() != NOTIFY {
                self.take(&mut waiting, event.data.u64() as RawFd, event.flags, &mut ready, &mut failed);
            }
        }
        // Descriptors are dropped and threads polled, which may call this again, without the lock.
        drop(waiting);
        let failed = failed.into_iter().map(|(wait, error): (EpollWait, Errno)| wait.failed(error.into()));
        Ok(ready.into_iter().map(EpollWait::ready).chain(failed).collect())
    }

    /// Takes the threads of `fd` that `flags` concern, and asks for the next event for the others.
    fn take(
        &self,
        waiting: &mut HashMap<RawFd, Vec<EpollWait>>,
        fd: RawFd,
        flags: EventFlags,
        ready: &mut Vec<EpollWait>,
        failed: &mut Vec<(EpollWait, Errno)>,
    ) {
        let Some(threads) = waiting.get_mut(&fd) else { return };
        let is_over = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        ready.extend(threads.extract_if(.., |wait| is_over || flags.intersects(flag(wait.interest()))));
        if let Err(error) = self.register(fd, threads) {
            failed.extend(threads.drain(..).map(|wait| (wait, error)));
        }
        if threads.is_empty() {
            waiting.remove(&fd);
        }
    }

    /// Ends one [`wait`](Self::wait), the present or the next.
    pub fn notify(&self) {
        if !self.process.is_this() {
            return;
        }
        // An error means that the counter is full: a wait is to end anyway.
        let _ = rustix::io::write(&self.notify, &1u64.to_ne_bytes());
    }

    /// How many threads wait.
    pub fn len(&self) -> usize {
        self.waiting().values().map(Vec::len).sum()
    }

    /// True if no thread waits.
    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RawFd, Vec<EpollWait>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flag(interest: Interest) -> EventFlags {
    match interest {
        Interest::Read => EventFlags::IN | EventFlags::RDHUP,
        Interest::Write => EventFlags::OUT,
    }
}
