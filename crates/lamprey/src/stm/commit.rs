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
        let seat = self.local().seat;
        self.local().seats.enter(seat, self.has_priority);
        let committed = if self.lock_all() { self.write_all() } else { Committed::Conflict };
        self.local().seats.exit(seat);
        committed
    }

    /// Locks all that will be written, and checks what was read; if that fails nothing is locked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lock_all(&self) -> bool {
        let writes = &self.log.writes;
        // SAFETY: memory of variables is never freed (`var`, invariant 1).
        let locked = writes.iter().take_while(|write| unsafe { write.var.as_ref() }.lock(write.stamp)).count();
        // The checker's form of SeqCst.
        #[cfg(loom)]
        if !left_out!(StmFence) {
            // StoreLoad race: the locks before the loads; pairs with itself in another commit.
            loom::sync::atomic::fence(crate::sync_shim::Ordering::SeqCst);
        }
        if locked == writes.len() && self.is_valid() {
            return true;
        }
        for write in &writes[..locked] {
            // SAFETY: as above.
            unsafe { write.var.as_ref() }.unlock(write.stamp);
        }
        false
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_valid(&self) -> bool {
        let holds = |var: NonNull<Var>| self.log.written(var).is_some();
        left_out!(StmValidate)
            || self.log.reads.iter().all(|read| {
                // SAFETY: memory of variables is never freed (`var`, invariant 1).
                let word = unsafe { read.var.as_ref() }.word();
                Stamp::of(word) == read.stamp && (word & COMMITTING == 0 || holds(read.var))
            })
    }

    /// Writes all, and unlocks. The log has the old values then.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_all(&mut self) -> Committed {
        let stamp = self.local().seats.next_stamp(self.local().seat);
        for write in self.log.writes.iter_mut() {
            // SAFETY: memory of variables is never freed (`var`, invariant 1).
            write.word = unsafe { write.var.as_ref() }.put(write.word);
        }
        let mut has_waiters = false;
        for write in self.log.writes.iter_mut() {
            // SAFETY: as above.
            has_waiters |= unsafe { write.var.as_ref() }.unlock(stamp);
        }
        self.local().learn(stamp);
        Committed::Done { has_waiters }
    }
}
