//! Who has nothing to do and can be called: a worker that goes idle while another gets up and queues a host.
//!
//! # States (of a worker; `flag` is its seat's, `count` and `awake` are the runtime's)
//! ```text
//! busy --lie_down--> idle --claim, by whoever wants help, who then notifies it--> called
//!                    idle --claim, by itself, when it gets up--> busy <--get_up-- called
//! ```
//!
//! # Invariants
//! 1. A worker that has lain down looks at `awake` before it sleeps without a deadline; one that gets up
//!    raises `awake` before it looks at `count`. So one of the two sees the other, and either dozes instead
//!    or is called.
//! 2. A worker that is called wakes: it looks at its flag once more when it has announced its sleep. (It may
//!    be called between its look at `awake` and that announcement; the notification finds it awake then, and
//!    is none.)
//! 3. Whoever clears a flag lowers the count.
//!
//! # Who may touch what
//! All: anyone. Only its own worker sets a flag.
//!
//! # Orderings
//! Invariant 1: a SeqCst fence on both sides, behind the change (StoreLoad); the look of whoever spawns is
//! then a plain load. Invariant 2: the fences of [`Parking`](super::park::Parking).
//!
//! # Checked by
//! `model::steal` (loom, with broken variants that it catches).

use crate::sync_shim::{AtomicBool, AtomicUsize, Ordering, fence, left_out};

/// A worker goes idle. [`others_awake`] is next.
pub(crate) fn lie_down(flag: &AtomicBool, count: &AtomicUsize) {
    // Relaxed: seen by whoever sees the count.
    flag.store(true, Ordering::Relaxed);
    // Release pairs with the Acquire in `is_somebody`.
    count.fetch_add(1, Ordering::Release);
    // StoreLoad race: the count against `awake`; pairs with the fence in `get_up`.
    fence(Ordering::SeqCst);
}

/// After [`lie_down`].
pub(crate) fn others_awake(awake: &AtomicUsize) -> bool {
    // Relaxed: after the fence.
    awake.load(Ordering::Relaxed) != 0
}

/// A worker that has announced its sleep, and lay down before: true if it has been called meanwhile.
pub(crate) fn is_called(flag: &AtomicBool) -> bool {
    if left_out!(IdleCalled) {
        return false;
    }
    // Relaxed: after the fence in `Parking::prepare`.
    !flag.load(Ordering::Relaxed)
}

/// A worker counts as awake again.
pub(crate) fn get_up(awake: &AtomicUsize) {
    // Relaxed: ordered by the fence.
    awake.fetch_add(1, Ordering::Relaxed);
    // StoreLoad race: `awake` against later looks at the count; pairs with the fence in `lie_down`.
    fence(Ordering::SeqCst);
}

/// Is somebody idle? On a worker, after its [`get_up`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_somebody(count: &AtomicUsize) -> bool {
    // Acquire pairs with the Release in `lie_down`: the flag is seen. A plain load on x86-64.
    count.load(Ordering::Acquire) != 0
}

/// Clears a flag; true if it was set.
pub(crate) fn claim(flag: &AtomicBool, count: &AtomicUsize) -> bool {
    // Relaxed: the flag only says who lowers the count.
    let was = flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
    if was {
        // Relaxed: a hint.
        count.fetch_sub(1, Ordering::Relaxed);
    }
    was
}
