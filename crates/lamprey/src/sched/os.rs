//! How a plain OS thread blocks: by parking the kernel thread.
//!
//! # States (`state`)
//! ```text
//! RUNS --the thread parks without a limit--> RESTS --wake--> WOKEN --the thread has seen it--> RUNS
//!   \--wake----------------------------------------------> WOKEN
//!                                   RESTS --nudge, or it has returned from the park--> RUNS
//! ```
//! RUNS is waiting with a limit, too. Who ends RESTS takes the thread out of the number of those that [rest](resting).
//!
//! # Invariants
//! 1. There is at most one wake for each wait (the right to wake goes with the removed node), so WOKEN can
//!    be a state. This is checked.
//! 2. The waker clones the thread's parker *before* it writes WOKEN: after that the thread may
//!    return and end, and its descriptor with it.
//!
//! # Orderings
//! WOKEN is written with Release and read with Acquire in `take_wake`: what the waker wrote before is visible. The number
//! of those that rest is for an observer that waits until nothing runs
//! ([`standstill`](super::inspect::standstill)).
//!
//! # Checked by
//! `model::channel` and most others (loom): a thread of the checker takes this path, unless it is a host
//! (`model::host_waits`).

use super::cancel::frame::Frame;
use super::cancel::state::{Outlook, outlook};
#[cfg(not(loom))]
use super::inspect::os_waits::Listed;
use super::reason::On;
use super::thread::{Thread, Woke};
#[cfg(not(loom))]
use crate::kernel::fork;
use crate::memory::lasting::lasting_local;
use crate::sync_shim::{AtomicUsize, Ordering, Parker};
#[cfg(not(loom))]
use crate::world;
use crate::world::has_passed;
use std::cell::Cell;
use std::ptr::NonNull;
use std::time::Instant;

/// A kernel thread as a waiter. `descriptor` comes first, so that a [`Waiter`](super::Waiter) can point at
/// either.
#[repr(C)]
pub(crate) struct OsThread {
    descriptor: Thread,
    state: AtomicUsize,
    parker: Parker,
}

const RUNS: usize = 0;
const RESTS: usize = 1;
const WOKEN: usize = 2;

/// The number of kernel threads in RESTS, of the process of this [`GENERATION`]. (The loom models do not use it.)
#[cfg(not(loom))]
static RESTING: AtomicUsize = AtomicUsize::new(0);
#[cfg(not(loom))]
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// One more rests.
#[cfg(not(loom))]
fn begin_rest() {
    let here = fork::generation();
    // Relaxed (both): a number.
    if GENERATION.load(Ordering::Relaxed) != here && GENERATION.swap(here, Ordering::Relaxed) != here {
        // In a child made by `fork`, where none of the threads is that are counted. Relaxed: should another one rest at the
        // same time, the number is too small, and no program is said to stand still.
        RESTING.store(0, Ordering::Relaxed);
    }
    // Release pairs with the Acquire load in `resting`.
    RESTING.fetch_add(1, Ordering::Release);
}

/// How many kernel threads wait in a call of this crate without a limit, and have not been woken.
#[cfg(not(loom))]
pub(super) fn resting() -> usize {
    // Relaxed: a number. It is that of the parent where nobody has rested since a `fork`.
    if GENERATION.load(Ordering::Relaxed) != fork::generation() {
        return 0;
    }
    // Acquire pairs with the Release changes: a thread that is counted has parked.
    RESTING.load(Ordering::Acquire)
}

/// The calling kernel thread counts as one that rests, until this is dropped: it looks at threads, and wakes none.
#[cfg(not(loom))]
pub(crate) struct LooksOnly(());

#[cfg(not(loom))]
impl LooksOnly {
    pub(crate) fn begin() -> Self {
        begin_rest();
        Self(())
    }
}

#[cfg(not(loom))]
impl Drop for LooksOnly {
    fn drop(&mut self) {
        // Release pairs with the Acquire load in `resting`.
        RESTING.fetch_sub(1, Ordering::Release);
    }
}

