//! The commit of a transaction.
//!
//! # States
//! ```text
//! running --read-only: it is over, and valid at its moment--> committed
//! running --lock what it writes--> locked --check what it has read--> valid --write, unlock--> committed
//!                \--a stamp has changed--------\--one has changed--> conflict: unlocked, nothing written
//! ```
//! # Invariants
//! 1. A commit holds the variables that it writes, and no others; no code of the program runs meanwhile.
//! 2. It never waits for a variable that another commit holds, so no two wait for each other.
//! 3. All that it writes becomes visible with one stamp; until the last variable is unlocked, whoever meets
//!    that stamp and another of its variables finds that locked, and waits.
//! 4. Nodes that are queued at what it has written are woken after the commit ([`waiting`](super::waiting)).
//!
//! # Orderings
//! A commit locks (a read-modify-write) and then loads the words of what it has read, all SeqCst: of two
//! commits each of which has read what the other writes, at least one finds the other's lock (StoreLoad). The
//! checker treats SeqCst of accesses as AcqRel, so there a fence stands between the two.
//!
//! # Rejected
//! * Waiting for a lock in the order of addresses: a variable that another commit holds is about to get
//!   another stamp, and then the lock is useless.
//!
//! # Checked by
//! `model::stm` (loom, with broken variants), `tests/stm/anomalies.rs`.

use super::inline::Inline;
use super::local::Local;
use super::log::{Read, Write};
use super::stamp::{COMMITTING, Stamp};
use super::transaction::Transaction;
use super::var::Var;
use super::waiting::wake_all;
use crate::sync_shim::left_out;
use std::ptr::NonNull;

/// What a commit has found.
enum Committed {
    /// Something has changed; nothing was written.
    Conflict,
    /// Done; nodes may be queued at variables that were written.
    Done { has_waiters: bool },
}

impl Transaction {
    /// Commits; false if something that was read has changed. The transaction has ended then.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit_and_wake(&mut self) -> bool {
        match self.commit() {
            Committed::Done { has_waiters } => {
                self.end();
                if has_waiters {
                    wake_all(self.log.writes.iter().map(|write| write.var));
                }
                true
            }
            Committed::Conflict => false,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn commit(&mut self) -> Committed {
        if self.is_doomed() {
            return Committed::Conflict;
        }
        if self.log.writes.is_empty() {
            return Committed::Done { has_waiters: false };
        }
        if self.log.is_small() { self.commit_small() } else { self.commit_large() }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn commit_small(&mut self) -> Committed {
        // SAFETY: the kernel thread's, alive while it runs this.
        let local = unsafe { self.local.as_ref() };
        let log = &mut *self.log;
        let (reads, writes) = (log.reads.inline(), log.writes.inline_mut());
        write(local, self.has_priority, reads, writes, &|writes, var| {
            writes.iter().any(|write| write.var == var)
        })
    }

    #[cold]
    #[inline(never)]
    fn commit_large(&mut self) -> Committed {
        // SAFETY: the kernel thread's, alive while it runs this.
        let local = unsafe { self.local.as_ref() };
        let mut writes = std::mem::replace(&mut self.log.writes, Inline::new());
        let holds = |writes: &[Write], var| self.log.holds(var, writes);
        let committed = write(local, self.has_priority, &self.log.reads, &mut writes, &holds);
        self.log.writes = writes;
        committed
    }
}

/// Locks what will be written, checks what was read, writes, unlocks. `holds` says whether a variable is in
/// `writes`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write(
    local: &Local,
    has_priority: bool,
    reads: &[Read],
    writes: &mut [Write],
    holds: &impl Fn(&[Write], NonNull<Var>) -> bool,
) -> Committed {
    local.seats.enter(local.seat, has_priority);
    let is_locked = lock_all(reads, writes, holds);
    let committed = if is_locked { write_all(local, writes) } else { Committed::Conflict };
    local.seats.exit(local.seat);
    committed
}

/// Locks all that will be written, and checks what was read; if that fails nothing is locked.
#[cfg_attr(not(debug_assertions), inline(always))]
fn lock_all(reads: &[Read], writes: &[Write], holds: &impl Fn(&[Write], NonNull<Var>) -> bool) -> bool {
    // SAFETY: memory of variables is never freed (`var`, invariant 1).
    let lock = |write: &Write| unsafe { write.var.as_ref() }.lock(write.stamp);
    let locked = writes.iter().position(|write| !lock(write));
    // The checker's form of SeqCst.
    #[cfg(loom)]
    if !left_out!(StmFence) {
        // StoreLoad race: the locks before the loads; pairs with itself in another commit.
        loom::sync::atomic::fence(crate::sync_shim::Ordering::SeqCst);
    }
    if locked.is_none() && is_valid(reads, writes, holds) {
        return true;
    }
    for write in &writes[..locked.unwrap_or(writes.len())] {
        // SAFETY: as above.
        unsafe { write.var.as_ref() }.unlock(write.stamp);
    }
    false
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn is_valid(reads: &[Read], writes: &[Write], holds: &impl Fn(&[Write], NonNull<Var>) -> bool) -> bool {
    left_out!(StmValidate)
        || reads.iter().all(|read| {
            // SAFETY: memory of variables is never freed (`var`, invariant 1).
            let word = unsafe { read.var.as_ref() }.word();
            Stamp::of(word) == read.stamp && (word & COMMITTING == 0 || holds(writes, read.var))
        })
}

/// Writes all, and unlocks. The log has the old values then.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write_all(local: &Local, writes: &mut [Write]) -> Committed {
    let stamp = local.seats.next_stamp(local.seat);
    for write in writes.iter_mut() {
        // SAFETY: memory of variables is never freed (`var`, invariant 1).
        write.word = unsafe { write.var.as_ref() }.put(write.word);
    }
    let mut has_waiters = false;
    for write in writes.iter() {
        // SAFETY: as above.
        has_waiters |= unsafe { write.var.as_ref() }.unlock(stamp);
    }
    local.learn(stamp);
    Committed::Done { has_waiters }
}
