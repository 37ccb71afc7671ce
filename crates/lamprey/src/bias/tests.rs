//! Tests that need no concurrent kernel thread, or that need the real barrier.

use super::slot::{Lease, Slot};
use super::{Access, Bias, revocations};
use crate::sync_shim::probe_membarrier;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

fn lease() -> Option<Lease> {
    probe_membarrier();
    Lease::take()
}

fn enters_as_owner(bias: &Bias, slot: Option<&'static Slot>) -> bool {
    // SAFETY: the tests pass the calling thread's own lease's slot, one operation at a time.
    matches!(unsafe { bias.enter(slot) }, Access::Owner(_))
}

/// Revokes as many objects from `lease` as its window tolerates, and `more`.
fn bulk_revocation(lease: &Lease, more: u32) {
    for _ in 0..super::bulk_revocation::CALM + more {
        let bias = Bias::new();
        enters_as_owner(&bias, Some(lease.slot()));
        assert!(!enters_as_owner(&bias, None));
    }
}

#[test]
fn owner_stays_until_somebody_else_comes() {
    let Some(lease) = lease() else { return };
    let (bias, before) = (Bias::new(), revocations());
    assert!(enters_as_owner(&bias, Some(lease.slot())));
    assert!(enters_as_owner(&bias, Some(lease.slot())));
    assert!(!enters_as_owner(&bias, None));
    assert!(!enters_as_owner(&bias, Some(lease.slot())));
    assert!(revocations() > before);
}

#[test]
fn who_has_no_slot_never_owns() {
    let Some(lease) = lease() else { return };
    let bias = Bias::new();
    assert!(!enters_as_owner(&bias, None));
    assert!(!enters_as_owner(&bias, Some(lease.slot())));
    assert!(!enters_as_owner(&Bias::shared(), Some(lease.slot())));
}

#[test]
fn a_storm_ends_the_epoch_but_not_the_ownership_of_what_is_used() {
    let Some(lease) = lease() else { return };
    let (used, unused) = (Bias::new(), Bias::new());
    assert!(enters_as_owner(&used, Some(lease.slot())));
    assert!(enters_as_owner(&unused, Some(lease.slot())));
    let epoch = lease.slot().epoch();
    bulk_revocation(&lease, 0);
    assert!(lease.slot().is_over(epoch));
    assert!(enters_as_owner(&used, Some(lease.slot())), "taken back by a CAS");
    assert!(!enters_as_owner(&Bias::new(), Some(lease.slot())), "what is new is shared");
    assert!(!enters_as_owner(&unused, None));
}

/// Each object is used by its maker first and then by another thread: counts the barriers.
#[test]
fn revocations_of_a_storm_are_bounded() {
    let Some(lease) = lease() else { return };
    let many: Vec<_> = std::iter::repeat_with(Bias::new).take(100_000).collect();
    let owned = many.iter().filter(|bias| enters_as_owner(bias, Some(lease.slot()))).count();
    assert_eq!(owned, many.len());
    let first = lease.slot().epoch();
    assert!(many.iter().all(|bias| !enters_as_owner(bias, None)));
    let epochs = (lease.slot().epoch() - first) / 256;
    assert!(epochs < 20, "{epochs} times 64 revocations");
}

#[test]
fn the_end_of_a_worker_ends_its_epoch() {
    let bias = Bias::new();
    let Some(epoch) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            lease().map(|lease| {
                assert!(enters_as_owner(&bias, Some(lease.slot())));
                lease.slot().epoch()
            })
        });
        worker.join().unwrap()
    }) else {
        return;
    };
    assert!(super::slot_of(epoch).is_over(epoch));
    assert!(!enters_as_owner(&bias, None));
}

#[test]
fn without_numbers_for_epochs_nothing_is_owned() {
    let Some(lease) = lease() else { return };
    let bias = Bias::new();
    lease.slot().use_up_epochs();
    assert!(enters_as_owner(&bias, Some(lease.slot())), "the last one");
    bulk_revocation(&lease, 0);
    for _ in 0..2 {
        assert!(!enters_as_owner(&bias, Some(lease.slot())));
        assert!(!enters_as_owner(&Bias::new(), Some(lease.slot())));
    }
    let slot = std::ptr::from_ref(lease.slot());
    drop(lease);
    let next = Lease::take();
    assert!(next.is_none_or(|next| !std::ptr::eq(next.slot(), slot)), "the slot is not used again");
}

/// The real barrier, and kernel threads that the kernel preempts anywhere.
#[test]
fn an_owner_and_others_never_meet() {
    (0..10).for_each(|_| owner_against_others());
}

fn owner_against_others() {
    const ROUNDS: usize = 20_000;
    const OTHERS: usize = 2;
    struct Round {
        bias: Bias,
        inside: AtomicU32,
        count: AtomicUsize,
        lock: AtomicBool,
    }
    let add = |round: &Round, slot: Option<&'static Slot>| {
        // SAFETY: the threads below use their own slots, one operation at a time.
        let access = unsafe { round.bias.enter(slot) };
        let shared = matches!(access, Access::Shared);
        // Acquire pairs with the Release below.
        while shared && round.lock.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // Relaxed: the section or the lock orders it, which is what the test checks.
        assert_eq!(round.inside.load(Ordering::Relaxed), 0, "two at once");
        // Relaxed: the section or the lock orders it.
        round.inside.store(1, Ordering::Relaxed);
        // Relaxed: the section or the lock orders it.
        round.count.store(round.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // Relaxed: the section or the lock orders it.
        round.inside.store(0, Ordering::Relaxed);
        if shared {
            // Release pairs with the Acquire above.
            round.lock.store(false, Ordering::Release);
        }
    };
    let rounds: Vec<_> = std::iter::repeat_with(|| Round {
        bias: Bias::new(),
        inside: AtomicU32::new(0),
        count: AtomicUsize::new(0),
        lock: AtomicBool::new(false),
    })
    .take(ROUNDS)
    .collect();
    let done = AtomicUsize::new(0);
    let lease = lease();
    let slot = lease.as_ref().map(Lease::slot);
    rounds.iter().for_each(|round| add(round, slot));
    std::thread::scope(|scope| {
        for _ in 0..OTHERS {
            scope.spawn(|| {
                rounds.iter().for_each(|round| add(round, None));
                // Relaxed: only ends the owner's loop.
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut own = 1;
        // Relaxed: only ends this loop.
        while done.load(Ordering::Relaxed) < OTHERS {
            for (at, round) in rounds.iter().enumerate() {
                // Alternates bulk and single revocations.
                slot.filter(|_| at % 100 == 0).inspect(|slot| slot.bulk_revocation.forget());
                add(round, slot);
            }
            own += 1;
        }
        // Relaxed: the others have added theirs under the lock, and ended.
        assert!(rounds.iter().all(|round| round.count.load(Ordering::Relaxed) == OTHERS + own));
    });
}
