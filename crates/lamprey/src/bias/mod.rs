//! Owner bias: an object that only one worker uses is used without an atomic read-modify-write.
//!
//! Whoever wants to touch the object [enters](Bias::enter) its bias first, and learns how: as the **owner**,
//! in a section in which nobody else touches it (plain loads and stores), or **shared**, by the object's own
//! atomic protocol.
//!
//! # States (the word of a [`Bias`])
//! ```text
//! VIRGIN    --first op by a worker with a slot: CAS--> OWNED(tenure)   --first op by anyone else: CAS--> SHARED
//! OWNED(t)  --op by the worker whose tenure t is: no read-modify-write--> OWNED(t)
//! OWNED(t)  --op by anyone else: CAS--> REVOKING --membarrier, wait until the owner is not inside--> SHARED
//! OWNED(t)  if t is over: --op by the worker of the same slot: CAS--> OWNED(its tenure)   --anyone else: CAS--> SHARED
//! REVOKING  everybody but the revoker waits                            SHARED  for good
//! ```
//! A **tenure** is a number that names a slot and a stretch of time in which one worker has it. It ends with
//! the worker, or by a revocation in a [storm](storm): then all that the worker owned needs no barrier any
//! more to be taken from it, and one CAS of its own to be kept.
//!
//! # Invariants
//! 1. A section is open only while `busy` of the owner's slot holds the address of the word; after that store
//!    and a light barrier the owner has read `OWNED(t)` in the word, and then `t` in its slot's `tenure`.
//! 2. `over >= t` in a slot: all sections of tenure `t` and older have ended, and none will begin.
//! 3. A word leaves `OWNED(t)` (a) to REVOKING, (b) to SHARED by anyone once `t` is over, (c) to anything by
//!    the worker of t's slot while it is in no section. So whoever reads SHARED, or a new tenure, comes after
//!    all earlier sections.
//! 4. A word leaves REVOKING by its revoker, who has passed the heavy barrier and then seen the owner outside
//!    of this word.
//! 5. A worker is in at most one section; in it, it runs no code of the program, does not switch and does not
//!    wait. So the revoker waits for a few dozen instructions of the owner (and for its kernel thread, if
//!    that does not run just then), and those who wait for SHARED wait for the revoker: nobody waits in a
//!    circle. Nobody waits inside a section.
//! 6. A tenure's number is never used again: when a slot has no more of them, nobody owns anything through
//!    it.
//!
//! # Who may touch what
//! `busy`: stores by the worker that has the slot. `tenure`: the worker when it takes the slot, revokers by
//! CAS. `over`: only ever raised. The object: by invariant 1 or as SHARED.
//!
//! # Orderings
//! Owner: store `busy`, light barrier, load word and `tenure`; revoker: change word (and `tenure`), heavy
//! barrier, load `busy`. At least one of the two sees the other (StoreLoad on both sides). Every store to
//! `busy`, that of the entry too, is Release and the revoker's loads are Acquire, so it comes after the
//! owner's last section, also when it sees the owner in another object already. SHARED is stored Release and
//! read Acquire; so is `over`. The heavy barrier is there when it is needed: slots are given out only where
//! `membarrier` works, and who reads a tenure (Acquire) comes after the probe.
//!
//! # Rejected
//! * A lock in front of the word (tried): a foreign operation pays for the lock and for the object; here the
//!   object's own protocol begins behind SHARED.
//! * Back from SHARED to OWNED: needs a count at each shared operation (3 ns of 16 in a prototype), and a
//!   moment at which nobody is in the middle of a shared one.
//! * Ownership that passes to the next worker in the slot: then all that it inherits is revoked by
//!   membarrier.
//!
//! # Checked by
//! `model::bias` (loom, with broken variants that it catches), the tests below.

mod slot;
pub(crate) mod storm;
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

/// How the object may be touched now.
pub(crate) enum Access<'a> {
    /// Nobody else touches it while the section lives.
    Owner(Section<'a>),
    /// By atomic steps, from now on and for good.
    Shared,
}

