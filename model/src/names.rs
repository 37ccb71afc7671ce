//! Names of computations, and of what they make.
//!
//! The papers take "fresh" identifiers and compare programs up to their renaming. Here an identifier says who made it,
//! as which of its things: the n-th computation that a computation starts, the n-th channel that it makes. A computation
//! does the same from the same results on, whatever runs beside it, so these names are the same in every interleaving,
//! in the machine and on the runtime, and nothing has to be renamed before two states or outcomes are compared.

use std::fmt;

/// The digits of a name are as long as this.
const BITS: u32 = 6;

/// A computation: the path to it in the tree of who started whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u128);

/// Something that a computation made: a channel, a reified parasite, a nack. Also one of its blocking operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Made {
    /// The computation.
    pub by: Name,
    /// Its how manieth.
    pub nth: u8,
}

impl Name {
    /// The computation that a program begins with.
    pub const MAIN: Self = Self(1);

    /// The `nth` computation that this one starts; `None` if the path is too long to be written down.
    pub fn child(self, nth: u8) -> Option<Self> {
        let digit = u128::from(nth) + 1;
        let fits = self.0 >> (u128::BITS - BITS - 1) == 0 && digit < 1 << BITS;
        fits.then_some(Self(self.0 << BITS | digit))
    }

    /// Some number that differs between most names.
    pub fn number(self) -> u64 {
        (self.0 as u64 ^ (self.0 >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = Vec::new();
        let mut rest = self.0;
        while rest > 1 {
            digits.push((rest & ((1 << BITS) - 1)) - 1);
            rest >>= BITS;
        }
        f.write_str("main")?;
        digits.iter().rev().try_for_each(|digit| write!(f, ".{digit}"))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.by, self.nth)
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
