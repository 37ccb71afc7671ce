//! Looking a variable up among those that a transaction has written.
//!
//! Invariant: `last` has the last entry of each variable, and `hidden` the earlier ones that come back when a later one is
//! taken out; so an alternative that is given up costs as much as it has written, however much was written before it.

use super::var::Var;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;

/// The places of the entries, by the addresses of their variables.
#[derive(Default)]
pub(super) struct Index {
    last: HashMap<usize, usize, BuildHasherDefault<Spread>>,
    /// Places of an entry and of the one of the same variable before it, in ascending order.
    hidden: Vec<(usize, usize)>,
}

impl Index {
    /// The place of a variable's last entry.
    pub(super) fn get(&self, var: NonNull<Var>) -> Option<usize> {
        self.last.get(&var.addr().get()).copied()
    }

    /// An entry of `var` is added at the end, which is `at`.
    pub(super) fn push(&mut self, var: NonNull<Var>, at: usize) {
        if let Some(before) = self.last.insert(var.addr().get(), at) {
            self.hidden.push((at, before));
        }
    }

    /// The last entry, which is of `var` and at `at`, is taken out.
    pub(super) fn pop(&mut self, var: NonNull<Var>, at: usize) {
        match self.hidden.pop_if(|(of, _)| *of == at) {
            Some((_, before)) => self.last.insert(var.addr().get(), before),
            None => self.last.remove(&var.addr().get()),
        };
    }

    /// True if an entry from `from` on hides one from `level` on.
    pub(super) fn hides(&self, from: usize, level: usize) -> bool {
        self.hidden.iter().rev().take_while(|(at, _)| *at >= from).any(|(_, before)| *before >= level)
    }
}

/// A variable's bit in the filter.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn bit(var: NonNull<Var>) -> u64 {
    1 << (spread(var.addr().get() as u64) >> 58)
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn spread(address: u64) -> u64 {
    address.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The hash of an address.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        // The table takes the lowest bits for the place.
        self.0.rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = spread(self.0 ^ u64::from(byte)));
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = spread(address as u64);
    }
}
