//! Owner bias: an object that only one worker uses is accessed without an atomic read-modify-write.
//!
//! A thread that accesses the object [enters](Bias::enter) its bias first, and learns how it may do so: as
//! the **owner**, in a section in which no other thread touches the object (plain loads and stores), or
//! **shared**, by the object's own atomic protocol.
//!
//! # States (the word of a [`Bias`])
//! ```text
//! VIRGIN    --first op, by a worker with a slot: CAS--> OWNED(epoch)   --by another thread: CAS--> SHARED
//! OWNED(e)  --op by the worker whose epoch e is: no read-modify-write--> OWNED(e)
//! OWNED(e)  --op by another thread: CAS--> REVOKING --membarrier, wait for the owner's section--> SHARED
//! OWNED(e)  e is over --op by the slot's worker: CAS--> OWNED(its epoch) --by another: CAS--> SHARED
//! REVOKING  all threads but the revoker wait                          SHARED  final
//! ```
//! An **epoch** is a number that names a slot and a period in which one worker has it.
//! It ends with the worker, or by a [bulk revocation](bulk_revocation). After that, taking an object of that
//! epoch from the worker needs no barrier, and the worker itself needs one CAS to keep it.
//!
//! # Invariants
//! 1. A section is open only while `busy` of the owner's slot holds the address of the word; after that store
//!    and a light barrier the owner has read `OWNED(e)` in the word, and then `e` in its slot's `epoch`.
//! 2. `over >= e` in a slot: all sections of epoch `e` and older have ended, and none will begin.
//! 3. A word leaves `OWNED(e)` (a) to REVOKING, (b) to SHARED by any thread once `e` is over, (c) to anything
//!    by the worker of e's slot while it is in no section. So a thread that reads SHARED, or a new epoch,
//!    comes after all earlier sections.
//! 4. Only the revoker changes a word from REVOKING, after it has passed the heavy barrier and then seen the
//!    owner outside of this word.
//! 5. A worker is in at most one section; in it, it runs no code of the program, does not switch and does not
//!    wait. So the revoker waits for a few dozen instructions of the owner (and for its kernel thread, if
//!    that is preempted), and threads that wait for SHARED wait for the revoker: there is no cycle.
//! 6. An epoch's number is never reused: when a slot has run out of numbers, its worker owns nothing through
//!    it.
//!
//! # Who may touch what
//! `busy`: stores by the worker that has the slot. `epoch`: the worker when it takes the slot, revokers by
//! CAS. `over`: only ever raised. The object: by invariant 1 or as SHARED.
//!
//! # Orderings
//! The owner stores `busy`, passes the light barrier and loads the word and `epoch`; a revoker changes the
//! word (and `epoch`), passes the heavy barrier and loads `busy`. At least one of the two sees the other
//! (StoreLoad on both sides). Every store to `busy`, also that at the entry, is Release and the revoker's
//! loads are Acquire, so the revoker comes after the owner's last section, also when it sees the owner in
//! another object already. SHARED is stored Release and read Acquire; so is `over`. The heavy barrier works
//! whenever it is needed: slots are handed out only if `membarrier` works, and a thread that reads an epoch
//! (Acquire) comes after the probe.
//!
//! # Rejected
//! * A lock in front of the word (tried): an operation of another thread pays for the lock and for the
//!   object; here the object's own protocol begins after SHARED.
//! * A way back from SHARED to OWNED: needs a count at each shared operation (3 ns of 16 in a prototype), and
//!   a moment at which no thread is in the middle of a shared one.
//! * Ownership that passes to the next worker in the slot: each object that it inherits would later be
//!   revoked by a membarrier.
//!
//! # Checked by
//! `model::bias` (loom, with broken variants that it catches), `bias::tests`.

pub(crate) mod bulk_revocation;
mod slot;
#[cfg(all(test, not(loom)))]
mod tests;

use self::slot::{AtomicU32, release_unless, slot_of};
pub(crate) use self::slot::{Lease, Slot};
use crate::sync_shim::plain::AtomicU64;
use crate::sync_shim::{Ordering, heavy_barrier, known_light_barrier, left_out, relax};
use std::marker::PhantomData;

const VIRGIN: u32 = 0;
const SHARED: u32 = 1;
const REVOKING: u32 = 2;

/// How the object may be accessed now.
pub(crate) enum Access<'a> {
    /// No other thread accesses it while the section lives.
    Owner(Section<'a>),
    /// By atomic steps, from now on and for ever.
    Shared,
}

/// A section of the owner, until this is dropped.
pub(crate) struct Section<'a> {
    slot: &'static Slot,
    /// Tied to one word, and to one kernel thread.
    here: PhantomData<(&'a Bias, *const ())>,
}

/// The bias word of an object.
#[derive(Debug)]
pub(crate) struct Bias(AtomicU32);

impl Bias {
    crate::sync_shim::const_fn! {
        /// For an object that has not been used.
        pub(crate) const fn new() -> Self {
            Self(AtomicU32::new(VIRGIN))
        }
    }

    crate::sync_shim::const_fn! {
        /// For an object that never has an owner.
        pub(crate) const fn shared() -> Self {
            Self(AtomicU32::new(SHARED))
        }
    }

