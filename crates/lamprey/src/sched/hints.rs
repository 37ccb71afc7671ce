//! What a program says of a thread to its policy, and the name that it has given: what few threads have, and is
//! kept apart from them.

use std::sync::Arc;
use std::time::Instant;

/// What the program has said of a thread at its spawn ([`Builder`](crate::Builder)), for a [`Policy`](crate::Policy)
/// that makes use of it. The default policy does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// The higher, the earlier; 0 if nothing was said.
    pub priority: i32,
    /// What kind of work it does, in numbers of the program's own; 0 if nothing was said.
    pub class: u32,
    /// When it should have ended.
    pub deadline: Option<Instant>,
    /// Threads with the same number share data, and are better off on one worker.
    pub affinity: Option<u64>,
}

impl Hints {
    /// Nothing said.
    pub(crate) const NONE: Self = Self { priority: 0, class: 0, deadline: None, affinity: None };
}

impl Default for Hints {
    fn default() -> Self {
        Self::NONE
    }
}

/// What one thread was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) hints: Hints,
}

impl Given {
    /// In an allocation of its own, if there is anything to keep.
    pub(crate) fn kept(self) -> Option<Arc<Self>> {
        (self.name.is_some() || self.hints != Hints::NONE).then(|| Arc::new(self))
    }
}
