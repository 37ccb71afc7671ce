//! Inspecting a worker whose thread computes and does not let the root run: by a signal to its kernel thread
//! (as Go preempts a goroutine, and with the same signal).
//!
//! The handler copies the running thread, its registers, the bytes of its stack ([`Sample`]), and the other
//! threads of the worker into a static place, and returns; the observer unwinds the copy. The handler
//! allocates nothing, takes no lock, follows no pointer of the stack, and calls nothing but the kernel, so it
//! may run at any instruction: in an unwind, in the allocator, in the loader, in another handler, in the
//! middle of a switch. (There the running thread is already the next one while the stack is still that of the
//! previous one, for two or three instructions: a sample taken in between shows the stack of the wrong
//! thread.)
//!
//! The handler is installed only during an inspection; the signal is SIGURG, which is ignored by default. A
//! program with a SIGURG handler of its own misses the SIGURG that come during an inspection; a late one of
//! ours reaches that handler.
//!
//! # States (`REQUEST`)
//! ```text
//! FREE --observer--> number of a kernel thread --its handler--> COPIES --handler--> DONE --observer--> FREE
//!                        \--observer gives up--> FREE
//! ```
//!
//! # Invariants
//! 1. There is one observer at a time in the process ([`LOOK`]). The static place belongs to the handler in
//!    COPIES, and to the observer in FREE and DONE.
//! 2. An observer gives up by withdrawing its request; a handler that runs later finds no request with the
//!    number of its kernel thread, and returns. The observer waits for a handler that has begun; if that
//!    takes too long (a debugger stops it), there are no inspections until the handler has ended.
//! 3. The list of a worker's threads can be walked at any instruction of that worker: [`Worker::enlist`]
//!    keeps it so.
//!
//! # Orderings
//! DONE is stored with Release and loaded with Acquire: the observer reads what the handler has written. The
//! number is stored with Release and taken with Acquire: the handler writes after the observer has read.

use super::found::{Found, Polled, Short, wait_of};
use super::sample::{Registers, Sample};
use super::unwind::Walker;
use crate::kernel::fork::PerProcess;
use crate::sched::reason::Wait;
use crate::sched::thread::{Kind, Thread};
use crate::sched::worker::Worker;
use crate::sched::worker::rounds::Rounds;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicI32, Ordering};
use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Threads that are copied, the running one first.
const MOST: usize = 32;
/// How long the observer waits for a handler that has begun.
const COPYING: Duration = Duration::from_secs(1);

/// The result of an inspection.
pub(in crate::sched) enum Look {
    /// A thread computes: that one first, then others of the worker.
    Computes(Vec<Found>, Behind),
    /// No thread runs: the worker's root will answer itself, or the worker has ended.
    Schedules,
    /// No answer.
    Silent,
}

/// What waits for a worker whose thread computes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::sched) struct Behind {
    /// How many threads are in its policy.
    pub(in crate::sched) ready: usize,
    /// The timer of a sleeping thread is overdue.
    pub(in crate::sched) is_overdue: bool,
}

/// A copy of what a thread's descriptor says, made by the handler.
#[derive(Clone, Copy)]
struct Seen {
    id: u64,
    name: Short,
    kind: Kind,
    spawn_site: Option<&'static Location<'static>>,
    parent: u64,
    wait: Option<Wait>,
    /// The parasite that it polls.
    polls: Option<Polled>,
}

struct Snapshot {
    /// All `None`: the worker is on its root.
    threads: [Option<Seen>; MOST],
    worker: usize,
    behind: Behind,
    /// When the round of the worker began, in ticks.
    round: u64,
    sample: Sample,
}

struct SnapshotCell(UnsafeCell<Snapshot>);

// SAFETY: the states of `REQUEST` give the place to one kernel thread at a time (invariant 1).
unsafe impl Sync for SnapshotCell {}

static SNAPSHOT: SnapshotCell = SnapshotCell(UnsafeCell::new(Snapshot {
    threads: [None; MOST],
    worker: 0,
    behind: Behind { ready: 0, is_overdue: false },
    round: 0,
    sample: Sample::empty(),
}));

const FREE: i32 = 0;
const COPIES: i32 = -1;
const DONE: i32 = -2;

/// FREE, COPIES, DONE, or the number of the kernel thread that is asked.
static REQUEST: AtomicI32 = AtomicI32::new(FREE);
/// An observer has it for as long as the other thread takes to answer, so not in a child made by `fork`.
static LOOK: PerProcess<Mutex<()>> = PerProcess::new();

