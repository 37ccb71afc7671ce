//! Numbers of stackless parasites. One has none until somebody asks for it (a report, the recorder, the program), so that those nobody
//! looks at pay nothing. A number is never used again.
//!
//! # States (of a task's number)
//! ```text
//! none --[`Life::number`]--> entry in the table, NUMBERED in the count of references --last claim--> none, before the memory is free
//! ```
//!
//! # Invariants
//! 1. An entry in the table stands for a task whose memory is not free yet. Who asks keeps the task alive: by a claim on it, or by the right
//!    to run it, or on the home worker of an owned one that is not over.
//! 2. Whoever frees the memory sees NUMBERED if there is an entry.
//!
//! # Who may touch what
//! Any thread the table, under the lock of its part.
//!
//! # Orderings
//! NUMBERED is set with Relaxed: who asked has done so before it gave up its claim, or its right, by a Release that the thread that frees
//! has acquired.
//!
//! # Rejected
//! * A word in each parasite: 8 bytes for each of ten million, and a counter at each spawn.
//! * The address: a later parasite has it again, so that a recording mixes the two up.
//!
//! # Checked by
//! `model::life` (loom, with a broken variant that it catches), `tests/inspect/ids.rs`.

#[cfg(not(loom))]
pub(super) use table::{forget, of};

#[cfg(not(loom))]
mod table {
    use crate::kernel::fork::PerProcess;
    use crate::sync_shim::{Mutex, MutexGuard};
    use std::collections::HashMap;
    use std::collections::hash_map::DefaultHasher;
    use std::hash::BuildHasherDefault;
    use std::sync::PoisonError;

    /// Workers that number at the same time seldom meet.
    const PARTS: usize = 64;

    /// The numbers of parasites, by the addresses of their lives.
    type Part = HashMap<usize, u64, BuildHasherDefault<DefaultHasher>>;

    struct Table([Mutex<Part>; PARTS]);

    impl Default for Table {
        fn default() -> Self {
            Self(std::array::from_fn(|_| Mutex::default()))
        }
    }

    static NUMBERS: PerProcess<Table> = PerProcess::new();

    fn part(address: usize) -> MutexGuard<'static, Part> {
        // The blocks of the smallest parasites are 64 bytes apart.
        let part = &NUMBERS.get().0[(address >> 6) % PARTS];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the parasite whose life is at this address; if it has none, `fresh` makes one.
    pub(in crate::sched::parasite) fn of(address: usize, fresh: impl FnOnce() -> u64) -> u64 {
        *part(address).entry(address).or_insert_with(fresh)
    }

    /// Its memory is about to be free.
    pub(in crate::sched::parasite) fn forget(address: usize) {
        part(address).remove(&address);
    }
}
