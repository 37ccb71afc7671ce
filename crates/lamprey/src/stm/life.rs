//! Where variables come from, and where they go.
//!
//! Invariant: the value of a variable is dropped when nothing is held, and outside of transactions, as its
//! destructor is code of the program.

use super::var::Var;
use std::ptr::NonNull;
#[cfg(not(loom))]
use {
    super::local::{self, Local},
    super::pool,
    super::value::{DropWord, Word},
};

/// Gives a reference to a variable up, which may end it.
pub(super) fn release(var: NonNull<Var>) {
    // SAFETY: the caller's reference keeps it alive.
    if unsafe { var.as_ref() }.release_ref() {
        end(var);
    }
}

/// Memory for a variable.
#[cfg(not(loom))]
pub(super) fn unused() -> NonNull<Var> {
    local::try_current(|local| local.unused.take()).unwrap_or_else(pool::take_of_all)
}

/// The last reference to a variable has gone.
#[cfg(not(loom))]
#[cold]
fn end(var: NonNull<Var>) {
    let retired =
        local::try_current(|local| if local.keep_dying(var) { None } else { Some(retire(local, var)) });
    // SAFETY: nobody has a reference, so it is the caller's alone.
    let (word, drop_word) = match retired {
        Some(None) => return,
        Some(Some(retired)) => retired,
        None => {
            // SAFETY: as above.
            let retired = unsafe { var.as_ref() }.retire(local::stamp_of_end());
            pool::give_to_all(var);
            retired
        }
    };
    if let Some(drop_word) = drop_word {
        // SAFETY: the variable owned it, and has given it up.
        unsafe { drop_word(word) };
    }
}

#[cfg(not(loom))]
fn retire(local: &Local, var: NonNull<Var>) -> (Word, Option<DropWord>) {
    // SAFETY: nobody has a reference, so it is the caller's alone.
    let retired = unsafe { var.as_ref() }.retire(local.stamp_of_end());
    local.unused.give(var);
    retired
}

/// Ends the variables whose last handle went within a transaction, which has ended.
#[cold]
pub(super) fn end_all(vars: Vec<NonNull<Var>>) {
    vars.into_iter().for_each(end);
}

#[cfg(loom)]
pub(super) fn unused() -> NonNull<Var> {
    NonNull::from(Box::leak(Box::new(Var::unused())))
}

/// The models keep their variables until they end.
#[cfg(loom)]
fn end(_: NonNull<Var>) {}
