//! The numbers and the sort; a variant only says how it does two things.

use crate::harness::Sample;
use std::time::{Duration, Instant};

/// The amount of numbers to sort.
const NUMBERS: usize = 1 << 20;
/// No thread is started to sort fewer numbers than this.
const CUTS: [(&str, usize); 2] = [("cut_4096", 4096), ("cut_256", 256)];
/// So few numbers are sorted by insertion.
const FEW: usize = 16;

/// Does two things, and returns when both are done.
pub trait Fork: 'static {
    /// Runs `one` in a thread, and `other` in the caller.
    fn both(one: impl FnOnce() + Send, other: impl FnOnce());
}

/// Without threads.
pub struct Alone;

impl Fork for Alone {
    fn both(one: impl FnOnce() + Send, other: impl FnOnce()) {
        one();
        other();
    }
}

/// Sorts `times` times with each cut.
pub fn samples<F: Fork>(times: u64) -> Vec<Sample> {
    let unsorted = numbers();
    let of = |(name, cut)| {
        let mut took = Duration::ZERO;
        for _ in 0..times {
            let mut numbers = unsorted.clone();
            let begun = Instant::now();
            sort::<F>(&mut numbers, cut);
            took += begun.elapsed();
            assert!(numbers.is_sorted());
        }
        Sample::new(name, "ms", took.as_secs_f64() * 1e3 / times as f64)
    };
    CUTS.map(of).into()
}

/// The same numbers in each run, and in Go.
fn numbers() -> Vec<u64> {
    let mut x = 1u64;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        x >> 32
    };
    (0..NUMBERS).map(|_| next()).collect()
}

fn sort<F: Fork>(numbers: &mut [u64], cut: usize) {
    if numbers.len() <= FEW {
        return insert(numbers);
    }
    let at = part(numbers);
    let (small, large) = numbers.split_at_mut(at);
    if small.len() + large.len() > cut {
        F::both(|| sort::<F>(small, cut), || sort::<F>(large, cut));
    } else {
        sort::<F>(small, cut);
        sort::<F>(large, cut);
    }
}

fn insert(numbers: &mut [u64]) {
    for i in 1..numbers.len() {
        let mut at = i;
        while at > 0 && numbers[at - 1] > numbers[at] {
            numbers.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Hoare's partition with the median of three: neither side is empty, and no number on the left is greater
/// than any on the right.
fn part(numbers: &mut [u64]) -> usize {
    let (first, middle, last) = (numbers[0], numbers[numbers.len() / 2], numbers[numbers.len() - 1]);
    let pivot = first.max(middle).min(first.min(middle).max(last));
    let (mut left, mut right) = (0, numbers.len() - 1);
    loop {
        while numbers[left] < pivot {
            left += 1;
        }
        while numbers[right] > pivot {
            right -= 1;
        }
        if left >= right {
            // At least one number is on each side.
            return left.max(1);
        }
        numbers.swap(left, right);
        left += 1;
        right -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_small_orders_are_sorted() {
        for length in 0..60 {
            for range in [1, 2, 3, 1000] {
                let mut numbers: Vec<_> =
                    self::numbers().into_iter().map(|n| n % range).take(length).collect();
                sort::<Alone>(&mut numbers, 0);
                assert!(numbers.is_sorted(), "{numbers:?}");
            }
        }
    }
}
