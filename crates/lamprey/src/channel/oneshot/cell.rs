//! The protocol of a oneshot: one word between a sender and a receiver, in one allocation with the value.
//!
//! # States (`word`; `w` is nothing or the receiver's waiter, `+W` says that the sender watches for the
//! receiver's end)
//! ```text
//! w --send--> SENT             the value, and the cell, are the receiver's
//! w --sender dropped--> OVER   the cell is the receiver's
//! w --receiver dropped--> GONE the cell is the sender's
//! w --watch--> w+W --unwatch--> w                 before it sends or is dropped, the sender unwatches
//! w+W --receiver dropped--> GOING --> GONE        in between, the receiver takes the watcher
//! nothing --register--> waiter --unregister--> nothing      with or without +W
//! ```
//!
//! # Invariants
//! 1. The sender alone writes SENT, OVER and W, the receiver alone its waiter, GOING and GONE. Each ends its
//!    side once.
//! 2. The side that ends second, or reads SENT or OVER, owns the cell alone and frees it.
//! 3. A waiter in the word, or in `watcher`, holds what [`Waiter::keep`] took; the side that takes it out
//!    must wake or forget it.
//! 4. A sender that has unwatched cannot meet GOING: so its end may be one swap.
//!
//! # Who may touch what
//! `value`: the sender until SENT, the receiver after it. `watcher`: the sender while W is not set, the
//! receiver in GOING.
//!
//! # Orderings
//! Every end is an AcqRel exchange: Release publishes the value (or the last touch), Acquire pairs with the
//! other side's `register` or `watch` (Release), or with its end. The receiver's loads are Acquire and pair
//! with the sender's end.
//!
//! # Rejected
//! * A lock and a queue ([`gate`](crate::channel::gate)): twice the cost, for one waiter on each side.
//! * A reference count: an end already tells which side is second.
//! * The watcher under a swap to GONE: the sender could free the cell while the receiver reads it (broken
//!   variant).
//!
//! # Checked by
//! `model::oneshot` (loom, with broken variants), `tests/channel/oneshot.rs`.

use crate::queue::inbox::Linked;
use crate::sched::noted::MadeInDebug;
use crate::sched::{On, Wait, Waiter};
use crate::sync_shim::{AtomicPtr, Ordering, UnsafeCell, left_out, relax};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// The allocation that both sides share: the word, the value and the sender's waiter.
pub(super) struct OneshotCell<T> {
    word: AtomicPtr<()>,
    value: UnsafeCell<MaybeUninit<T>>,
    watcher: UnsafeCell<Option<Waiter>>,
    /// In a cell, as all fields are or are atomic: the receiver may free the memory while a call of the sender with `&self` ends.
    made: std::cell::UnsafeCell<MadeInDebug>,
}

const SENT: usize = 1;
const OVER: usize = 2;
const GONE: usize = 3;
const GOING: usize = 5;
/// A bit; the tags of a waiter are below it.
const WATCHED: usize = 4;

/// What the receiver sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing yet; this waiter is registered.
    Waits(Option<Waiter>),
    Sent,
    Over,
}

/// What an end has found.
pub(super) enum Found {
    /// The other side has not ended, and this waiter must be woken.
    Other(Option<Waiter>),
    /// The other side has ended: the cell is the caller's.
    Ended,
}

fn code(code: usize) -> *mut () {
    ptr::without_provenance_mut(code)
}

/// The waiter in a word that is no code.
#[cfg_attr(not(debug_assertions), inline(always))]
fn waiter_in(word: *mut ()) -> Option<Waiter> {
    NonNull::new(word.map_addr(|addr| addr & !WATCHED)).map(Linked::from_raw)
}

fn is_code(word: *mut ()) -> bool {
    matches!(word.addr(), SENT | OVER | GONE | GOING)
}

