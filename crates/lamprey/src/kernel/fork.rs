//! Which process this is: a child made by `fork` has the memory of its parent, but of its kernel threads only the one that called
//! `fork`. Numbers of processes do not tell them apart: both may have number 1, in different namespaces.
//!
//! What names a kernel thread, a ring, an epoll instance or an eventfd, or may be locked for long, belongs to one process: if it is
//! static, by [`PerProcess`]; if it is an object or thread-local, by a [`Process`] in it.
//!
//! | what | in a child |
//! |---|---|
//! | the service for futures, the reaper and its children, look-ups, standard streams, the list of runtimes, an observer's locks | [`PerProcess`]: begins anew |
//! | `Reactor`, `Readiness` | nothing is added to the parent's, or removed; what waits is registered with one of the child's |
//! | `WAKE_FD`, the eventfd of a thread in `poll(2)` | another one |
//! | `trace::Aio`, `trace::Epoll` | nothing is added or taken: `wait` returns an error |
//! | `Ring`, `Ahead` | operations are not given up; a multishot begins anew |
//! | `Shared` (a runtime) | takes no thread, and has ended |
//! | `CURRENT` and others, the thread-locals of a worker (`sched::forked`) | taken away: the thread is a worker no more |
//! | a listener for signals | returns errors (`signal::mail`, by the process's number, as for `vfork`) |
//! | `SEATS_OF_ALL`, who commits transactions | no other thread of the parent does |
//! | file watches, pools, timers, sources | belong to a runtime |
//!
//! These statics are as they were in the parent. Their locks are held for moments, in which no code of the program runs, and are
//! documented as what a child may find locked:
//!
//! | static | why it stays |
//! |---|---|
//! | `SETTINGS` | what the program has set; only tried |
//! | `INSTALLED`, `MARKED`, `ONCE`, `HANDLER`, `FORK`, `KEY`, `LIST` | what has been installed is installed in the child |
//! | `FOUND`, `START`, `SOURCES`, `MODE`, `SOON`, `PER_MILLISECOND`, `IN_256` | constants |
//! | `LOOKING`, `LOST` | whether a library's lock is free: the handler of forks sets them |
//! | `SAID` | what has been said is not said again |
//! | `REPORTING` | if a report was under way, the child's watchdog is silent |
//! | `OF_PARASITES` | values by the addresses of tasks, which a child has, too |
//! | `TABLE` | the slots of workers: those of the parent's stay taken |
//! | `GRAPH` | the orders of locks, which the child has, too |
//! | `ALL`, `STACKS` | memory for transactions, and for simulations |
//!
//! # Rejected
//! * Taking all locks before each `fork` (`pthread_atfork`), so that none is locked in the child: every lock would have a place in one
//!   order, and a `fork` would wait for all of them; those of objects are not known.
//! * Starting the parent's kernel threads anew in the child: what they were in the middle of is not known.
//!
//! # Checked by
//! `tests/fork`; `check-source`, for a static that is in neither table.

use crate::sync_shim::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr;
use std::sync::Once;

/// The process in which something was made that names what a child made by `fork` does not have (a kernel thread, a ring), or shares
/// with its parent (an epoll instance, an eventfd).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    generation: usize,
}

impl Process {
    pub(crate) fn this() -> Self {
        Self { generation: generation() }
    }

    /// False in a child of it.
    pub(crate) fn is_this(self) -> bool {
        self == Self::this()
    }
}

/// The error of what belongs to the parent.
pub(crate) fn of_parent() -> std::io::Error {
    std::io::Error::other("it was made before a fork, and belongs to the parent: make a new one in the child")
}

static FORKS: AtomicUsize = AtomicUsize::new(0);

/// How many forks lie between this process and the one in which this was called first.
pub(crate) fn generation() -> usize {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| in_children(forked));
    // Relaxed: changed while the process has one thread only.
    FORKS.load(Ordering::Relaxed)
}

/// Calls `f` in each child that is made by `fork` from now on, on its only thread, before the call of `fork` returns there. It waits for
/// nobody. (If there is no memory for it, it is not called.)
pub(crate) fn in_children(f: extern "C" fn()) {
    if !cfg!(miri) {
        // SAFETY: the child's only thread may do what it may do anywhere, as long as it waits for none that it does not have.
        unsafe { libc::pthread_atfork(None, None, Some(f)) };
    }
}

extern "C" fn forked() {
    // Relaxed: the child's only thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A static value that each process has for itself: a child made by `fork` begins with a new one. (Its parent's may be locked for ever,
/// by a thread that the child does not have.)
///
/// # Invariants
/// 1. `place` is null or from `Box::leak`, and constant once it is reachable.
pub(crate) struct PerProcess<T: 'static> {
    place: AtomicPtr<OfProcess<T>>,
    make: fn() -> T,
}

struct OfProcess<T> {
    generation: usize,
    value: T,
}

impl<T: Sync + 'static> PerProcess<T> {
    pub(crate) const fn new() -> Self
    where
        T: Default,
    {
        Self::made_by(T::default)
    }

    /// `make` may be called by several threads at once; one of the values stays.
    pub(crate) const fn made_by(make: fn() -> T) -> Self {
        Self { place: AtomicPtr::new(ptr::null_mut()), make }
    }

    /// The value of this process, made when it is first asked for.
    pub(crate) fn get(&'static self) -> &'static T {
        let generation = generation();
        loop {
            // Acquire pairs with the Release exchange below.
            let there = self.place.load(Ordering::Acquire);
            // SAFETY: null, or never freed (invariant 1).
            if let Some(of) = unsafe { there.as_ref() }.filter(|of| of.generation == generation) {
                return &of.value;
            }
            let made = Box::into_raw(Box::new(OfProcess { generation, value: (self.make)() }));
            // Release pairs with the Acquire load above. Relaxed on failure: the next round reads it.
            if self.place.compare_exchange(there, made, Ordering::Release, Ordering::Relaxed).is_err() {
                // SAFETY: just made, and not published.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }
}