/// The owner is inside, until this is dropped.
pub(crate) struct Section<'a> {
    slot: &'static Slot,
    /// Of one word, and of one kernel thread.
    here: PhantomData<(&'a Bias, *const ())>,
}

/// The word of an object. See the module's text.
#[derive(Debug)]
pub(crate) struct Bias(AtomicU32);

impl Bias {
    crate::sync_shim::const_fn! {
        /// Of an object that nobody has used.
        pub(crate) const fn new() -> Self {
            Self(AtomicU32::new(VIRGIN))
        }
    }

    crate::sync_shim::const_fn! {
        /// Of an object that shall never have an owner.
        pub(crate) const fn shared() -> Self {
            Self(AtomicU32::new(SHARED))
        }
    }

    /// True if the object has no owner, and never will have: whoever sees that may touch it by its atomic
    /// steps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_shared(&self) -> bool {
        // Acquire pairs with the Release store of SHARED in `revoke` and with the changes in `claim`.
        self.0.load(Ordering::Acquire) == SHARED
    }

    /// How the caller may touch the object now: once for each operation.
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

    /// A section, if the caller owns the object; otherwise the word.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn look(&self, slot: Option<&'static Slot>) -> Result<Section<'_>, u32> {
        let Some(slot) = slot else {
            // Acquire pairs with the Release store of SHARED in `revoke` and with the changes in `claim`.
            return Err(self.0.load(Ordering::Acquire));
        };
        // Acquire: as below. (Only in the broken variant that looks too early.)
        let early = left_out!(BiasLook).then(|| self.0.load(Ordering::Acquire));
        slot.announce(self.address());
        known_light_barrier();
        // Acquire: as above.
        let word = early.unwrap_or_else(|| self.0.load(Ordering::Acquire));
        let section = Section { slot, here: PhantomData };
        if word == slot.tenure() { Ok(section) } else { Err(word) }
    }

    /// What to do about a word that is neither ours nor SHARED.
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

    /// The word held a tenure that is not the caller's present one.
    fn take_over(&self, word: u32, slot: Option<&'static Slot>) {
        let owner = slot_of(word);
        match slot.filter(|slot| std::ptr::eq(*slot, owner)) {
            // Invariant 3 (c): the caller is in no section, and whoever had the slot before has ended.
            Some(slot) => self.claim(word, slot.adopts_again()),
            None if owner.is_over(word) => self.claim(word, None),
            None => self.revoke(word, owner),
        }
    }

    /// Makes the object the property of `tenure`, or shared, if the word is still `word`.
    fn claim(&self, word: u32, tenure: Option<u32>) {
        // AcqRel pairs with the Acquire loads in `look`: who finds the new word comes after all that the
        // caller comes after. Relaxed on failure: the caller looks again.
        let _ = self.0.compare_exchange(word, tenure.unwrap_or(SHARED), Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Takes the object from its owner: shared when this returns, unless somebody else has changed the word
    /// meanwhile.
    fn revoke(&self, word: u32, owner: &Slot) {
        // AcqRel: comes after whoever stored `word`; nothing is published yet. Relaxed on failure: the caller
        // looks again.
        if self.0.compare_exchange(word, REVOKING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        // Relaxed: a number for statistics.
        REVOCATIONS.fetch_add(1, Ordering::Relaxed);
        let ends_tenure = owner.storm.is_due() && owner.end_tenure(word);
        heavy_barrier();
        if left_out!(BiasEarly) {
            // Release: the broken variant lets the others in before the owner is out.
            self.0.store(SHARED, Ordering::Release);
        }
        owner.wait_outside(self.address(), ends_tenure);
        if ends_tenure {
            owner.has_ended(word);
        }
        // Release pairs with the Acquire loads in `look`; `wait_outside` has acquired the owner's last
        // section.
        self.0.store(SHARED, release_unless!(BiasShared));
    }

    /// Until the revoker is done.
    fn wait(&self) {
        let mut spins = 0;
        // Relaxed: the caller looks again.
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

/// How many objects have been taken from their owners by a barrier, in this process so far.
pub(crate) fn revocations() -> u64 {
    // Relaxed: a number for statistics.
    REVOCATIONS.load(Ordering::Relaxed)
}
