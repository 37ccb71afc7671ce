//! The order in which a choice goes through its branches: that of the program, or a random one.
//!
//! Up to [`SHUFFLED`] branches come in any order with the same probability (a shuffle of Fisher and Yates,
//! one step for each branch that is asked for): so of any set of branches that are ready, each is the first
//! of them equally often. More come from a random one on, in a random direction: of any two, each comes first
//! equally often.
//!
//! # Rejected
//! * A random start and direction for few branches, too: of three of eight that are ready, and stand side by
//!   side, the middle one came first in one of eight cases.
//! * A shuffle of more than 16: its numbers need memory.

#[cfg(not(loom))]
use crate::world;
#[cfg(not(loom))]
use std::cell::Cell;

/// So many numbers of four bits are in a `u64`.
const SHUFFLED: usize = 16;
/// The numbers 0 to 15, lowest first.
const NUMBERS: u64 = 0xFEDC_BA98_7654_3210;
/// The order of the program, as [`Order::shuffled`] gives it.
pub(super) const GIVEN: u64 = 0x0123_4567_89AB_CDEF;

/// An iterator over `0..len`, in some order.
pub(super) struct Order {
    left: usize,
    way: Way,
}

enum Way {
    /// `numbers`: the lowest `left` have not come yet. `seen`: those that have, the last one lowest.
    /// `random`: randomness that has not been used yet, as a binary fraction.
    Shuffle { numbers: u64, seen: u64, random: u64 },
    /// The numbers that have not come yet, highest first.
    Again { numbers: u64 },
    /// After `last` comes `first`.
    Ring { next: usize, step: usize, last: usize, first: usize },
}

impl Order {
    /// Each order with the same probability, if `len` is at most [`SHUFFLED`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn random(len: usize) -> Self {
        let random = random();
        if len <= SHUFFLED {
            return Self { left: len, way: Way::Shuffle { numbers: NUMBERS, seen: 0, random } };
        }
        let next = ((u128::from(random) * len as u128) >> 64) as usize;
        let (step, last, first) = if random & 1 == 0 { (1, len - 1, 0) } else { (usize::MAX, 0, len - 1) };
        Self { left: len, way: Way::Ring { next, step, last, first } }
    }

    /// The order that has left [these numbers](Self::shuffled), for a second pass, which costs less. (Of many
    /// branches, another random one.)
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn again(len: usize, numbers: u64, is_random: bool) -> Self {
        // Few: without a look at `is_random`, which the compiler often does not know here.
        if len <= SHUFFLED {
            return Self { left: len, way: Way::Again { numbers } };
        }
        if is_random { Self::random(len) } else { Self::given(len) }
    }

    /// After a pass over all of `len` branches: the numbers in its order, highest first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn shuffled(&self, len: usize) -> u64 {
        match self.way {
            Way::Shuffle { seen, .. } => seen.unbounded_shl((SHUFFLED - len) as u32 * 4),
            _ => GIVEN,
        }
    }

    /// `0..len`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn given(len: usize) -> Self {
        Self { left: len, way: Way::Ring { next: 0, step: 1, last: usize::MAX, first: 0 } }
    }
}

impl Iterator for Order {
    type Item = usize;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        Some(match &mut self.way {
            Way::Shuffle { numbers, seen, random } => {
                // The product's upper half is at most `left`, its lower half is what remains of the
                // randomness.
                let product = u128::from(*random) * (self.left as u128 + 1);
                *random = product as u64;
                let place = (product >> 64) as u32 * 4;
                let at = (*numbers >> place) & 15;
                // The first one takes the place of this one, and all move up.
                *numbers = (*numbers ^ ((at ^ (*numbers & 15)) << place)) >> 4;
                *seen = *seen << 4 | at;
                at as usize
            }
            Way::Again { numbers } => {
                *numbers = numbers.rotate_left(4);
                (*numbers & 15) as usize
            }
            Way::Ring { next, step, last, first } => {
                let at = *next;
                *next = if at == *last { *first } else { at.wrapping_add(*step) };
                at
            }
        })
    }
}

/// A random number: xorshift, with a state for each kernel thread.
#[cfg(not(loom))]
#[cfg_attr(not(debug_assertions), inline(always))]
fn random() -> u64 {
    if let Some(number) = world::with(|world| world.chance.word()) {
        return number;
    }
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    STATE.with(|state| {
        let mut x = state.get();
        if x == 0 {
            // A different seed for each kernel thread.
            x = (std::ptr::from_ref(state).addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        }
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        // The upper bits of a product with an odd number depend on all bits of the state.
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

/// A constant, because the checker needs deterministic executions.
#[cfg(loom)]
fn random() -> u64 {
    0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Each number comes once, in each kind of order and for each length.
    #[test]
    fn each_branch_comes_once() {
        let is_whole = |len, order: Vec<usize>| (0..len).all(|at| order.contains(&at)) && order.len() == len;
        for len in 0..=70 {
            assert!(Order::given(len).eq(0..len));
            for _ in 0..20 {
                let mut order = Order::random(len);
                let first: Vec<usize> = order.by_ref().collect();
                let second: Vec<usize> = Order::again(len, order.shuffled(len), true).collect();
                assert!(
                    is_whole(len, first.clone()) && is_whole(len, second.clone()),
                    "{len}: {first:?} {second:?}"
                );
                assert!(len > SHUFFLED || first == second);
            }
        }
        assert!(Order::again(5, Order::given(5).shuffled(5), false).eq(0..5));
    }

    /// Each of the 24 orders of four: 240,000 trials, so a share within a tenth is 10 standard deviations.
    #[test]
    fn few_come_in_any_order() {
        const TRIALS: usize = 240_000;
        let mut counts = HashMap::<Vec<usize>, usize>::new();
        (0..TRIALS).for_each(|_| *counts.entry(Order::random(4).collect()).or_default() += 1);
        assert_eq!(counts.len(), 24);
        for (order, count) in counts {
            assert!((9_000..11_000).contains(&count), "{order:?}: {count}");
        }
    }

    /// Of any two of 40, each comes first equally often: 40,000 trials, within a tenth is 20 standard
    /// deviations.
    #[test]
    fn of_two_of_many_each_comes_first() {
        for pair in [[0, 1], [0, 39], [3, 20]] {
            let first = |_: &i32| Order::random(40).find(|at| pair.contains(at)) == Some(pair[0]);
            let count = (0..40_000).filter(first).count();
            assert!((18_000..22_000).contains(&count), "{pair:?}: {count}");
        }
    }
}
