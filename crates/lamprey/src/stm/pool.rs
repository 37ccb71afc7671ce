//! Where variables have their memory: lists of unused ones, a short one for each kernel thread
//! ([`local`](super::local)), and one for all.
//!
//! # Invariants
//! 1. Memory that has been a variable is used for variables only ([`var`](super::var), invariant 1): chunks
//!    are never freed. So a program keeps the memory of the most variables that it has had at a time, 40 bytes
//!    each.
//! 2. An unused variable is in one list, and reached through that list only, but for its word.
//!
//! # Checked by
//! `tests/stm/variables.rs`.

use super::var::Var;
use crate::sync_shim::watched::Mutex;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::PoisonError;

/// How many variables are moved at a time between the lists, and made at a time.
const CHUNK: usize = 64;

/// A list of unused variables.
pub(super) struct Unused {
    first: Cell<Option<NonNull<Var>>>,
    len: Cell<usize>,
}

// SAFETY: the variables in it are reached through it only (invariant 2).
unsafe impl Send for Unused {}

/// Of all kernel threads.
static ALL: Mutex<Unused> = Mutex::new(Unused::new());

impl Unused {
    pub(super) const fn new() -> Self {
        Self { first: Cell::new(None), len: Cell::new(0) }
    }

    fn pop(&self) -> Option<NonNull<Var>> {
        let first = self.first.get()?;
        // SAFETY: variables are never freed; this one is in the list, so unused.
        self.first.set(unsafe { first.as_ref() }.next_unused());
        self.len.set(self.len.get() - 1);
        Some(first)
    }

    fn push(&self, var: NonNull<Var>) {
        // SAFETY: variables are never freed; the caller gives an unused one.
        unsafe { var.as_ref() }.set_next_unused(self.first.replace(Some(var)));
        self.len.set(self.len.get() + 1);
    }

    fn move_to(&self, other: &Self, how_many: usize) {
        (0..how_many).map_while(|_| self.pop()).for_each(|var| other.push(var));
    }

    /// An unused variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take(&self) -> NonNull<Var> {
        self.pop().unwrap_or_else(|| self.refill())
    }

    #[cold]
    fn refill(&self) -> NonNull<Var> {
        ALL.lock().unwrap_or_else(PoisonError::into_inner).move_to(self, CHUNK);
        self.pop().unwrap_or_else(|| {
            let chunk: Vec<Var> = (0..CHUNK).map(|_| Var::unused()).collect();
            // The first that is made is used first.
            chunk.leak().iter().rev().for_each(|var| self.push(NonNull::from(var)));
            self.pop().unwrap_or_else(|| crate::bug::bug!("a chunk of variables is empty"))
        })
    }

    /// A variable that is not used any more.
    pub(super) fn give(&self, var: NonNull<Var>) {
        self.push(var);
        if self.len.get() >= 4 * CHUNK {
            self.move_to(&ALL.lock().unwrap_or_else(PoisonError::into_inner), 2 * CHUNK);
        }
    }
}

impl Drop for Unused {
    /// The kernel thread ends.
    fn drop(&mut self) {
        if self.len.get() != 0 {
            self.move_to(&ALL.lock().unwrap_or_else(PoisonError::into_inner), usize::MAX);
        }
    }
}
