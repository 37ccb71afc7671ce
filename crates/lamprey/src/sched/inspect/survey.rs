//! The workers' answers to the question which of their threads have not ended ([`ask`](super::ask)).

use super::answers::Answers;
use super::found::Found;
use super::unwind::Code;
use std::sync::OnceLock;

/// The answers of the workers.
pub(crate) struct Survey {
    pub(super) answers: Answers<Found>,
    /// What the stacks are worked out with.
    code: OnceLock<Code>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self { answers: Answers::new(), code: OnceLock::new() }
    }

    pub(super) fn code(&self) -> &Code {
        self.code.get_or_init(Code::read)
    }
}
