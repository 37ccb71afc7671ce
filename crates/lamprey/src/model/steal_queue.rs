//! The stealable queue: owner and thieves never access the ring at once, and every entry comes out once.
//!
//! The ring is in a loom cell, so any overlap is a failure by itself.

use super::{Broken, check, check_bounded, must_fail};
use crate::queue::steal_queue::{Look, StealQueue};
use crate::sync_shim::{Arc, thread};

/// A thief to which every entry is old enough.
const ALL: Look = Look { head: 0, tail: usize::MAX / 2 };

fn steal(queue: &StealQueue<u32>) -> Vec<u32> {
    let mut taken = Vec::new();
    queue.steal(ALL, 8, |entry| taken.push(entry));
    taken
}

fn pop_all(queue: &StealQueue<u32>) -> Vec<u32> {
    // SAFETY: called only by the thread that plays the owner, or after all others have ended.
    std::iter::from_fn(|| unsafe { queue.next() }).collect()
}

fn owner_against_thief() {
    let queue = Arc::new(StealQueue::new());
    // SAFETY: this thread is the owner.
    unsafe { queue.push(1) };
    let theirs = queue.clone();
    let thief = thread::spawn(move || steal(&theirs));
    // SAFETY: this thread is the owner.
    unsafe { queue.push(2) };
    let mut seen = pop_all(&queue);
    seen.extend(thief.join().unwrap());
    seen.extend(pop_all(&queue));
    seen.sort_unstable();
    assert_eq!(seen, [1, 2]);
}

#[test]
fn steal_while_owner_pushes_and_pops() {
    check(owner_against_thief);
}

#[test]
fn two_thieves_and_the_owner() {
    check_bounded(2, || {
        let queue = Arc::new(StealQueue::new());
        // SAFETY: this thread is the owner.
        unsafe {
            queue.push(1);
            queue.push(2);
        }
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || steal(&queue))
            })
            .collect();
        let mut seen = pop_all(&queue);
        for thief in thieves {
            seen.extend(thief.join().unwrap());
        }
        seen.extend(pop_all(&queue));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn without_the_owners_barrier_it_is_caught() {
    must_fail(Broken::LightBarrier, owner_against_thief);
}

#[test]
fn without_the_thiefs_barrier_it_is_caught() {
    must_fail(Broken::HeavyBarrier, owner_against_thief);
}

#[test]
fn without_waiting_for_the_owner_it_is_caught() {
    must_fail(Broken::NoWait, owner_against_thief);
}
