//! Chance: numbers that follow from a seed.
//!
//! Each draw has an index, and its number is a function of seed and index alone. So a run can be repeated with a part of
//! its draws: the others give 0, which by convention is what needs no fault and no switch. That is how a failing run is
//! shrunk, and a line with the seed and the indices repeats the shrunk run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Which draws of a run are by chance: all, or those at some indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draws {
    pub(crate) seed: u64,
    /// Ascending. `None`: all.
    pub(crate) kept: Option<Vec<u32>>,
}

/// One place in this many is active for [`Chance::buggify`], and then fires one time in as many.
const BUGGIFY: u32 = 4;
/// The stream of numbers that says which places are active: apart from the draws, whose indices differ from run to run.
const PLACES: u64 = 0x9e6c_63d0_876a_3f25;

pub(crate) struct Chance {
    draws: Draws,
    next: Cell<u32>,
    /// The next entry of `draws.kept` to come.
    passed: Cell<usize>,
    /// The indices at which a number other than 0 was given.
    used: RefCell<Vec<u32>>,
    /// Which places of `buggify` are active.
    places: RefCell<BTreeMap<&'static str, bool>>,
}

impl Chance {
    pub(super) fn new(draws: Draws) -> Self {
        let (used, places) = (RefCell::default(), RefCell::default());
        Self { draws, next: Cell::new(0), passed: Cell::new(0), used, places }
    }

    /// What repeats the run.
    pub(crate) fn draws(&self) -> &Draws {
        &self.draws
    }

    /// The indices of the draws that gave a number other than 0.
    pub(crate) fn used(&self) -> Vec<u32> {
        self.used.borrow().clone()
    }

    /// How many draws have given a number other than 0.
    pub(crate) fn count(&self) -> usize {
        self.used.borrow().len()
    }

    /// The next 64 random bits; `None` if this draw is not by chance. `takes` says whether they give something else than
    /// the draw's default.
    fn bits(&self, takes: impl FnOnce(u64) -> bool) -> Option<u64> {
        let index = self.next.get();
        self.next.set(index + 1);
        if let Some(kept) = &self.draws.kept {
            if kept.get(self.passed.get()) != Some(&index) {
                return None;
            }
            self.passed.set(self.passed.get() + 1);
        }
        let bits = mix(self.draws.seed, u64::from(index));
        takes(bits).then(|| {
            self.used.borrow_mut().push(index);
            bits
        })
    }

    /// A number below `among`, which is not 0; 0 if there is no choice.
    pub(crate) fn below(&self, among: u32) -> u32 {
        let scaled = |bits: u64| (((bits >> 32) * u64::from(among)) >> 32) as u32;
        if among <= 1 {
            return 0;
        }
        self.bits(|bits| scaled(bits) != 0).map_or(0, scaled)
    }

    /// True `times` times in a million; the default is false.
    pub(crate) fn happens(&self, times: u32) -> bool {
        if times == 0 || times >= 1_000_000 {
            return times != 0;
        }
        self.bits(|bits| ((bits >> 32) * 1_000_000) >> 32 < u64::from(times)).is_some()
    }

    /// A duration from `least`, which is the default, up to `most`.
    pub(crate) fn between(&self, least: Duration, most: Duration) -> Duration {
        let width = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        let scaled = |bits: u64| ((u128::from(bits) * u128::from(width)) >> 64) as u64;
        if width == 0 {
            return least;
        }
        least + Duration::from_nanos(self.bits(|bits| scaled(bits) != 0).map_or(0, scaled))
    }

    /// 64 random bits; the default is 0.
    pub(crate) fn word(&self) -> u64 {
        self.bits(|bits| bits != 0).unwrap_or(0)
    }

    /// See [`buggify`](crate::world::buggify).
    pub(crate) fn buggify(&self, site: &'static str) -> bool {
        let is_active = *self.places.borrow_mut().entry(site).or_insert_with(|| {
            let name = site.bytes().fold(PLACES, |hash, byte| mix(hash, byte.into()));
            mix(self.draws.seed, name).is_multiple_of(u64::from(BUGGIFY))
        });
        is_active && self.happens(1_000_000 / BUGGIFY)
    }
}

/// Mixes two words (the finalizer of splitmix64).
pub(crate) fn mix(seed: u64, index: u64) -> u64 {
    let mut word = seed ^ index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// What stands behind `LAMPREY_SEED=`: the seed, and the kept draws as ranges.
impl fmt::Display for Draws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        let Some(kept) = &self.kept else { return Ok(()) };
        f.write_str(":")?;
        let mut rest = &kept[..];
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let length = rest.iter().zip(first..).take_while(|(kept, next)| *kept == next).count();
            let last = rest[length - 1];
            match length {
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
            rest = &rest[length..];
        }
        Ok(())
    }
}

impl std::str::FromStr for Draws {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            part.parse::<u32>().map_err(|_| format!("`{part}` is no index of a draw in the seed `{text}`"))
        };
        let (seed, kept) = match text.split_once(':') {
            None => (text, None),
            Some((seed, ranges)) => {
                let mut kept = Vec::new();
                for range in ranges.split(',').filter(|range| !range.is_empty()) {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let (first, last) = (number(first)?, number(last)?);
                    if last < first
                        || kept.last().is_some_and(|before| *before >= first)
                        || last - first > 1 << 24
                    {
                        return Err(format!("the indices of the seed `{text}` do not ascend at `{range}`"));
                    }
                    kept.extend(first..=last);
                }
                (seed, Some(kept))
            }
        };
        let seed = seed.parse().map_err(|_| {
            format!("`{text}` is no seed: a number is expected, as `LAMPREY_SEED=17` was printed")
        })?;
        Ok(Self { seed, kept })
    }
}

#[cfg(test)]
mod tests;
