//! Looking a variable up among those that a transaction has written.

use super::var::Var;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;

/// The last entry of each variable, by its address.
pub(super) type Index = HashMap<usize, usize, BuildHasherDefault<Spread>>;

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
