//! Software transactional memory: variables that are read and written together, without locks.
//!
//! [`atomically`] runs code that reads and writes [`TVar`]s. For other threads all of it happens at one
//! moment, or none of it. Two such pieces of code can be put together into one that is atomic too, in any
//! order: there is nothing to deadlock, and no lock to forget. [`retry`] waits until something has changed;
//! [`or_else`] tries something else instead. Hosts, parasites of both kinds, futures of other executors and
//! OS threads can use the same variables.
//!
//! ```
//! use lamprey::stm::{TVar, atomically, check};
//!
//! lamprey::run(|| {
//!     let (from, to) = (TVar::new(100), TVar::new(0));
//!     let (source, target) = (from.clone(), to.clone());
//!     let host = lamprey::spawn(move || {
//!         atomically(|tx| {
//!             let sum = source.get(tx)?;
//!             check(sum >= 100)?; // waits for more
//!             source.set(tx, sum - 100)?;
//!             target.modify(tx, |n| n + 100)
//!         });
//!     });
//!     host.join().unwrap();
//!     assert_eq!(atomically(|tx| Ok(from.get(tx)? + to.get(tx)?)), 100);
//! });
//! ```
//!
//! # The code of a transaction
//! * **It may run several times**, whenever another thread has changed what it has read. What it does besides
//!   reading and writing variables (output, spawning threads, messages) happens each time. Do that after the
//!   transaction, with what it returns.
//! * **It hands every error on**, by `?`. Code that swallows that of [`retry`] or [`check`] goes on as if it had not been
//!   called; after any other one it does not commit, and runs again.
//! * **An error of its own** comes from [`try_atomically`], which forgets what has been written.
//! * **It must not block.** A blocking call in it that would have to wait ends the process with a message; a lock that is
//!   free is taken, so that may show under load only. (On
//!   an OS thread it just waits.) It holds no locks, so one that computes for long disturbs nobody, but it may
//!   have to run again.
//! * **It sees consistent values**, always: also a run that is going to be repeated has seen only values that
//!   were there at one moment. It cannot loop for ever or panic for having seen a half of another transaction.
//! * **It must not start another transaction**: that panics. Functions that are to be used in transactions
//!   take a `&mut Transaction`.
//! * **A panic in it** undoes it, as `retry` does.
//! * **Destructors run after it**, and may wait and begin transactions: those of the values in variables, whoever
//!   has replaced them, and of what it returns in a run that does not commit (a panic in these is reported and
//!   goes no further). Those of its own local values run where they stand, in the transaction.
//!
//! # What is promised
//! * Transactions appear in one order, which agrees with time: strict serialisability, and opacity for those
//!   that are repeated.
//! * Those that share no variable that one of them writes do not wait for each other, and share no memory.
//! * One that is repeated again and again, because shorter ones overtake it, gets the right to be the only
//!   one that commits; the others wait until it has. (It is repeated 64 times, or until it has read 16,384
//!   variables in vain.)
//! * Up to 16 reads and 8 writes of small types need no allocation. What waits in `retry` has one block of
//!   memory, and nothing stays at the variables when it goes on or gives up.
//!
//! # Privatisation
//! A transaction that takes something out of a shared variable may use it afterwards **without** transactions:
//! one that has reached it before, and has not committed by then, does not commit after that. So a variable
//! that was reached that way does not change any more, and [`TVar::get_now`] reads what it keeps. What a
//! transaction has read is its own, or shared by reference count: it stays valid in any case.
//!
//! # Limits
//! Memory of variables is used again for variables, and not given back to the system: 40 bytes for each of the
//! most that the program has had at a time. The value itself is dropped with its last use.
//!
//! # Errors
//! There is one type of error, [`Abort`]. To give up for a reason of one's own, return it as the value:
//! `atomically(|tx| Ok(if balance.get(tx)? < sum { Err(TooPoor) } else { .. }))`, before writing.

// Reading order: `value` and `stamp` (the two words of a variable), `var` (its
// memory), `seat` and `local` (what a kernel thread has), `life` and `pool` (where variables come from),
// `log`, `transaction` (reading), `commit`, `run`, `waiting` (`retry`), `future`.

mod alternative;
mod commit;
#[cfg(not(loom))]
mod future;
mod index;
mod inline;
mod life;
pub(crate) mod local;
mod log;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod run;
pub(crate) mod seat;
pub(crate) mod stamp;
pub(crate) mod transaction;
mod tvar;
mod value;
mod var;
pub(crate) mod waiting;

pub use alternative::{check, or_else, retry};
#[cfg(not(loom))]
pub use future::{AtomicallyFuture, atomically_async, atomically_evt};
#[cfg(not(loom))]
pub use run::{atomically, atomically_timeout, try_atomically};
pub use transaction::Transaction;
pub use tvar::TVar;

use std::fmt;

/// What a transaction's code returns: a value, or that it is to run again.
pub type StmResult<T> = Result<T, Abort>;

/// The transaction is to run again, at once or when something has changed. To be handed on by `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "hand it on by `?`"]
pub struct Abort(Why);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Retry,
    Conflict,
}

impl Abort {
    const RETRY: Self = Self(Why::Retry);
    const CONFLICT: Self = Self(Why::Conflict);
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Why::Retry => "the transaction waits for a change",
            Why::Conflict => "the transaction is to run again",
        })
    }
}

impl std::error::Error for Abort {}
