//! The bench `savina_counting`.

use super::Work;

/// One operation is a message to the counter, which adds one.
pub const WORK: Work = Work { metric: "message", step: 1, checksum: |n| n };
