//! Answers that are kept for a while.
//!
//! Invariant: never more than `settings.entries`.

use super::answer::{Answer, Keep};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// For how long and how many answers of [`lookup`](super::lookup) are kept: [`set_lookup_cache`](super::set_lookup_cache).
///
/// The cache is short-sighted on purpose. It is there so that a burst of connections asks once; what is to be kept for
/// longer is kept by the system's resolver (`systemd-resolved`, `nscd`, a name server nearby).
///
/// | | default |
/// |---|---|
/// | [`ttl`](Self::ttl) | 10 s |
/// | [`failure_ttl`](Self::failure_ttl) | 1 s |
/// | [`entries`](Self::entries) | 1024 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it has an effect in `set_lookup_cache`"]
pub struct LookupCache {
    ttl: Duration,
    failure_ttl: Duration,
    entries: usize,
}

impl LookupCache {
    /// The defaults.
    pub const fn new() -> Self {
        Self { ttl: Duration::from_secs(10), failure_ttl: Duration::from_secs(1), entries: 1024 }
    }

    /// Nothing is kept. Look-ups of one name at the same time still share one question.
    pub const fn off() -> Self {
        Self { ttl: Duration::ZERO, failure_ttl: Duration::ZERO, entries: 0 }
    }

    /// How long addresses are kept.
    pub const fn ttl(mut self, time: Duration) -> Self {
        self.ttl = time;
        self
    }

    /// How long it is kept that a name has none.
    pub const fn failure_ttl(mut self, time: Duration) -> Self {
        self.failure_ttl = time;
        self
    }

    /// How many names are kept; of more, the one whose time is over first is forgotten.
    pub const fn entries(mut self, names: usize) -> Self {
        self.entries = names;
        self
    }
}

impl Default for LookupCache {
    fn default() -> Self {
        Self::new()
    }
}

/// No clock goes on for longer: 35 000 years.
const LONGEST: Duration = Duration::from_secs(1 << 40);

/// The answers, by names in small letters.
pub(super) struct Cache {
    pub(super) settings: LookupCache,
    known: BTreeMap<Box<str>, (Instant, Answer)>,
}

impl Cache {
    pub(super) const fn new() -> Self {
        Self { settings: LookupCache::new(), known: BTreeMap::new() }
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    pub(super) fn get(&self, name: &str, now: Instant) -> Option<&Answer> {
        self.known.get(name).filter(|(until, _)| now < *until).map(|(_, answer)| answer)
    }

    pub(super) fn put(&mut self, name: &str, answer: &Answer, now: Instant) {
        let LookupCache { ttl, failure_ttl, entries } = self.settings;
        let usual = if answer.found.is_ok() { ttl } else { failure_ttl };
        let time = match answer.keep {
            Keep::AsUsual => usual,
            Keep::AtMost(time) => usual.min(time),
            Keep::Not => Duration::ZERO,
        };
        self.known.remove(name);
        if time.is_zero() || entries == 0 {
            return;
        }
        let Some(until) = now.checked_add(time.min(LONGEST)) else { return };
        if self.known.len() >= entries {
            self.known.retain(|_, (until, _)| now < *until);
        }
        while self.known.len() >= entries {
            let first = self.known.iter().min_by_key(|(_, (until, _))| *until).map(|(name, _)| name.clone());
            first.and_then(|name| self.known.remove(&name));
        }
        self.known.insert(name.into(), (until, answer.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Failure;
    use super::*;
    use std::io::ErrorKind;

    fn found() -> Answer {
        Answer { found: Ok([([127, 0, 0, 1], 0).into()].into()), keep: Keep::AsUsual }
    }

    fn cache(settings: LookupCache) -> (Cache, Instant) {
        (Cache { settings, known: BTreeMap::new() }, Instant::now())
    }

    #[test]
    fn answers_are_kept_for_their_time() {
        let (mut cache, now) = cache(LookupCache::new());
        let failed = Failure { kind: ErrorKind::NotFound, text: "no".into() };
        cache.put("good", &found(), now);
        cache.put("short", &Answer { keep: Keep::AtMost(Duration::from_secs(3)), ..found() }, now);
        cache.put("bad", &Answer { found: Err(failed.clone()), keep: Keep::AsUsual }, now);
        cache.put("odd", &Answer { found: Err(failed), keep: Keep::Not }, now);
        let kept = |cache: &Cache, seconds| {
            ["good", "short", "bad", "odd"]
                .map(|name| cache.get(name, now + Duration::from_secs(seconds)).is_some())
        };
        assert_eq!(kept(&cache, 0), [true, true, true, false]);
        assert_eq!(kept(&cache, 1), [true, true, false, false]);
        assert_eq!(kept(&cache, 3), [true, false, false, false]);
        assert_eq!(kept(&cache, 10), [false; 4]);
        cache.clear();
        assert_eq!(kept(&cache, 0), [false; 4]);
    }

    #[test]
    fn what_has_no_end_is_kept() {
        let (mut cache, now) = cache(LookupCache::new().ttl(Duration::MAX));
        cache.put("good", &found(), now);
        assert!(cache.get("good", now + Duration::from_secs(1 << 39)).is_some());
    }

    #[test]
    fn there_are_never_too_many() {
        let (mut cache, now) = cache(LookupCache::new().entries(2));
        for (name, seconds) in [("a", 2), ("b", 1), ("c", 3)] {
            cache.put(name, &Answer { keep: Keep::AtMost(Duration::from_secs(seconds)), ..found() }, now);
        }
        assert_eq!(["a", "b", "c"].map(|name| cache.get(name, now).is_some()), [true, false, true]);
        cache.settings = LookupCache::off();
        cache.put("a", &found(), now);
        assert!(cache.get("a", now).is_none());
    }
}