lasting_local! {
    /// There until the end, as destructors of thread-locals may block. At an exit of the process it stays: the caller's stack does,
    /// and another thread that cancels a level on it still unparks it.
    static ME: Me = Me { own: OsThread::of_current(), acting: Cell::new(std::ptr::null()) };
}

/// Who waits if the calling kernel thread does.
struct Me {
    own: OsThread,
    /// Not null within [`as_another`].
    acting: Cell<*const OsThread>,
}

impl Me {
    fn acting(&self) -> &OsThread {
        // SAFETY: null, or owned by the call of `as_another` that is under way; it restores the pointer before it frees it,
        // and who calls this returns before.
        unsafe { self.acting.get().as_ref() }.unwrap_or(&self.own)
    }
}

/// Runs `f` as a kernel thread of its own would: with its own waits, levels and locals, which end with it. In a simulation
/// calls that block share the kernel thread, and one may begin while another one waits.
#[cfg(not(loom))]
pub(crate) fn as_another<R>(f: impl FnOnce() -> R) -> R {
    struct Until(*const OsThread);
    impl Drop for Until {
        fn drop(&mut self) {
            ME.with(|me| me.acting.set(self.0));
        }
    }
    let another = OsThread::of_current();
    let _until = Until(ME.with(|me| me.acting.replace(&raw const another)));
    super::locals::set_aside(f)
}

/// The calling kernel thread's descriptor; valid until the thread ends.
pub(crate) fn current() -> NonNull<Thread> {
    // A pointer to the whole object, not to its first field: `wake` needs the rest.
    ME.with(|me| NonNull::from(me.acting()).cast())
}

/// The innermost frame that the calling kernel thread has entered.
pub(super) fn frames() -> *const Frame {
    let frames = |me: &Me| me.acting().descriptor.frames.get();
    #[cfg(not(loom))]
    return ME.with(frames);
    // After a failure the checker drops what its threads have left when their thread-locals have gone.
    #[cfg(loom)]
    ME.try_with(frames).unwrap_or(std::ptr::null())
}

/// As [`current`], for a thread that is about to queue a node: ends the process if it is in the middle of
/// another wait.
pub(super) fn about_to_wait() -> NonNull<Thread> {
    // SAFETY: the caller's own descriptor; `current` gives a pointer to the whole object.
    let me = unsafe { current().cast::<OsThread>().as_ref() };
    me.descriptor.must_be_closed();
    // Relaxed: no thread has the right to wake this one now.
    if me.state.load(Ordering::Relaxed) == WOKEN {
        crate::bug::bug!("an OS thread was woken that did not wait");
    }
    NonNull::from(me).cast()
}

/// Parks until the wake comes, `deadline` has passed, or a level of the thread is cancelled.
pub(crate) fn block(on: On, deadline: Option<Instant>) -> Woke {
    ME.with(|me| {
        let me = me.acting();
        if me.take_wake() {
            return Woke::Woken;
        }
        // SAFETY: who waits for it borrows it. (The root of a worker, and threads of a simulation, are not listed.)
        #[cfg(not(loom))]
        let _listed = world::with(|_| ()).is_none().then(|| unsafe { Listed::new(on, deadline.is_some()) });
        #[cfg(loom)]
        let _: On = on;
        loop {
            if me.take_wake() {
                return Woke::Woken;
            }
            let Some(next) = me.outlook() else { return Woke::Cancelled };
            match [deadline, next].into_iter().flatten().min() {
                None => me.rest(None),
                Some(first) if has_passed(first) => {
                    if deadline.is_some_and(has_passed) {
                        return Woke::TimedOut;
                    }
                }
                Some(first) => me.rest(Some(first)),
            }
        }
    })
}

/// Parks until the wake comes, which is certain. Not interruptible.
pub(crate) fn block_committed() {
    ME.with(|me| {
        let me = me.acting();
        while !me.take_wake() {
            me.rest(None);
        }
    });
}

impl Drop for OsThread {
    fn drop(&mut self) {
        // In the checker a failure ends threads inside.
        #[cfg(not(loom))]
        super::cancel::state::must_be_outside(&self.descriptor);
    }
}

