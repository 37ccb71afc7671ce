//! The table of the bench `savina_smokers`.

use super::{Work, sum_below};

/// The smokers.
pub const SMOKERS: usize = 200;

/// One operation is a cigarette, whose length is the number of its round. The smokers add them up.
pub const WORK: Work = Work { metric: "round", step: 1, checksum: sum_below };
