//! Times of every size, for tests of properties.

use proptest::prelude::*;
use std::time::Duration;

/// Settings that work where there is no file system, as in Miri.
pub(crate) fn settings() -> ProptestConfig {
    let cases = if cfg!(miri) { 16 } else { 256 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any time; each number of bits is as likely as another.
pub(crate) fn a_time() -> impl Strategy<Value = Duration> {
    let whole = (any::<u64>(), 0..64_u32).prop_map(|(seconds, smaller)| seconds >> smaller);
    let part = (0..1_000_000_000_u32, 0..30_u32).prop_map(|(nanos, smaller)| nanos >> smaller);
    prop_oneof![
        (whole, part.clone()).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
        part.prop_map(|nanos| Duration::new(0, nanos)),
        Just(Duration::MAX),
    ]
}
