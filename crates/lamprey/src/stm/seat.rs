//! Seats: what each kernel thread's commits are counted by, in place of a clock that all share; and how one
//! transaction that would starve gets all commits for itself.
//!
//! # States (of a seat)
//! ```text
//! free --take--> a kernel thread's --it ends--> free     the clock goes on
//! quiet --enter--> committing --exit--> quiet            by its owner
//! ```
//! Seat 0 belongs to all kernel threads that found none free; they commit one after the other, under `shared`.
//!
//! # Invariants
//! 1. The clock of a seat grows by one with each commit, and the commits of a seat come one after the other:
//!    whoever has seen a stamp of it knows that all earlier commits of it are over.
//! 2. While `priority` is set, no thread but its holder is committing, once the holder has found each seat
//!    quiet.
//!
//! # Orderings
//! `enter` stores `committing` and then loads `priority`; the holder stores `priority` and then loads
//! `committing`: a StoreLoad race, decided by an asymmetric barrier, cheap on the side of the commits. Release
//! of `committing = false` and of `priority = false` pair with the Acquire loads of both: the holder sees all
//! earlier commits, later commits see the holder's.
//!
//! # Rejected
//! * A global clock (TL2): each commit of each worker changes it, so two workers that share nothing else take
//!   60 ns for what one does in 20. Its forms that change it less often (GV4 to GV6) abort or extend for that.
//! * A sequence lock around all commits (NOrec): the same line, and commits one after the other.
//! * Locks on what a starving transaction reads: its own code, which then runs under these, must not wait for
//!   what others have to commit.
//!
//! # Checked by
//! `model::stm` (loom; broken variants `LightBarrier`, `HeavyBarrier`).
//!
//! # Paper
//! Avni, Shavit: Maintaining consistent transactional states without a global clock (2008): the
//! clocks of threads. There a transaction that meets a stamp it does not know aborts; here it checks what
//! it has read, and goes on.

use super::stamp::{SEATS, Stamp};
use crate::sync_shim::{AtomicBool, AtomicU64, Ordering, back_off, heavy_barrier, light_barrier};

/// A seat, on cache lines of its own.
#[repr(align(128))]
pub(super) struct Seat {
    clock: AtomicU64,
    committing: AtomicBool,
    is_taken: AtomicBool,
}

/// How seats are reached. (A model makes them anew for each run.)
#[cfg(not(loom))]
pub(crate) type SeatsRef = &'static Seats;
#[cfg(loom)]
pub(crate) type SeatsRef = std::sync::Arc<Seats>;

/// All seats, and the right to be the only one that commits.
pub(crate) struct Seats {
    seats: [Seat; SEATS],
    priority: AtomicBool,
    /// Held by a commit on seat 0.
    shared: AtomicBool,
}

impl Seat {
    crate::sync_shim::const_fn! {
        const fn new() -> Self {
            Self { clock: AtomicU64::new(0), committing: AtomicBool::new(false), is_taken: AtomicBool::new(false) }
        }
    }
}

impl Seats {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self {
            seats: [const { Seat::new() }; SEATS],
            priority: AtomicBool::new(false),
            shared: AtomicBool::new(false),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        let seats = std::array::from_fn(|_| Seat::new());
        Self { seats, priority: AtomicBool::new(false), shared: AtomicBool::new(false) }
    }

    /// A free seat, which is the caller's from now on; 0 if there is none.
    pub(super) fn take(&self) -> usize {
        // Relaxed: a guess, confirmed by the CAS.
        let is_free = |seat: &Seat| !seat.is_taken.load(Ordering::Relaxed);
        // Acquire pairs with the Release in `leave`: the clock goes on from there. Relaxed on failure: the next
        // seat is tried.
        let take =
            |seat: &Seat| seat.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        self.seats.iter().skip(1).position(|seat| is_free(seat) && take(seat).is_ok()).map_or(0, |at| at + 1)
    }

    /// Gives the caller's seat back.
    pub(super) fn leave(&self, seat: usize) {
        // Release pairs with the Acquire in `take`.
        self.seats[seat].is_taken.store(false, Ordering::Release);
    }

