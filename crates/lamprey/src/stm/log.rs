//! What a transaction has read, and what it will write.
//!
//! # Invariants
//! 1. `reads` has each variable that was read, with its stamp; nothing is taken out before the transaction
//!    ends, so it waits for what every alternative has read. A variable may be in it twice.
//! 2. An entry of `writes` owns its word, which is the value to be written; after the commit, the one that was
//!    there before. Of several entries of one variable the last counts. The entries from `level` on are the
//!    innermost alternative's: no two of these are of one variable.
//! 3. Words that are not needed any more are in `garbage` until the transaction has ended: their
//!    destructors are code of the program.
//! 4. `filter` has the bit of each variable in `writes`. `index`, once there are many, has the last entry of
//!    each: it is there exactly if there are more than [`INDEXED`].

use super::index::{Index, bit};
use super::inline::Inline;
use super::stamp::Stamp;
use super::value::{DropWord, Word};
use super::var::Var;
use crate::bug::quietly;
use std::ptr::NonNull;

/// Reads up to this number need no allocation.
pub(super) const READS: usize = 16;
/// The same for writes.
pub(super) const WRITES: usize = 8;
/// From so many writes on, they are looked up in a table.
const INDEXED: usize = 2 * WRITES;

#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(super) var: NonNull<Var>,
    pub(super) stamp: Stamp,
}

#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) var: NonNull<Var>,
    pub(super) stamp: Stamp,
    pub(super) word: Word,
    pub(super) drop_word: Option<DropWord>,
}

pub(super) struct Log {
    pub(super) reads: Inline<Read, READS>,
    pub(super) writes: Inline<Write, WRITES>,
    filter: u64,
    level: usize,
    /// Something is left to be dropped after the transaction: values, or memory of this log.
    pub(super) is_heavy: bool,
    index: Option<Box<Index>>,
    garbage: Option<Box<Garbage>>,
}

type Garbage = Vec<(Word, DropWord)>;

/// Where an alternative began.
pub(super) struct Level {
    outer: usize,
    filter: u64,
}

impl Log {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn new() -> Self {
        Self {
            reads: Inline::new(),
            writes: Inline::new(),
            filter: 0,
            level: 0,
            is_heavy: false,
            index: None,
            garbage: None,
        }
    }

    /// True if no log is spilled, so that a commit can do without looking for that in each of its steps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_small(&self) -> bool {
        !self.is_heavy || !self.reads.is_spilled() && !self.writes.is_spilled()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read(&mut self, var: NonNull<Var>, stamp: Stamp) {
        // A loop that reads one variable over and over needs one entry.
        if self.reads.last().is_none_or(|last| last.var != var || last.stamp != stamp) {
            self.reads.push(Read { var, stamp });
            self.is_heavy |= self.reads.len() > READS;
        }
    }

    /// The entry that counts of a variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn written(&self, var: NonNull<Var>) -> Option<usize> {
        if self.filter & bit(var) == 0 {
            return None;
        }
        // What is written next is often what was written last.
        let last = self.writes.len().wrapping_sub(1);
        match self.writes.get(last) {
            Some(write) if write.var == var => Some(last),
            _ => self.look_up(var),
        }
    }

    /// Whether a variable is in `writes`, which the caller may have moved out.
    pub(super) fn holds(&self, var: NonNull<Var>, writes: &[Write]) -> bool {
        match &self.index {
            Some(index) => index.get(var).is_some(),
            None => writes.iter().any(|write| write.var == var),
        }
    }

    #[inline(never)]
    fn look_up(&self, var: NonNull<Var>) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(var),
            None => self.writes.iter().rposition(|write| write.var == var),
        }
    }

    /// Replaces the value that will be written, or adds one; `stamp` is then asked for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write(
        &mut self,
        var: NonNull<Var>,
        word: Word,
        drop_word: Option<DropWord>,
        stamp: impl FnOnce() -> Stamp,
    ) {
        let before = self.written(var);
        if let Some(at) = before.filter(|&at| at >= self.level) {
            let old = std::mem::replace(&mut self.writes[at].word, word);
            return self.discard(old, drop_word);
        }
        let stamp = before.map_or_else(stamp, |at| self.writes[at].stamp);
        self.add(Write { var, stamp, word, drop_word });
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn add(&mut self, write: Write) {
        self.filter |= bit(write.var);
        self.is_heavy |= write.drop_word.is_some() || self.writes.len() >= WRITES;
        self.writes.push(write);
        if self.writes.len() > INDEXED {
            self.note();
        }
    }

    /// Puts the last entry into the index, or all of them into a new one.
    #[cold]
    fn note(&mut self) {
        let from = if self.index.is_some() { self.writes.len() - 1 } else { 0 };
        let index = self.index.get_or_insert_default();
        for at in from..self.writes.len() {
            index.push(self.writes[at].var, at);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn discard(&mut self, word: Word, drop_word: Option<DropWord>) {
        if let Some(drop_word) = drop_word {
            self.is_heavy = true;
            self.garbage.get_or_insert_default().push((word, drop_word));
        }
    }

    /// An alternative begins.
    pub(super) fn open(&mut self) -> Level {
        let outer = std::mem::replace(&mut self.level, self.writes.len());
        Level { outer, filter: self.filter }
    }

    /// It has been chosen: its writes are the outer alternative's.
    pub(super) fn keep(&mut self, level: Level) {
        let inner = std::mem::replace(&mut self.level, level.outer);
        if self.index.as_ref().is_some_and(|index| !index.hides(inner, level.outer)) {
            return; // no variable is in both
        }
        let entries: Vec<Write> = self.writes[inner..].to_vec();
        self.cut(inner);
        for entry in entries {
            self.write(entry.var, entry.word, entry.drop_word, || entry.stamp);
        }
    }

    /// It was not: its writes are forgotten.
    pub(super) fn undo(&mut self, level: Level) {
        let inner = std::mem::replace(&mut self.level, level.outer);
        for at in inner..self.writes.len() {
            let write = self.writes[at];
            self.discard(write.word, write.drop_word);
        }
        self.cut(inner);
        self.filter = level.filter;
    }

    fn cut(&mut self, len: usize) {
        if self.writes.len() == len {
            return;
        }
        if len <= INDEXED {
            self.index = None;
        }
        if let Some(index) = &mut self.index {
            for at in (len..self.writes.len()).rev() {
                index.pop(self.writes[at].var, at);
            }
        }
        self.writes.truncate(len);
    }

    /// Drops all values: code of the program, whose panics are printed and swallowed, as the transaction is over.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn drop_values(&mut self) {
        for at in 0..self.writes.len() {
            let write = self.writes[at];
            if let Some(drop_word) = write.drop_word {
                // SAFETY: owned by the log (invariant 2), and not used again.
                quietly(|| unsafe { drop_word(write.word) });
            }
        }
        self.writes.truncate(0);
        while let Some((word, drop_word)) = self.garbage.as_mut().and_then(|garbage| garbage.pop()) {
            // SAFETY: owned by the log (invariants 2 and 3), and taken out.
            quietly(|| unsafe { drop_word(word) });
        }
    }
}