impl OsThread {
    fn of_current() -> Self {
        Self { descriptor: Thread::os(), state: AtomicUsize::new(RUNS), parker: Parker::of_current() }
    }

    /// Parks, at most until a time, and perhaps for less.
    fn rest(&self, until: Option<Instant>) {
        // Acquire pairs with the Release store in `wake`.
        #[cfg(not(loom))]
        let is_woken = || self.state.load(Ordering::Acquire) == WOKEN;
        #[cfg(not(loom))]
        if world::with(|world| world.rest(&is_woken, until)).is_some() {
            return;
        }
        match until {
            #[cfg(not(loom))]
            None => self.park_resting(),
            #[cfg(loom)]
            None => self.parker.park(),
            #[cfg(not(loom))]
            Some(until) => self.parker.park_timeout(until.saturating_duration_since(Instant::now())),
            #[cfg(loom)]
            Some(_) => crate::bug::bug!("a deadline of the model did not pass"),
        }
    }

    /// Parks, counted as one that rests.
    #[cfg(not(loom))]
    fn park_resting(&self) {
        // Before the state, whose end takes it back.
        begin_rest();
        // Relaxed (both): the state carries nothing here.
        if self.state.compare_exchange(RUNS, RESTS, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.parker.park();
            self.end_rest();
        } else {
            // Release pairs with the Acquire load in `resting`.
            RESTING.fetch_sub(1, Ordering::Release);
        }
    }

    /// Takes it out of the number of those that rest, if it is one.
    #[cfg(not(loom))]
    fn end_rest(&self) {
        // Relaxed (both): the state carries nothing here.
        if self.state.compare_exchange(RESTS, RUNS, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // Release pairs with the Acquire load in `resting`.
            RESTING.fetch_sub(1, Ordering::Release);
        }
    }

    fn take_wake(&self) -> bool {
        // Acquire pairs with the Release swap in `wake`.
        let woken = self.state.load(Ordering::Acquire) == WOKEN;
        if woken {
            // Relaxed: the next wake is for a node that this thread has yet to queue.
            self.state.store(RUNS, Ordering::Relaxed);
        }
        woken
    }

    /// When the next deadline of a level of the thread is; `None` if a level is cancelled already.
    #[expect(clippy::option_option, reason = "cancelled, or at some time, or never")]
    fn outlook(&self) -> Option<Option<Instant>> {
        // A loom thread may stand for one that is cancelled.
        #[cfg(loom)]
        if crate::model::is_cancelled() {
            return None;
        }
        match outlook(&self.descriptor) {
            Outlook::Cancelled => None,
            Outlook::At(next) => Some(Some(next)),
            Outlook::Clear => Some(None),
        }
    }
}

/// Unparks an OS thread, so that it looks at its levels again.
///
/// # Safety
/// From [`current`], on a thread that does not end before this returns.
pub(crate) unsafe fn nudge(thread: NonNull<Thread>) {
    // SAFETY: alive (contract); `current` gives a pointer to the whole object.
    let os = unsafe { thread.cast::<OsThread>().as_ref() };
    #[cfg(not(loom))]
    os.end_rest();
    os.parker.unpark();
}

/// Ends the block of an OS thread.
///
/// # Safety
/// `thread` came from [`current`] on a thread that is blocked or about to block, and the caller holds the
/// right to wake it (it removed its node).
pub(crate) unsafe fn wake(thread: NonNull<Thread>) {
    let os = thread.cast::<OsThread>();
    // SAFETY: the thread cannot return from its block, and so not end, before the state is written below.
    let os = unsafe { os.as_ref() };
    let parker = os.parker.clone();
    // Release pairs with the Acquire load in `take_wake`. From here on `os` may be gone.
    match os.state.swap(WOKEN, Ordering::Release) {
        WOKEN => crate::bug::bug!("an OS thread was woken twice"),
        // Release pairs with the Acquire load in `resting`.
        #[cfg(not(loom))]
        RESTS => _ = RESTING.fetch_sub(1, Ordering::Release),
        _ => {}
    }
    parker.unpark();
}