    /// True if the object has no owner, and never will have: the caller may then access it by atomic steps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_shared(&self) -> bool {
        // Acquire pairs with the Release store of SHARED in `revoke` and with the AcqRel changes in `claim`.
        self.0.load(Ordering::Acquire) == SHARED
    }

    /// How the caller may access the object now: called once for each operation.
    ///
    /// # Safety
    /// `slot` is that of the calling kernel thread's worker (`None` if it has none), and none of its sections
    /// is open.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn enter(&self, slot: Option<&'static Slot>) -> Access<'_> {
        // SAFETY: as promised by the caller.
        match unsafe { self.look(slot) } {
            Ok(section) => Access::Owner(section),
            Err(SHARED) => Access::Shared,
            // SAFETY: as promised by the caller.
            Err(word) => unsafe { self.settle(word, slot) },
        }
    }

    /// [`enter`](Self::enter) where no state must change first; `None` elsewhere. The caller then needs no
    /// registers that a call would have to save.
    ///
    /// # Safety
    /// As for `enter`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn enter_if_settled(&self, slot: Option<&'static Slot>) -> Option<Access<'_>> {
        // SAFETY: as promised by the caller.
        match unsafe { self.look(slot) } {
            Ok(section) => Some(Access::Owner(section)),
            Err(SHARED) => Some(Access::Shared),
            Err(_) => None,
        }
    }

    /// A section, if the caller owns the object; otherwise the word.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn look(&self, slot: Option<&'static Slot>) -> Result<Section<'_>, u32> {
        let Some(slot) = slot else {
            // Acquire pairs with the Release store of SHARED in `revoke` and with the AcqRel changes in
            // `claim`.
            return Err(self.0.load(Ordering::Acquire));
        };
        // Acquire pairs with the changes in `revoke` and `claim`. (Only in the broken variant that looks too
        // early.)
        let early = left_out!(BiasLook).then(|| self.0.load(Ordering::Acquire));
        slot.announce(self.address());
        known_light_barrier();
        // Acquire pairs with the Release store of SHARED in `revoke` and with the AcqRel changes in `claim`.
        let word = early.unwrap_or_else(|| self.0.load(Ordering::Acquire));
        let section = Section { slot, here: PhantomData };
        if word == slot.epoch() { Ok(section) } else { Err(word) }
    }

    /// The slow path: the word holds neither the caller's epoch nor SHARED.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter).
    #[cold]
    #[inline(never)]
    unsafe fn settle(&self, mut word: u32, slot: Option<&'static Slot>) -> Access<'_> {
        loop {
            match word {
                SHARED => return Access::Shared,
                REVOKING if left_out!(BiasHaste) => return Access::Shared,
                REVOKING => self.wait(),
                VIRGIN => self.claim(word, slot.and_then(Slot::adopts)),
                _ => self.take_over(word, slot),
            }
            // SAFETY: as promised by the caller.
            match unsafe { self.look(slot) } {
                Ok(section) => return Access::Owner(section),
                Err(now) => word = now,
            }
        }
    }

    /// The word held an epoch that is not the caller's present one.
    fn take_over(&self, word: u32, slot: Option<&'static Slot>) {
        let owner = slot_of(word);
        match slot.filter(|slot| std::ptr::eq(*slot, owner)) {
            // Invariant 3 (c): the caller is in no section, and the previous worker of the slot has ended.
            Some(slot) => self.claim(word, slot.adopts_again()),
            None if owner.is_over(word) => self.claim(word, None),
            None => self.revoke(word, owner),
        }
    }

    /// Gives the object to `epoch`, or makes it shared, if the word is still `word`.
    fn claim(&self, word: u32, epoch: Option<u32>) {
        // AcqRel pairs with the Acquire loads in `look`: a thread that reads the new word comes after
        // everything that the caller comes after. Relaxed on failure: the caller looks again.
        let _ = self.0.compare_exchange(word, epoch.unwrap_or(SHARED), Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Revokes the object from its owner: shared when this returns, unless another thread has changed the
    /// word.
    fn revoke(&self, word: u32, owner: &Slot) {
        // AcqRel: comes after the store of `word`; nothing is published yet. Relaxed on failure: the caller
        // looks again.
        if self.0.compare_exchange(word, REVOKING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        // Relaxed: a counter for statistics.
        REVOCATIONS.fetch_add(1, Ordering::Relaxed);
        let ends_epoch = owner.bulk_revocation.is_due() && owner.end_epoch(word);
        heavy_barrier();
        if left_out!(BiasEarly) {
            // Release: the broken variant admits other threads before the owner is outside.
            self.0.store(SHARED, Ordering::Release);
        }
        owner.wait_outside(self.address(), ends_epoch);
        if ends_epoch {
            owner.has_ended(word);
        }
        // Release pairs with the Acquire loads in `look`; `wait_outside` has acquired the owner's last
        // section.
        self.0.store(SHARED, release_unless!(BiasShared));
    }

    /// Waits until the revoker is done.
    fn wait(&self) {
        let mut spins = 0;
        // Relaxed: the caller looks again with Acquire.
        while self.0.load(Ordering::Relaxed) == REVOKING {
            relax(&mut spins);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl Drop for Section<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.slot.retreat();
    }
}

static REVOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The number of objects that have been revoked by a barrier in this process.
pub(crate) fn revocations() -> u64 {
    // Relaxed: a counter for statistics.
    REVOCATIONS.load(Ordering::Relaxed)
}
