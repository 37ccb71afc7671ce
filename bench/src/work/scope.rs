//! The children of a scope, and the sample.

use crate::harness::Sample;
use std::time::Duration;

/// The children of a scope.
pub const CHILDREN: u64 = 1000;

/// The sample of `scopes` scopes.
pub fn samples(took: Duration, scopes: u64) -> Vec<Sample> {
    vec![Sample::ns_each("child", took, scopes * CHILDREN)]
}