    /// In a child made by `fork`, whose only thread is the caller: no other one commits. (Seats that were taken stay so.)
    #[cfg(not(loom))]
    pub(super) fn free_of_others(&self) {
        // Relaxed, all: there is no other thread.
        self.priority.store(false, Ordering::Relaxed);
        self.shared.store(false, Ordering::Relaxed);
        self.seats.iter().for_each(|seat| seat.committing.store(false, Ordering::Relaxed));
    }

    /// Begins a commit on the caller's seat: waits while another thread has the priority. `has_priority`: the
    /// caller has it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn enter(&self, seat: usize, has_priority: bool) {
        if seat == 0 {
            take_bit(&self.shared);
        }
        if !has_priority && !self.try_enter(seat) {
            self.enter_slowly(seat);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_enter(&self, seat: usize) -> bool {
        // Relaxed: ordered before the load of `priority` by the barrier.
        self.seats[seat].committing.store(true, Ordering::Relaxed);
        light_barrier();
        // Acquire pairs with the Release in `end_priority`.
        !self.priority.load(Ordering::Acquire)
    }

    /// Another thread has the priority. It may want seat 0 too, which is therefore free meanwhile.
    #[cold]
    #[inline(never)]
    fn enter_slowly(&self, seat: usize) {
        let mut rounds = 0;
        loop {
            self.exit(seat);
            // Acquire pairs with the Release in `end_priority`.
            while self.priority.load(Ordering::Acquire) {
                back_off(&mut rounds);
            }
            if seat == 0 {
                take_bit(&self.shared);
            }
            if self.try_enter(seat) {
                return;
            }
        }
    }

    /// The stamp of the commit that the caller is about to do on its seat, within `enter` and `exit`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_stamp(&self, seat: usize) -> Stamp {
        let clock = &self.seats[seat].clock;
        // Relaxed: only the owner of a seat, and of seat 0 only the holder of `shared`, uses the clock.
        let next = clock.load(Ordering::Relaxed) + 1;
        // Release pairs with the Acquire load in `over`.
        clock.store(next, Ordering::Release);
        Stamp::new(seat, next)
    }

    /// For each seat, the clock of a commit that is over, as are all earlier ones (invariant 1), and what they did is visible to
    /// the caller.
    pub(super) fn over(&self) -> [u64; SEATS] {
        // The last one may be under way. Acquire pairs with the Release store in `next_stamp`, which comes after the commit before.
        std::array::from_fn(|seat| self.seats[seat].clock.load(Ordering::Acquire).saturating_sub(1))
    }

    /// Ends a commit.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn exit(&self, seat: usize) {
        // Release pairs with the Acquire in `prefer`.
        self.seats[seat].committing.store(false, Ordering::Release);
        if seat == 0 {
            // Release pairs with the Acquire in `take_bit`.
            self.shared.store(false, Ordering::Release);
        }
    }

    /// A stamp for the end of a variable, which is no commit.
    pub(super) fn stamp_of_end(&self, seat: usize) -> Stamp {
        if seat != 0 {
            return self.next_stamp(seat);
        }
        take_bit(&self.shared);
        let stamp = self.next_stamp(0);
        // Release pairs with the Acquire in `take_bit`.
        self.shared.store(false, Ordering::Release);
        stamp
    }

    /// No other thread commits from the return of this until `end_priority`. Waits for another that has this
    /// right.
    #[cold]
    pub(super) fn prefer(&self) {
        take_bit(&self.priority);
        heavy_barrier();
        for seat in &self.seats {
            let mut rounds = 0;
            // Acquire pairs with the Release in `exit`.
            while seat.committing.load(Ordering::Acquire) {
                back_off(&mut rounds);
            }
        }
    }

    /// Others may commit again.
    #[cold]
    pub(super) fn end_priority(&self) {
        // Release pairs with the Acquire loads in `try_enter`, `enter_slowly` and `take_bit`.
        self.priority.store(false, Ordering::Release);
    }
}

fn take_bit(bit: &AtomicBool) {
    let mut rounds = 0;
    // Acquire pairs with the Release of the one that had it. Relaxed on failure: tried again.
    while bit.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
        back_off(&mut rounds);
    }
}
