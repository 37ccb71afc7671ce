//! Idle workers: how one that spawns work finds an idle worker to wake, without a race (Go's `wakep` and its
//! idle P list).
//!
//! # States (of a worker; `flag` is its `WorkerShared::idle`, `count` and `awake` are the runtime's)
//! ```text
//! busy --lie_down--> idle --claim, by a worker that wants help, which then notifies it--> called
//!                    idle --claim, by itself, when it gets up--> busy <--get_up-- called
//! ```
//!
//! # Invariants
//! 1. A worker that has lain down looks at `awake` before it sleeps without a deadline; one that gets up
//!    raises `awake` before it looks at `count`. So one of the two sees the other: either the first dozes
//!    instead, or it is called.
//! 2. A worker that is called wakes: it looks at its flag once more after it has announced its sleep. (If it
//!    is called between its look at `awake` and that announcement, the notification finds it awake and does
//!    nothing.)
//! 3. The thread that clears a flag lowers the count.
//!
//! # Who may touch what
//! Any thread touches everything, but only a worker itself sets its flag.
//!
//! # Orderings
//! Invariant 1: a SeqCst fence on both sides, after the change (StoreLoad); the look of a worker that spawns
//! is then a plain load. Invariant 2: the fences of [`Parking`](super::park::Parking).
//!
//! # Checked by
//! `model::steal` (loom, with broken variants that it catches).

use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering, fence, left_out};

/// A worker goes idle. [`others_awake`] is next.
pub(crate) fn lie_down(flag: &AtomicBool, count: &AtomicUsize) {
    // Relaxed: a thread that sees the count sees the flag, by the Release below.
    flag.store(true, Ordering::Relaxed);
    // Release pairs with the Acquire in `is_somebody`.
    count.fetch_add(1, Ordering::Release);
    // StoreLoad race: the count against `awake`; pairs with the fence in `get_up`.
    fence(Ordering::SeqCst);
}

/// True if a worker is awake; called after [`lie_down`].
pub(crate) fn others_awake(awake: &AtomicUsize) -> bool {
    // Relaxed: ordered by the fence in `lie_down`.
    awake.load(Ordering::Relaxed) != 0
}

/// For a worker that has lain down and announced its sleep: true if it has been called since.
pub(crate) fn is_called(flag: &AtomicBool) -> bool {
    if left_out!(IdleCalled) {
        return false;
    }
    // Relaxed: after the fence in `Parking::prepare`.
    !flag.load(Ordering::Relaxed)
}

/// A worker counts as awake again.
pub(crate) fn get_up(awake: &AtomicUsize) {
    // Relaxed: ordered by the fence below.
    awake.fetch_add(1, Ordering::Relaxed);
    // StoreLoad race: `awake` against later looks at the count; pairs with the fence in `lie_down`.
    fence(Ordering::SeqCst);
}

/// True if a worker is idle. Called on a worker, after its [`get_up`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_somebody(count: &AtomicUsize) -> bool {
    // Acquire pairs with the Release in `lie_down`: the flag is visible. A plain load on x86-64.
    count.load(Ordering::Acquire) != 0
}

/// Clears a flag; true if it was set.
pub(crate) fn claim(flag: &AtomicBool, count: &AtomicUsize) -> bool {
    // Relaxed: the flag carries no data; the swap lets one thread through, which lowers the count.
    let was = flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
    if was {
        // Relaxed: a hint.
        count.fetch_sub(1, Ordering::Relaxed);
    }
    was
}
