//! The source of a program's choices.

/// A string of bytes that is read from front to back; after its end it gives zeros, which choose nothing.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// A reader at the beginning of `bytes`.
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

    /// True if no byte is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The bytes of the program of this seed.
pub fn of_seed(seed: u64) -> Vec<u8> {
    of_length(seed, 8..400)
}

/// The bytes of the program of this seed, so many of them.
pub fn of_length(seed: u64, length: std::ops::Range<usize>) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let length = random.usize(length);
    (0..length).map(|_| random.u8(..)).collect()
}
