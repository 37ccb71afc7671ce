//! The creatures of the bench `savina_chameneos`.

use super::Work;

/// The creatures.
pub const CREATURES: usize = 100;

/// One operation is a meeting, which two creatures count.
pub const WORK: Work = Work { metric: "meeting", step: 1, checksum: |n| 2 * n };

/// One of three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour(u8);

impl Colour {
    /// The colour of a creature that has met nobody yet.
    pub fn of(creature: usize) -> Self {
        Self((creature % 3) as u8)
    }

    /// The colour of a creature after it has met one of the colour `other`: its own if that is the same, else
    /// the third.
    pub fn after(self, other: Self) -> Self {
        if self == other { self } else { Self(3 - self.0 - other.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_different_colours_take_the_third() {
        let [blue, red, yellow] = [0, 1, 2].map(Colour::of);
        assert_eq!(blue.after(blue), blue);
        assert_eq!([blue.after(red), red.after(blue)], [yellow, yellow]);
        assert_eq!(yellow.after(red), blue);
    }
}
