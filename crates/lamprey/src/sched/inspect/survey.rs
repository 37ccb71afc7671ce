//! The question to all workers which of their threads have not ended ([`ask`](super::ask)), and their
//! answers.

use super::answers::Answers;
use super::found::Found;
use super::unwind::Code;
use crate::sync_shim::watched::Mutex;
use std::sync::OnceLock;

/// The answers of the workers, and the loaded code.
pub(crate) struct Survey {
    pub(super) answers: Answers<Found>,
    /// The code that the stacks are unwound with.
    code: OnceLock<Code>,
    /// Held by who asks: one question at a time.
    pub(super) one: Mutex<()>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self { answers: Answers::new(), code: OnceLock::new(), one: Mutex::new(()) }
    }

    pub(super) fn code(&self) -> &Code {
        self.code.get_or_init(Code::read)
    }
}
