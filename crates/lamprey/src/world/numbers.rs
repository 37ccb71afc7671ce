//! Numbers of stackless parasites, which are addresses outside of a simulation.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// More than any thread's number: no thread and parasite have the same.
const FIRST: u64 = 1 << 32;

/// The addresses that somebody has asked for, in that order: two runs by one seed ask for the same parasites, wherever
/// these are. A later parasite at an address has the number of the earlier one.
#[derive(Default)]
pub(super) struct Numbers(RefCell<BTreeMap<usize, u64>>);

impl Numbers {
    pub(super) fn of(&self, address: usize) -> u64 {
        let mut all = self.0.borrow_mut();
        let next = FIRST + all.len() as u64;
        *all.entry(address).or_insert(next)
    }
}
