//! A transaction that runs: what its code reads and writes.
//!
//! # Invariants
//! 1. **Opacity.** All values that its code has seen were the values of their variables at one moment, which is
//!    not before its begin: the moment of the last [`extend`](Transaction::extend), or the begin.
//! 2. Its code cannot see what another has not committed, nor others what it will write.
//! 3. Once `is_doomed`, it does not commit, whatever its code returns: a read has failed.
//!
//! Why 1 holds: a variable whose stamp is [known](super::local::Local::knows) was written before that
//! moment, and not since, so its value was the one at that moment too. One whose stamp is not known is
//! checked together with all that were read before; if none has changed since it was read, all were valid
//! when the check began, which becomes the moment, and the stamp is known from then on.

use super::life::{Share, end_all};
use super::local::Local;
use super::log::{Log, Read};
use super::stamp::{COMMITTING, SEATS, Stamp};
use super::value::{self, Word};
use super::var::Var;
use super::{Abort, StmResult};
use crate::sync_shim::{back_off, left_out};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// A transaction under way: what the code given to [`atomically`](super::atomically) reads and writes
/// variables with.
///
/// # Examples
/// See [the module](super).
pub struct Transaction {
    /// The kernel thread's, valid until the transaction ends: its code does not switch.
    pub(super) local: NonNull<Local>,
    /// Owns something only if it says so (`is_heavy`).
    pub(super) log: ManuallyDrop<Log>,
    is_doomed: bool,
    has_begun: bool,
    /// No other commits until this one has ended: it has failed too often.
    pub(super) has_priority: bool,
}

/// So many reads are checked in the time that a look at all seats takes.
const MANY: usize = if cfg!(loom) { 1 } else { 4 * SEATS };

impl Transaction {
    /// # Safety
    /// `local` is the calling kernel thread's.
    ///
    /// # Panics
    /// If the thread is in a transaction.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) unsafe fn begin(local: NonNull<Local>, has_priority: bool) -> Self {
        // SAFETY: alive, as promised.
        let mine = unsafe { local.as_ref() };
        mine.begin();
        if has_priority {
            mine.seats.prefer();
        }
        Self { local, log: ManuallyDrop::new(Log::new()), is_doomed: false, has_begun: true, has_priority }
    }

    /// What it has read.
    pub(crate) fn reads(&self) -> &[Read] {
        &self.log.reads
    }

    /// See invariant 3.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_doomed(&self) -> bool {
        self.is_doomed
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn local(&self) -> &Local {
        // SAFETY: the kernel thread's (`begin`), which is alive while it runs this.
        unsafe { self.local.as_ref() }
    }

    /// Reads a variable and calls `f` with its value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read<T: 'static, R>(&mut self, var: NonNull<Var>, f: impl FnOnce(&T) -> R) -> StmResult<R> {
        if let Some(at) = self.log.written(var) {
            let word = self.log.writes[at].word;
            if value::is_word::<T>() {
                // SAFETY: a word of a `T`.
                return Ok(unsafe { value::with_word::<T, R>(word, f) });
            }
            // A share of its own: `f` is code of the program.
            // SAFETY: the log owns the word.
            let shared = unsafe { value::share::<T>(word) };
            return Ok(f(&shared));
        }
        // SAFETY: the caller has a handle.
        let target = unsafe { var.as_ref() };
        if value::is_word::<T>() {
            let (word, stamp) = target.read();
            self.saw(var, stamp)?;
            // SAFETY: a word of a `T`.
            return Ok(unsafe { value::with_word::<T, R>(word, f) });
        }
        // SAFETY: the variable owns the word, and PEEKED is set.
        let (shared, stamp) = target.read_shared(|word| unsafe { value::share::<T>(word) });
        let shared = Share::new(shared);
        self.saw(var, stamp)?;
        Ok(f(&shared))
    }

    /// A variable was read at `stamp`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn saw(&mut self, var: NonNull<Var>, stamp: Stamp) -> StmResult<()> {
        self.log.read(var, stamp);
        if !self.is_doomed && (self.local().knows(stamp) || self.extend(stamp)) {
            return Ok(());
        }
        self.is_doomed = true;
        Err(Abort::CONFLICT)
    }

    /// The moment of the transaction becomes the present one, and `stamp` is known. False if what it has read
    /// has changed.
    ///
    /// One that has read much also learns of all other commits that are over before it checks its reads: if it learned of `stamp` only, it
    /// would check all of them again for each variable that was written since, one after the other.
    #[inline(never)]
    fn extend(&mut self, stamp: Stamp) -> bool {
        let (reads, seats) = (&self.log.reads, &self.local().seats);
        // Before the check: what is over by then is not later than the moment at which all that was read was valid.
        let mut over = (reads.len() >= MANY).then(|| seats.over());
        // The last one was read just now, but others may have changed it since, and it must be valid at the
        // same moment as all others; alone it is.
        let is_alone = reads.len() == 1 && over.is_none();
        let is_valid = is_alone || reads.iter().all(|read| is_unchanged(read.var, read.stamp));
        if left_out!(StmOver) {
            over = Some(seats.over());
        }
        if is_valid || left_out!(StmExtend) {
            self.local().learn(stamp);
            over.iter().for_each(|over| self.local().learn_all(over));
            return true;
        }
        false
    }

    /// Will write `word` at the commit.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write<T: 'static>(&mut self, var: NonNull<Var>, word: Word) {
        // SAFETY: the caller has a handle.
        self.log.write(var, word, value::drop_of::<T>(), || unsafe { var.as_ref() }.stamp());
    }

    /// Drops a value that its code has given away, after the transaction.
    pub(super) fn discard<T: 'static>(&mut self, value: T) {
        self.log.discard(value::into_word(value), value::drop_of::<T>());
    }

    /// The transaction ends, whichever way; then the values that are left are dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.has_begun) {
            if self.has_priority {
                self.local().seats.end_priority();
            }
            self.local().end();
        }
    }
}

impl Drop for Transaction {
    /// Short for a transaction that leaves nothing to be dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.end();
        if self.log.is_heavy || self.local().has_left.get() {
            self.clear();
        }
    }
}

impl Transaction {
    /// Drops what the transaction leaves: from here on code of the program runs, which may begin transactions.
    #[cold]
    #[inline(never)]
    fn clear(&mut self) {
        let left = self.local().take_left();
        // SAFETY: `is_heavy`, or it owns nothing; it is not used again, as this is called by `drop` only.
        let mut log = unsafe { ManuallyDrop::take(&mut self.log) };
        log.drop_values();
        drop(log);
        if !left.is_empty() {
            end_all(left);
        }
    }
}

/// True if a variable that was read has not changed. Waits for a commit that is at it: the caller holds
/// nothing.
#[cfg_attr(not(debug_assertions), inline(always))]
fn is_unchanged(var: NonNull<Var>, stamp: Stamp) -> bool {
    let mut rounds = 0;
    loop {
        // SAFETY: memory of variables is never freed (`var`, invariant 1).
        let word = unsafe { var.as_ref() }.word();
        if Stamp::of(word) != stamp {
            return false;
        }
        if word & COMMITTING == 0 {
            return true;
        }
        back_off(&mut rounds);
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("reads", &self.log.reads.len())
            .field("writes", &self.log.writes.len())
            .finish_non_exhaustive()
    }
}