impl<T> OneshotCell<T> {
    #[track_caller]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new() -> NonNull<Self> {
        let cell = Self {
            word: AtomicPtr::new(ptr::null_mut()),
            value: UnsafeCell::new(MaybeUninit::uninit()),
            watcher: UnsafeCell::new(None),
            made: std::cell::UnsafeCell::new(MadeInDebug::new()),
        };
        NonNull::from(Box::leak(Box::new(cell)))
    }

    /// What an end waits for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn on(&self) -> On {
        // SAFETY: written only when the cell was made.
        unsafe { &*self.made.get() }.on(Wait::Recv)
    }

    /// Sender.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write(&self, value: T) {
        // SAFETY: the sender alone reaches the value until SENT.
        self.value.with_mut(|place| unsafe { (*place).write(value) });
    }

    /// # Safety
    /// The caller has the value: it has been written and not taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the caller promises that the value is there and its own.
        self.value.with(|place| unsafe { (*place).assume_init_read() })
    }

    /// Sender, once: the value has been written, or there is none. It does not watch any more.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn end(&self, is_sent: bool) -> Found {
        // AcqRel pairs with the receiver's loads (the value), its `register` (the waiter), and its end (the
        // cell).
        let before = self.word.swap(code(if is_sent { SENT } else { OVER }), Ordering::AcqRel);
        if before.addr() == GONE { Found::Ended } else { Found::Other(waiter_in(before)) }
    }

    /// Receiver.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn look(&self) -> Seen {
        // Acquire pairs with the swap in `end`.
        let word = self.word.load(Ordering::Acquire);
        match word.addr() {
            SENT => Seen::Sent,
            OVER => Seen::Over,
            _ => Seen::Waits(waiter_in(word)),
        }
    }

    /// Receiver: changes its waiter; false if the sender has ended.
    pub(super) fn change(&self, from: Option<Waiter>, to: Option<Waiter>) -> bool {
        let word = |waiter: Option<Waiter>| waiter.map_or(ptr::null_mut(), Linked::into_raw);
        let (from, to) = (word(from), word(to));
        // Either with the sender's bit or without.
        [0, WATCHED].into_iter().cycle().find_map(|bit| {
            let [from, to] = [from, to].map(|word| word.map_addr(|addr| addr | bit));
            // Release pairs with the Acquire half of the swap in `end`; Acquire on failure with its Release
            // half.
            match self.word.compare_exchange(from, to, Ordering::Release, Ordering::Acquire) {
                Ok(_) => Some(true),
                Err(now) => is_code(now).then_some(false),
            }
        }) == Some(true)
    }

    /// Receiver, once, and only if it has not seen the sender's end. A waiter that it has left behind has
    /// been taken out.
    pub(super) fn go(&self) -> Found {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if matches!(word.addr(), SENT | OVER) {
                // Acquire pairs with the swap in `end`.
                self.word.load(Ordering::Acquire);
                return Found::Ended;
            }
            let is_watched = word.addr() & WATCHED != 0 && !left_out!(OneshotGoing);
            // AcqRel pairs with `end`, and with `watch`. Relaxed on failure: another guess.
            let to = code(if is_watched { GOING } else { GONE });
            match self.word.compare_exchange(word, to, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if word.addr() & WATCHED == 0 => return Found::Other(None),
                Ok(_) => {
                    // SAFETY: the receiver alone reaches `watcher` while the word is GOING.
                    let watcher = self.watcher.with_mut(|watcher| unsafe { (*watcher).take() });
                    if is_watched {
                        // Release pairs with the Acquire loads in `is_gone` and `unwatch`.
                        self.word.store(code(GONE), Ordering::Release);
                    }
                    return Found::Other(watcher);
                }
                Err(now) => word = now,
            }
        }
    }

    /// Sender: true if the receiver has gone.
    pub(super) fn is_gone(&self) -> bool {
        let mut spins = 0;
        loop {
            // Acquire pairs with the store, or the CAS, of GONE in `go`.
            match self.word.load(Ordering::Acquire).addr() {
                GONE => return true,
                GOING => relax(&mut spins),
                _ => return false,
            }
        }
    }

    /// Sender, which does not watch: `waiter` will be woken at the receiver's end; false if the receiver has
    /// ended.
    pub(super) fn watch(&self, waiter: Waiter) -> bool {
        // SAFETY: the sender alone reaches `watcher` while it does not watch.
        self.watcher.with_mut(|watcher| unsafe { *watcher = Some(waiter) });
        if self.turn(0, WATCHED) {
            return true;
        }
        // SAFETY: the sender alone reaches `watcher`: it does not watch after all.
        self.watcher.with_mut(|watcher| unsafe { *watcher = None });
        false
    }

    /// Sender: ends its watch and gives the watcher back. `None` if the receiver has gone and taken it.
    pub(super) fn unwatch(&self) -> Option<Waiter> {
        if !self.turn(WATCHED, 0) {
            return None;
        }
        // SAFETY: the sender alone reaches `watcher` again: it does not watch any more.
        self.watcher.with_mut(|watcher| unsafe { (*watcher).take() })
    }

    /// Sender: changes its bit; false if the receiver has gone, to the end of GOING.
    fn turn(&self, from: usize, to: usize) -> bool {
        // Relaxed: a guess, confirmed by the CAS.
        let mut word = self.word.load(Ordering::Relaxed);
        while !self.is_gone() {
            let next = word.map_addr(|addr| addr & !from | to);
            if matches!(word.addr(), GONE | GOING) {
                // Relaxed: another guess.
                word = self.word.load(Ordering::Relaxed);
                continue;
            }
            // AcqRel: Release pairs with the CAS in `go`, and keeps the receiver's waiter published; Relaxed:
            // another guess.
            match self.word.compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// # Safety
    /// The caller owns the cell alone (invariant 2); the value has been taken, or never was there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn free(this: NonNull<Self>) {
        #[cfg(loom)]
        {
            // SAFETY: leaked, so that the checker finds a late touch, which would else be a crash.
            let cell = unsafe { this.as_ref() };
            cell.value.with_mut(|_| {});
            cell.watcher.with_mut(|_| {});
            cell.word.load(Ordering::Relaxed); // Relaxed: only a touch
        }
        #[cfg(not(loom))]
        // SAFETY: made by `new`; the caller alone has it.
        drop(unsafe { Box::from_raw(this.as_ptr()) });
    }
}
