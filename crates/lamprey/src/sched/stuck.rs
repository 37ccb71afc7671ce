//! A look at a worker whose thread computes and does not let the root in: by a signal to its kernel thread.
//!
//! The handler runs on the stack of whatever computes. It copies who that is, where, and who else is on the worker, into a
//! static place. It allocates nothing, takes no lock, and calls only the unwinder. It is in place only while somebody looks; the
//! signal is SIGURG, which by default does nothing.
//!
//! # Invariants
//! 1. One look at a time in the process ([`LOOK`]); the place is the handler's from `signal` to `is_done`, the looker's after.
//! 2. A look that was given up leaves the place to the handler for ever: there are no more looks.
//! 3. The list of a worker's threads can be walked at any instruction of that worker: see [`Worker::enlist`].

use super::reason::Wait;
use super::survey::{DEPTH, Found, wait_of, walk};
use super::thread::{Kind, Thread};
use super::worker::Worker;
use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a look takes at most.
const PATIENCE: Duration = Duration::from_millis(200);
/// Threads that are copied, the running one first.
const MOST: usize = 32;
/// Bytes of a name that are copied.
const NAME: usize = 64;

/// A thread, as the handler sees it.
#[derive(Clone, Copy)]
struct Seen {
    id: u64,
    name: [u8; NAME],
    name_length: usize,
    is_parasite: bool,
    spawn_site: &'static Location<'static>,
    wait: Option<Wait>,
}

struct Place {
    threads: [Option<Seen>; MOST],
    worker: usize,
    stack: [usize; DEPTH],
    depth: usize,
}

struct Shared(UnsafeCell<Place>);

// SAFETY: invariant 1.
unsafe impl Sync for Shared {}

static PLACE: Shared =
    Shared(UnsafeCell::new(Place { threads: [None; MOST], worker: 0, stack: [0; DEPTH], depth: 0 }));
static IS_DONE: AtomicBool = AtomicBool::new(true);
static LOOK: Mutex<()> = Mutex::new(());

/// What the worker of the kernel thread `tid` does; nothing if that cannot be found out.
pub(super) fn look(tid: libc::pid_t) -> Vec<Found> {
    let _one = LOOK.lock().unwrap_or_else(PoisonError::into_inner);
    // Acquire pairs with the Release store in `handler`. Not done: a look was given up.
    if tid == 0 || !IS_DONE.load(Ordering::Acquire) {
        return Vec::new();
    }
    // SAFETY: ours (invariant 1).
    unsafe { (*PLACE.0.get()).threads = [None; MOST] };
    let Some(_installed) = Installed::new() else { return Vec::new() };
    // Release pairs with nothing: the kernel orders it before the handler.
    IS_DONE.store(false, Ordering::Release);
    // SAFETY: plain numbers; a thread that is gone gives an error.
    if unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGURG) } != 0 {
        // Relaxed: nobody else looks.
        IS_DONE.store(true, Ordering::Relaxed);
        return Vec::new();
    }
    let deadline = Instant::now() + PATIENCE;
    // Acquire pairs with the Release store in `handler`.
    while !IS_DONE.load(Ordering::Acquire) {
        if Instant::now() > deadline {
            return Vec::new(); // invariant 2
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: ours again (invariant 1).
    let place = unsafe { &*PLACE.0.get() };
    let found = place.threads.iter().flatten().enumerate();
    found.map(|(n, seen)| seen.found(place, n == 0)).collect()
}

impl Seen {
    fn of(thread: &Thread, is_running: bool) -> Self {
        let text = thread.label.name.as_deref().unwrap_or("").as_bytes();
        let name_length = text.len().min(NAME);
        let mut name = [0; NAME];
        name[..name_length].copy_from_slice(&text[..name_length]);
        Self {
            id: thread.label.id.get(),
            name,
            name_length,
            is_parasite: thread.kind == Kind::Parasite,
            spawn_site: thread.label.spawn_site.get(),
            wait: if is_running { None } else { wait_of(thread) },
        }
    }

    fn found(&self, place: &Place, is_running: bool) -> Found {
        let name = String::from_utf8_lossy(&self.name[..self.name_length]);
        Found {
            id: self.id,
            name: (self.name_length != 0).then(|| name.into()),
            is_parasite: self.is_parasite,
            worker: place.worker,
            spawn_site: self.spawn_site,
            wait: self.wait,
            stack: if is_running { place.stack[..place.depth].to_vec() } else { Vec::new() },
        }
    }
}

/// The handler is in place, and what was there before comes back.
struct Installed(libc::sigaction);

impl Installed {
    fn new() -> Option<Self> {
        // SAFETY: zeroed structures are valid; the handler is as the module's text says.
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            (libc::sigaction(libc::SIGURG, &raw const new, &raw mut old) == 0).then_some(Self(old))
        }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        // SAFETY: what the kernel gave us.
        unsafe { libc::sigaction(libc::SIGURG, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// See the module's text.
extern "C" fn handler(_: libc::c_int) {
    // Relaxed: the kernel orders it after the store in `look`. A signal that nobody sent for us is not answered.
    if IS_DONE.load(Ordering::Relaxed) {
        return;
    }
    let Some(worker) = Worker::current().filter(|worker| !worker.is_on_root()) else {
        // Release pairs with the Acquire loads in `look`.
        return IS_DONE.store(true, Ordering::Release);
    };
    // SAFETY: ours (invariant 1).
    let place = unsafe { &mut *PLACE.0.get() };
    let running = worker.running_ref();
    place.worker = worker.seat.index;
    place.threads[0] = Some(Seen::of(running, true));
    let mut next = worker.newest.get();
    let mut free = place.threads[1..].iter_mut();
    // SAFETY: invariant 3.
    while let Some(thread) = unsafe { next.as_ref() } {
        next = thread.older.get();
        if !std::ptr::eq(thread, running) {
            let Some(place) = free.next() else { break };
            *place = Some(Seen::of(thread, false));
        }
    }
    place.depth = 0;
    walk(|ip| {
        place.stack[place.depth] = ip;
        place.depth += 1;
        place.depth < DEPTH
    });
    // Release pairs with the Acquire loads in `look`.
    IS_DONE.store(true, Ordering::Release);
}
