//! The question to all workers which of their threads have not ended ([`ask`](super::ask)), and their
//! answers.

use super::answers::Answers;
use super::found::{Found, Words};
use super::unwind::Code;
use crate::sync_shim::watched::Mutex;
use crate::sync_shim::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// Whose stacks a question asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stacks {
    All,
    None,
    /// The thread's with this number.
    #[cfg(feature = "live")]
    Of(u64),
}

/// Of how many threads of a worker the stacks are taken: that takes some ten microseconds each.
const STACKS: usize = 100_000;

/// In `whose`; no thread has these numbers.
const ALL: u64 = u64::MAX;
const NONE: u64 = u64::MAX - 1;

/// The answers of the workers, and the loaded code.
pub(crate) struct Survey {
    pub(super) answers: Answers<Found>,
    /// The code that the stacks are unwound with.
    code: OnceLock<Code>,
    /// Whose stacks are asked for: written before the question, by who has `one`.
    whose: AtomicU64,
    /// The words that are looked for on these stacks: written before the question, by who has `one`.
    wanted: Mutex<Arc<Words>>,
    /// Held by who asks: one question at a time.
    pub(super) one: Mutex<()>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self {
            answers: Answers::new(),
            code: OnceLock::new(),
            whose: AtomicU64::new(NONE),
            wanted: Mutex::default(),
            one: Mutex::new(()),
        }
    }

    /// Says whose stacks the next question asks for, and which words are looked for there.
    pub(super) fn set_stacks(&self, stacks: Stacks, wanted: Words) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(wanted);
        let whose = match stacks {
            Stacks::All => ALL,
            Stacks::None => NONE,
            #[cfg(feature = "live")]
            Stacks::Of(id) => id,
        };
        // Relaxed: published by the question.
        self.whose.store(whose, Ordering::Relaxed);
    }

    /// The code, if the question asks for stacks.
    pub(super) fn code_for_stacks(&self) -> Option<&Code> {
        // Relaxed: ordered by the question, which is stored with Release after it and loaded with Acquire before this.
        (self.whose.load(Ordering::Relaxed) != NONE).then(|| self.code())
    }

    /// True if the question asks for the stack of the thread with this number, of a worker that has listed `before` others.
    pub(super) fn is_asked_for(&self, id: u64, before: usize) -> bool {
        // Relaxed: as above.
        let whose = self.whose.load(Ordering::Relaxed);
        whose == id || whose == ALL && before < STACKS
    }

    /// The words that the question asks for.
    pub(super) fn wanted(&self) -> Arc<Words> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn code(&self) -> &Code {
        self.code.get_or_init(Code::read)
    }
}
