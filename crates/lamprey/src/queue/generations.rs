//! A queue in generations, for one kernel thread: what was pushed since the last [`next`](Generations::next) is
//! the newest generation; it comes out first, in the order in which it was pushed.
//!
//! A program that forks (a tree of hosts, each of which waits for its children) then runs depth first: what it
//! has going at a time grows with the depth of the tree instead of its width. A program that does not fork has
//! one generation, and the queue is a FIFO. (Go has the same purpose in mind with `runnext`, which does it for
//! the last goroutine that was started.)
//!
//! # Invariants
//! 1. The ring's back is the next entry, as far as `arranged`; what was pushed after that is in the order of its
//!    pushes, and is reversed before the next entry is taken.
//! 2. Entries below the counter `older` belong to older generations than the one being taken. While there are
//!    some, one entry in [`OVERTAKE`] is taken from the front, so each comes out at some time, however fast new
//!    generations come.
//!
//! # Rejected
//! To take the newest entry first: threads that are started in a loop would start in the reverse order.

use super::ring::Ring;

/// Of so many entries that are taken while older generations wait, one is the oldest.
const OVERTAKE: u32 = 61;

/// The queue.
#[derive(Debug)]
pub(crate) struct Generations<T: Copy> {
    ring: Ring<T>,
    arranged: usize,
    older: usize,
    overtaken: u32,
}

impl<T: Copy> Generations<T> {
    pub(crate) fn new() -> Self {
        Self { ring: Ring::new(), arranged: 0, older: 0, overtaken: 0 }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// The ring's counters.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn ends(&self) -> (usize, usize) {
        (self.ring.head(), self.ring.tail())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push(&mut self, value: T) {
        self.ring.push_back(value);
    }

    /// Takes the entry at the front: of the oldest generation, and of those pushed since the last `next` the
    /// first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn pop_oldest(&mut self) -> Option<T> {
        self.ring.pop_front()
    }

    /// Takes the first entry of the newest generation.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn next(&mut self) -> Option<T> {
        let (head, tail) = self.ends();
        let next = if tail.wrapping_sub(head) <= 1 {
            // The counters go on where the queue becomes empty: they also mark times (`Ring`).
            self.ring.pop_front()
        } else if self.arranged == tail && !is_below(head, self.older) {
            self.ring.pop_back()
        } else {
            self.next_of_many()
        };
        self.arranged = self.ring.tail();
        next
    }

    #[inline(never)]
    fn next_of_many(&mut self) -> Option<T> {
        let (head, tail) = self.ends();
        // What was arranged may have been taken from the front.
        let before = if is_below(head, self.arranged) { self.arranged } else { head };
        if before != tail {
            self.ring.reverse_back(tail.wrapping_sub(before));
            self.older = before;
        }
        if !is_below(self.older, tail) {
            self.older = head;
        }
        if is_below(head, self.older) {
            self.overtaken += 1;
            if self.overtaken >= OVERTAKE {
                self.overtaken = 0;
                return self.ring.pop_front();
            }
        }
        self.ring.pop_back()
    }
}

/// Compares two counters.
#[cfg_attr(not(debug_assertions), inline(always))]
fn is_below(one: usize, other: usize) -> bool {
    (one.wrapping_sub(other) as isize) < 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn drained(queue: &mut Generations<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.next()).collect()
    }

    #[test]
    fn one_generation_is_a_fifo() {
        let mut queue = Generations::new();
        (0..200).for_each(|n| queue.push(n));
        assert_eq!(drained(&mut queue), (0..200).collect::<Vec<_>>());
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn the_newest_generation_goes_first_and_in_order() {
        let mut queue = Generations::new();
        [1, 2, 3].into_iter().for_each(|n| queue.push(n));
        assert_eq!(queue.next(), Some(1));
        [11, 12].into_iter().for_each(|n| queue.push(n));
        assert_eq!(queue.next(), Some(11));
        queue.push(111);
        assert_eq!(drained(&mut queue), [111, 12, 2, 3]);
    }

    #[test]
    fn the_front_is_the_oldest_generation() {
        let mut queue = Generations::new();
        [1, 2, 3].into_iter().for_each(|n| queue.push(n));
        assert_eq!(queue.pop_oldest(), Some(1), "nothing is arranged yet");
        assert_eq!(queue.next(), Some(2));
        [21, 22].into_iter().for_each(|n| queue.push(n));
        assert_eq!(queue.pop_oldest(), Some(3));
        assert_eq!(drained(&mut queue), [21, 22]);
    }

    #[test]
    fn each_entry_comes_out_once_and_an_old_one_before_many_new_ones() {
        let mut queue = Generations::new();
        (0..10).for_each(|n| queue.push(n));
        assert_eq!(queue.next(), Some(0));
        let (mut next, mut left, mut taken) = (10, 9, 0);
        while left > 0 {
            // Each that starts starts another, for ever.
            queue.push(next);
            next += 1;
            left -= usize::from(queue.next().expect("one was pushed") < 10);
            taken += 1;
            assert!(taken <= 10 * OVERTAKE, "{left} of the first ones wait");
        }
    }

    #[test]
    fn every_entry_comes_out_once_whatever_the_order_of_calls() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut queue, mut inside) = (Generations::new(), std::collections::HashSet::new());
        for step in 0..20_000u32 {
            let taken = match random.u8(0..8) {
                0..=3 => {
                    queue.push(step);
                    inside.insert(step);
                    None
                }
                4 => queue.pop_oldest(),
                _ => queue.next(),
            };
            assert!(taken.is_none_or(|taken| inside.remove(&taken)), "seed {seed}");
            assert_eq!(queue.len(), inside.len(), "seed {seed}");
        }
    }
}
