//! The children that nobody waits for any more: a kernel thread, started on demand, reaps each when it has ended.
//!
//! # Invariants
//! * The list, under its lock, owns the children; only the thread takes one out. So a child's number is not used again while it is
//!   in the list.
//! * While the list is not empty, the thread runs, or could not be started: then the next child that is added tries again.
//! * The thread asks each child of the list at least each [`PATROL`] if it has no pidfd (no descriptors are left, or the kernel
//!   refuses one), or if that said that it has ended, and it has not.
//!
//! # Rejected
//! * `SIGCHLD`: there is one handler in a process, it is told of all children at once, and the program's own handlers and
//!   libraries have it already.
//! * `waitpid(-1)`: it takes the status of children that others wait for.

use crate::kernel::epoll::wait as wait_in;
use crate::kernel::fork::PerProcess;
use crate::sched::affinity::unpinned;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

/// How often children without a pidfd are asked.
const PATROL: Duration = Duration::from_millis(100);
/// The thread ends when there has been no child for so long.
const IDLE: Duration = Duration::from_secs(10);

/// A child made by `fork` has neither the thread nor the children, and its own must not enter the epoll instance of its parent.
static ORPHANS: PerProcess<Mutex<Orphans>> = PerProcess::new();

#[derive(Default)]
struct Orphans {
    /// The children with a pidfd, by the number that epoll reports. Made by the first one.
    watched: Option<Watched>,
    unwatched: Vec<Child>,
    next: u64,
    is_running: bool,
}

struct Watched {
    epoll: Arc<OwnedFd>,
    /// Written to when a child is added that has no pidfd.
    wake: OwnedFd,
    children: HashMap<u64, (Child, OwnedFd)>,
}

/// The number of `wake`.
const WAKE: u64 = u64::MAX;

impl Watched {
    fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll: epoll.into(), wake, children: HashMap::new() })
    }
}

fn lock() -> MutexGuard<'static, Orphans> {
    ORPHANS.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes care of `child`, which may not have been reaped.
pub(super) fn adopt(mut child: Child) {
    if !is_running(&mut child) {
        return;
    }
    let mut orphans = lock();
    if let Err(child) = orphans.watch(child) {
        orphans.unwatched.push(child);
        if let Some(watched) = &orphans.watched {
            // It fails only if the count is full, and then the thread is awake.
            let _ = rustix::io::write(&watched.wake, &1_u64.to_ne_bytes());
        }
    }
    if !orphans.is_running {
        let thread = thread::Builder::new().name("lamprey-reaper".into()).stack_size(64 << 10);
        orphans.is_running = thread.spawn(unpinned(run)).is_ok();
    }
}

/// An error means that others have reaped it, or that the program ignores `SIGCHLD`.
fn is_running(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}

impl Orphans {
    fn watch(&mut self, child: Child) -> Result<(), Child> {
        if self.watched.is_none() {
            self.watched = Watched::new().ok();
        }
        let Some(watched) = &mut self.watched else { return Err(child) };
        let Ok(pidfd) = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) else { return Err(child) };
        let key = self.next;
        self.next += 1;
        // One that has ended meanwhile is reported at once.
        if epoll::add(&watched.epoll, &pidfd, EventData::new_u64(key), EventFlags::IN).is_err() {
            return Err(child);
        }
        watched.children.insert(key, (child, pidfd));
        Ok(())
    }

    /// Moves the children of which the kernel says that they have ended to those that are asked.
    fn unwatch(&mut self, ended: &[u64]) {
        let Some(watched) = &mut self.watched else { return };
        let children = ended.iter().filter_map(|key| watched.children.remove(key));
        self.unwatched.extend(children.map(|(child, _pidfd)| child));
    }

    fn is_empty(&self) -> bool {
        self.unwatched.is_empty() && self.watched.as_ref().is_none_or(|watched| watched.children.is_empty())
    }
}

/// The thread.
fn run() {
    loop {
        let (epoll, patrol) = {
            let orphans = lock();
            (orphans.watched.as_ref().map(|watched| watched.epoll.clone()), !orphans.unwatched.is_empty())
        };
        let ended = wait(epoll.as_deref(), if patrol { PATROL } else { IDLE });
        let mut orphans = lock();
        orphans.unwatch(&ended);
        orphans.unwatched.retain_mut(is_running);
        if ended.is_empty() && orphans.is_empty() {
            orphans.watched = None;
            orphans.is_running = false;
            return;
        }
    }
}

/// The numbers of children that have ended, after at most `limit`.
fn wait(epoll: Option<&OwnedFd>, limit: Duration) -> Vec<u64> {
    let Some(epoll) = epoll else {
        thread::sleep(limit);
        return Vec::new();
    };
    let mut room = [const { MaybeUninit::<Event>::uninit() }; 64];
    wait_in(epoll, &mut room, Some(limit)).unwrap_or_default().iter().map(|event| event.data.u64()).collect()
}
