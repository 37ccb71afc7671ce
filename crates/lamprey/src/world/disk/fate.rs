//! [`Fate`]: which of the changes that nobody has synced have reached the disk.

use crate::world::Chance;
use crate::world::chance::mix;

/// Which of several changes have reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    All,
    None,
    /// Those for which the bit is set that follows from this word and their number.
    Some(u64),
}

impl Fate {
    /// By chance; the default is `All`, as if all had been synced.
    pub(super) fn draw(chance: &Chance) -> Self {
        match chance.below(4) {
            0 => Self::All,
            1 => Self::None,
            _ => Self::some(chance),
        }
    }

    /// Each by chance; the default is `All`.
    pub(super) fn some(chance: &Chance) -> Self {
        match chance.word() {
            0 => Self::All,
            word => Self::Some(word),
        }
    }

    /// `None` in place of `All`: of a sync that fails.
    pub(super) fn or_none(self) -> Self {
        if self == Self::All { Self::None } else { self }
    }

    /// True if the change with this number has reached the disk.
    pub(super) fn takes(self, change: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Some(word) => mix(word, change as u64) & 1 == 0,
        }
    }

    /// Which of the lengths that a file may have after a crash it has.
    pub(super) fn length(self, [all, none, some]: [usize; 3]) -> usize {
        match self {
            Self::All => all,
            Self::None => none,
            Self::Some(word) => [all, none, some][(word % 3) as usize],
        }
    }
}

/// For the log.
impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::None => f.write_str("nothing"),
            Self::Some(word) => write!(f, "a part, {word:x}"),
        }
    }
}
