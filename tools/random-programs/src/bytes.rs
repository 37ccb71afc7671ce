//! Where a program's choices come from.

/// A string of bytes that is read from front to back; past its end there are only zeros, which choose
/// nothing.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// From its beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u8) -> u8 {
        self.byte() % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u8) -> bool {
        self.below(n) == n - 1
    }

    /// Nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The bytes of the program with this number.
pub fn of_seed(seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let length = random.usize(8..400);
    (0..length).map(|_| random.u8(..)).collect()
}