/// Inspects the worker of the kernel thread `tid`; with its running thread's stack, if there is a walker.
/// Returns at the deadline at the latest, unless the handler has begun by then.
pub(in crate::sched) fn look(tid: libc::pid_t, walker: Option<&mut Walker<'_>>, deadline: Instant) -> Look {
    let _one = LOOK.get().lock().unwrap_or_else(PoisonError::into_inner);
    if tid <= 0 {
        return Look::Schedules;
    }
    // Acquire pairs with the Release store of DONE in `handler`, for a late handler.
    if REQUEST.load(Ordering::Acquire) == COPIES {
        return Look::Silent; // an earlier handler has begun and not ended (invariant 2)
    }
    // SAFETY: the state is not COPIES, and we hold `LOOK`: the place is the observer's (invariant 1).
    unsafe { (*SNAPSHOT.0.get()).threads = [None; MOST] };
    let Some(_installed) = Installed::new() else { return Look::Silent };
    // Release pairs with the Acquire exchange in `handler`.
    REQUEST.store(tid, Ordering::Release);
    let is_there = await_answer(tid, deadline);
    // Acquire pairs with the Release store of DONE in `handler`.
    if REQUEST.load(Ordering::Acquire) != DONE {
        return if is_there { Look::Silent } else { Look::Schedules };
    }
    // SAFETY: in DONE the place is the observer's again (invariant 1).
    let place = unsafe { &*SNAPSHOT.0.get() };
    let mut found: Vec<_> = place.threads.iter().flatten().map(|seen| seen.found(place.worker)).collect();
    let Some(running) = found.first_mut() else { return Look::Schedules };
    running.held = Some(Rounds::length_since(place.round));
    running.stack = walker.map_or_else(Vec::new, |walker| walker.walk(&place.sample));
    Look::Computes(found, place.behind)
}

/// Sends the signal, and waits for the answer or withdraws the request. False if the kernel thread has ended.
fn await_answer(tid: libc::pid_t, deadline: Instant) -> bool {
    let send = |signal: libc::c_int| {
        // SAFETY: plain numbers; for a thread that has ended the call fails.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, signal) == 0 }
    };
    let mut is_there = send(libc::SIGURG);
    let is_over = || Instant::now() > deadline;
    // Acquire pairs with the Release store of DONE in `handler`.
    while REQUEST.load(Ordering::Acquire) != DONE && is_there && !is_over() {
        std::thread::sleep(Duration::from_micros(100));
        is_there = send(0); // signal 0 only checks
    }
    // Relaxed (both): no data was handed over; the request is only withdrawn.
    if REQUEST.compare_exchange(tid, FREE, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        let deadline = Instant::now() + COPYING;
        // Acquire pairs with the Release store of DONE in `handler`.
        while REQUEST.load(Ordering::Acquire) == COPIES && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    is_there
}

impl Seen {
    fn of(thread: &Thread, is_running: bool) -> Self {
        Self {
            id: thread.label.id.get(),
            name: Short::of(thread.label.name().map_or("", |name| name)),
            kind: thread.kind,
            spawn_site: thread.spawn_site(),
            parent: if thread.kind == Kind::Host { thread.parent() } else { 0 },
            wait: if is_running { None } else { wait_of(thread) },
            polls: if is_running { thread.polls() } else { None },
        }
    }

    fn found(&self, worker: usize) -> Found {
        let name = self.name.text();
        Found {
            name: (!name.is_empty()).then(|| name.into()),
            spawn_site: self.spawn_site,
            parent: self.parent,
            wait: self.wait,
            polls: self.polls,
            ..Found::new(self.id, self.kind, worker)
        }
    }
}

/// The handler is installed until this is dropped; then the previous one is restored.
struct Installed(libc::sigaction);

impl Installed {
    fn new() -> Option<Self> {
        // SAFETY: zeroed structures are valid; the handler is async-signal-safe (it allocates nothing and
        // takes no lock).
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_SIGINFO;
            (libc::sigaction(libc::SIGURG, &raw const new, &raw mut old) == 0).then_some(Self(old))
        }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        // SAFETY: installs the action that the kernel returned in `new`.
        unsafe { libc::sigaction(libc::SIGURG, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// The signal handler: copies the worker's threads and the interrupted stack, if its kernel thread is asked.
///
/// # Safety
/// Called only by the kernel, as a handler with SA_SIGINFO.
unsafe extern "C" fn handler(_: libc::c_int, _: *mut libc::siginfo_t, machine: *mut libc::c_void) {
    // SAFETY: takes no arguments and touches no memory.
    let me = unsafe { libc::gettid() };
    // Acquire pairs with the Release store in `look`. Relaxed on failure: no data was handed over.
    if REQUEST.compare_exchange(me, COPIES, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    if let Some(worker) = Worker::current().filter(|worker| !worker.is_on_root()) {
        // SAFETY: in COPIES the place is the handler's (invariant 1); `machine` is the kernel's argument.
        unsafe {
            let place = &mut *SNAPSHOT.0.get();
            place.note(worker);
            place.sample.take(Registers::interrupted(machine.cast()));
        }
        // The root runs at the next scheduling point: it answers a survey, and shows the observer that the worker goes on.
        worker.budget.set(1);
    }
    // Release pairs with the Acquire loads in `look` and `await_answer`.
    REQUEST.store(DONE, Ordering::Release);
}

impl Snapshot {
    /// Copies the threads of the worker, the running one first.
    fn note(&mut self, worker: &Worker) {
        let running = worker.running_ref();
        self.worker = worker.remote.index;
        self.round = worker.rounds.measured.get();
        self.behind = Behind { ready: worker.policy.glance(), is_overdue: (worker.shared.is_overdue)() };
        self.threads[0] = Some(Seen::of(running, true));
        let mut next = worker.newest.get();
        let mut free = self.threads[1..].iter_mut();
        // SAFETY: the list can be walked at any instruction of its worker (invariant 3), whose kernel thread
        // this is.
        while let Some(thread) = unsafe { next.as_ref() } {
            next = thread.older.get();
            if !std::ptr::eq(thread, running) {
                let Some(place) = free.next() else { break };
                *place = Some(Seen::of(thread, false));
            }
        }
    }
}
